#include "src/commands/kept_milestones.h"

#include <chrono>
#include <filesystem>

#include "ako/error.h"
#include "models/catalog.h"
#include "models/workers.h"
#include "src/native_peer/training_data.h"
#include "src/results/milestone_evaluation.h"
#include "src/results/milestone_file.h"

namespace ako {

void evaluate_kept_milestones(const Settings& settings, const std::string& folder, bool keep,
                              std::vector<PeerResult>& peers, const MilestoneCalls& calls) {
    const auto network = make_network(settings.model);
    set_threads(settings.training.threads);
    TrainingData data(settings, DataParts::test);
    MilestoneEvaluation evaluation(*network, data.test_set());
    bool goes_on = true;
    for (PeerResult& peer : peers) {
        const std::string path = milestone_path(folder, peer.name);
        std::error_code ignored;
        if (!goes_on || !std::filesystem::exists(path, ignored)) continue;
        MilestoneEvaluation::Evaluated kept;
        bool all = true;
        try {
            kept = evaluation.evaluate(path, [&](const auto& point, auto number, auto count) {
                all = number == count;
                return goes_on = calls.evaluated(peer.name, point, number, count);
            });
        } catch (const StartupError& error) {  // the result of the run is worth more
            all = false;
            calls.say(error.what());
        }
        // One that was killed says nothing else; of one that was started again the file begins
        // earlier than what its last process says.
        if (!peer.training_began) peer.training_began = kept.began;
        for (CurvePoint& point : kept.points)
            point.seconds += seconds_of(kept.began.value_or(Time{}) - *peer.training_began);
        peer.curve.insert(peer.curve.begin(), kept.points.begin(), kept.points.end());
        if (all && !keep) std::filesystem::remove(path, ignored);
    }
}

}  // namespace ako
