#include "src/compare/accuracy_curve.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace ako {

namespace {

double between(double from, double to, double share) { return from + (to - from) * share; }

/// The accuracy where `along` of a point is `place`.
double accuracy_at(const std::vector<RunPoint>& points, double RunPoint::*along, double place) {
    if (points.empty()) return 0;
    const auto after = std::find_if(points.begin(), points.end(),
                                    [&](const RunPoint& point) { return point.*along >= place; });
    if (after == points.begin()) return points.front().accuracy;
    if (after == points.end()) return points.back().accuracy;
    const RunPoint& before = *(after - 1);
    const double gap = (*after).*along - before.*along;
    return between(before.accuracy, after->accuracy, (place - before.*along) / gap);
}

}  // namespace

std::optional<Reach> AccuracyCurve::reach(double accuracy) const {
    for (std::size_t k = 0; k < points.size(); ++k) {
        const RunPoint& here = points[k];
        if (here.accuracy < accuracy) continue;
        if (k == 0) return Reach{here.seconds, here.round};
        const RunPoint& before = points[k - 1];
        const double share = (accuracy - before.accuracy) / (here.accuracy - before.accuracy);
        return Reach{between(before.seconds, here.seconds, share),
                     between(before.round, here.round, share)};
    }
    return std::nullopt;
}

double AccuracyCurve::accuracy_at_seconds(double seconds) const {
    return accuracy_at(points, &RunPoint::seconds, seconds);
}

double AccuracyCurve::accuracy_at_round(double round) const {
    return accuracy_at(points, &RunPoint::round, round);
}

double AccuracyCurve::best_accuracy() const {
    double best = 0;
    for (const RunPoint& point : points) best = std::max(best, point.accuracy);
    return best;
}

double AccuracyCurve::round_seconds() const {
    if (points.empty() || points.back().round <= 0) return 0;
    return points.back().seconds / points.back().round;
}

AccuracyCurve AccuracyCurve::with_round_seconds(double seconds) const {
    AccuracyCurve other = *this;
    for (RunPoint& point : other.points) point.seconds = point.round * seconds;
    return other;
}

std::optional<AccuracyCurve> read_curve(const std::string& path) try {
    std::ifstream in(path);
    if (!in) return std::nullopt;
    const nlohmann::json json = nlohmann::json::parse(in);
    AccuracyCurve curve;
    for (const nlohmann::json& entry : json.at("points")) {
        if (!entry.at("accuracy").is_number()) continue;  // a loss that is not finite is null
        RunPoint point;
        point.seconds = entry.at("seconds");
        point.round = entry.at("round");
        point.samples = entry.at("samples");
        point.progress = entry.at("progress");
        point.accuracy = entry.at("accuracy");
        const nlohmann::json& loss = entry.at("loss");
        if (loss.is_number()) point.loss = loss;
        curve.points.push_back(point);
    }
    std::stable_sort(
        curve.points.begin(), curve.points.end(),
        [](const auto& left, const auto& right) { return left.seconds < right.seconds; });
    return curve;
} catch (const nlohmann::json::exception&) {
    return std::nullopt;
}

}  // namespace ako
