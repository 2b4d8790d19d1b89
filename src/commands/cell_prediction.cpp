// See cell_prediction.h.
#include "src/commands/cell_prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "ako/error.h"
#include "src/commands/prediction_inputs.h"
#include "src/commands/prediction_of_run.h"
#include "src/compare/cell_settings.h"
#include "src/predict/network_digest.h"

namespace ako {

namespace {

/// As deploy/testbed sets it: of the quota that a share of a core is.
constexpr double testbed_period_s = 0.01;
/// Processor for a byte where no profile says it: what the machines of experiments/oracle took.
constexpr double usual_s_per_byte = 2e-9;

bool in_testbed(const CellNetwork& network) { return network.key().starts_with("testbed"); }

/// Where peers pace themselves nobody's processor time is limited.
bool has_shares(const Plan& plan, const CellNetwork& network) {
    return in_testbed(network) && !plan.testbed.cpus.empty();
}

}  // namespace

std::vector<double> core_shares(const Plan& plan, const CellNetwork& network, const Cell& cell) {
    const bool limited = has_shares(plan, network);
    const std::vector<double>& cpus = plan.testbed.cpus;
    if (cell.candidate.alone())
        return {limited ? *std::max_element(cpus.begin(), cpus.end()) : 1.0};
    std::vector<double> shares(cell.setting.machines, 1);
    for (std::size_t k = 0; limited && k < shares.size(); ++k)
        shares[k] = cpus.size() == 1 ? cpus.front() : cpus.at(k);
    const double cores = std::max(1U, std::thread::hardware_concurrency());
    const double asked = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& share : shares) share *= std::min(1.0, cores / asked);
    return shares;
}

CellPrediction::CellPrediction(const Plan& plan, const CellNetwork& network, const Cell& first)
    : plan_(plan), network_(network) {
    const Settings settings = settings_of(first);
    PredictOptions options;
    options.file = plan.file;
    Grounds grounds;
    try {
        profiles_ = profiles_of_this_machine(read_profiles(options, settings, grounds));
    } catch (const StartupError&) {
        // There are none, or they are of another network.
    }
}

void CellPrediction::take_gradients(const std::vector<GradientProfile>& gradients,
                                    std::size_t parameter_count) {
    MachineProfile machine;
    machine.parameter_count = parameter_count;
    machine.cores = std::max(1U, std::thread::hardware_concurrency());
    machine.gradients = gradients;
    machine.exchange["ring"].s_per_byte = usual_s_per_byte;
    profiles_ = {machine};
}

Settings CellPrediction::settings_of(const Cell& cell) const {
    return cell_settings(plan_, cell, network_.overrides(cell));
}

StepQuestion CellPrediction::question_of(const Cell& cell, std::size_t batch) const {
    const Settings settings = settings_of(cell);
    PredictionQuestion question;
    question.cores = core_shares(plan_, network_, cell);
    question.period_s = has_shares(plan_, network_) ? testbed_period_s : 0;
    for (std::size_t machine = 0; machine < question.cores.size(); ++machine) {
        const double mbit = cell.rate.of(machine).value_or(0);
        question.links.push_back({mbit, mbit});
    }
    return step_question(question, profiles_,
                         network_layers(settings, profiles_.front().parameter_count), settings,
                         settings.peers.size(), 0, batch);
}

std::optional<StepAnswer> CellPrediction::round(const Cell& cell, std::size_t batch) const {
    return predict_step(question_of(cell, batch));
}

std::optional<StepAnswer> CellPrediction::round_in_step(const Cell& cell,
                                                        std::size_t batch) const {
    StepQuestion question = question_of(cell, batch);
    question.mode.exchange.server.clock_gap_max = 0;
    return predict_step(question);
}

std::string CellPrediction::beside(const Cell& cell, const CellResult& result) const {
    const double measured = result.round_seconds();
    if (!has_profiles() || result.failed || measured == 0) return "";
    const Settings settings = settings_of(cell);
    if (!has_one_kind_of_round(settings)) return "";
    const auto answer = round(cell, settings.training.batch.local);
    if (!answer) return "";
    if (in_testbed(network_)) keep_pair(settings, *answer, measured);
    return pair_text(*answer, measured);
}

}  // namespace ako
