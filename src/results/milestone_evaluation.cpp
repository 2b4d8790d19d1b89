#include "src/results/milestone_evaluation.h"

#include <utility>

#include "src/results/milestone_file.h"

namespace ako {

MilestoneEvaluation::MilestoneEvaluation(Network& network, TestSet test_set)
    : parameter_count_(network.parameter_count()),
      evaluation_(network, std::move(test_set), parameter_count_) {}

MilestoneEvaluation::Evaluated MilestoneEvaluation::evaluate(const std::string& path,
                                                             const Progress& progress) {
    MilestoneReader reader(path, parameter_count_);
    std::vector<CurvePoint> points;
    while (points.size() < reader.count()) {
        CurvePoint point = reader.next(evaluation_.parameters());
        evaluation_.begin(point.progress);
        const Verdict verdict = evaluation_.complete();
        point.accuracy = static_cast<double>(verdict.accuracy);
        point.loss = loss_of(verdict);
        points.push_back(point);
        if (!progress(point, points.size(), reader.count())) break;
    }
    return {std::move(points), reader.began()};
}

}  // namespace ako
