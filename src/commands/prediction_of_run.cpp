// See prediction_of_run.h.
#include "src/commands/prediction_of_run.h"

#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ako/mode_table.h"
#include "src/commands/prediction_inputs.h"
#include "src/predict/network_digest.h"
#include "src/predict/run_figures.h"

namespace ako {

namespace {

/// Workers over all their rounds per second; 0: not known of all of them.
double round_seconds(const Summary& summary) {
    double rounds_per_s = 0;
    std::size_t workers = 0;
    for (const PeerResult& peer : summary.peers) {
        if (peer.role != Role::worker) continue;
        if (!peer.figures || peer.rounds < telling_rounds_min) return 0;
        rounds_per_s += static_cast<double>(peer.rounds) / peer.figures->train_seconds;
        ++workers;
    }
    return workers > 0 ? static_cast<double>(workers) / rounds_per_s : 0;
}

std::string said(const Settings& settings, const Summary& summary) {
    const double measured = round_seconds(summary);
    if (measured == 0 || !has_one_kind_of_round(settings)) return "";
    PredictOptions options;
    options.file = settings.file;
    Grounds grounds;
    std::vector<MachineProfile> profiles = read_profiles(options, settings, grounds);
    const PredictionQuestion question = question_of(options, settings, grounds);
    if (question.one_machine) profiles = profiles_of_this_machine(std::move(profiles));
    if (profiles.empty()) return "";
    const auto answer = predict_step(step_question(
        question, profiles, network_layers(settings, profiles.front().parameter_count), settings,
        settings.peers.size(), question.rates_mbit.front(), settings.training.batch.local));
    if (!answer) return "";
    keep_pair(settings, *answer, measured);
    return pair_text(*answer, measured);
}

}  // namespace

bool has_one_kind_of_round(const Settings& settings) {
    const BatchSettings& batch = settings.training.batch;
    return settings.model.kind != ModelKind::external && settings.training.learners == 1 &&
           batch.global_target == 0 && batch.schedule.kind == BatchScheduleKind::constant &&
           !evaluates_between_rounds(settings.training);
}

std::string pair_text(const StepAnswer& predicted, double measured_s) {
    return fmt::format("a round took {:.1f} ms; predicted {:.1f} ({:.1f} to {:.1f})\n",
                       measured_s * ms, predicted.round_s * ms, predicted.low_s * ms,
                       predicted.high_s * ms);
}

void keep_pair(const Settings& settings, const StepAnswer& predicted, double measured_s) {
    std::ofstream(fmt::format("{}/history.jsonl", profiles_folder), std::ios::app)
        << nlohmann::ordered_json{{"run", settings.run},
                                  {"mode", entry_of(settings.exchange).name},
                                  {"machines", settings.peers.size()},
                                  {"batch", settings.training.batch.local},
                                  {"predicted_s", predicted.round_s},
                                  {"low_s", predicted.low_s},
                                  {"high_s", predicted.high_s},
                                  {"measured_s", measured_s}}
               .dump()
        << '\n';
}

std::string beside_prediction(const Settings& settings, const Summary& summary) {
    try {
        return said(settings, summary);
    } catch (const std::exception&) {
        return "";
    }
}

}  // namespace ako
