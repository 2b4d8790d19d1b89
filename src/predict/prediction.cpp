// See prediction.h.
#include "src/predict/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ako/error.h"
#include "ako/mode_table.h"
#include "src/wiring/settings_of_mode.h"

namespace ako {

namespace {

template <class List>
const auto& of_place(const List& list, std::size_t place) {
    return list[std::min(place, list.size() - 1)];
}

/// As many peers as machines, wherever they may be.
std::string peers_override(std::size_t machines) {
    std::string list;
    for (std::size_t k = 0; k < machines; ++k)
        list += fmt::format("{}{{name: m{}, address: \"10.0.{}.{}:7701\"}}", k > 0 ? ", " : "",
                            k + 1, k / 200, k % 200 + 1);
    return "peers=[" + list + "]";
}

ModelMachine machine_at(const PredictionQuestion& question, const MachineProfile& profile,
                        std::size_t place, std::size_t machines, double rate) {
    const bool limited = profile.quota_cores > 0 && profile.quota_cores < profile.cores;
    ModelMachine found{.profile = &profile,
                       .cores = limited ? profile.quota_cores : profile.cores,
                       .period_s = limited ? profile.quota_period_s : 0,
                       .egress_mbit = rate,
                       .ingress_mbit = rate};
    if (!question.cores.empty()) {
        found.cores = of_place(question.cores, place);
        if (!limited && found.cores < profile.cores) found.period_s = question.period_s;
    }
    if (question.one_machine) found.cores /= static_cast<double>(machines);
    return found;
}

}  // namespace

StepQuestion step_question(const PredictionQuestion& question,
                           const std::vector<MachineProfile>& profiles,
                           const std::vector<Range>& layers, const Settings& settings,
                           std::size_t machines, double rate, std::size_t batch) {
    StepQuestion step;
    step.mode = mode_settings(settings);
    step.batch = batch;
    step.layers = layers;
    step.latency_s = question.latency_s;
    if (question.goodput > 0) step.goodput = question.goodput;
    if (question.shared || question.one_machine) step.shared_cores = profiles.front().cores;
    for (std::size_t k = 0; k < machines; ++k)
        step.machines.push_back(machine_at(question, of_place(profiles, k), k, machines, rate));
    return step;
}

namespace {

class Predictor {
  public:
    Predictor(const PredictionQuestion& question, const std::vector<MachineProfile>& profiles,
              const std::vector<Range>& layers, const ReadSettings& read, const MemoryOf& memory)
        : question_(question), profiles_(profiles), layers_(layers), read_(read), memory_(memory) {}

    Prediction all() {
        const Settings file = read_({});
        for (const std::size_t machines : question_.machines) {
            const bool alone = machines == 1;  // which sends nothing, at any rate
            const std::vector<PredictedMode> modes =
                alone ? std::vector<PredictedMode>{{"local", {"exchange.mode=local"}}}
                      : modes_for(file, machines);
            const std::vector<double> rates = alone ? std::vector<double>{0} : question_.rates_mbit;
            for (const double rate : rates)
                for (const std::size_t batch : question_.batches)
                    for (const PredictedMode& mode : modes) add(mode, machines, rate, batch);
        }
        return std::move(prediction_);
    }

  private:
    void add(const PredictedMode& mode, std::size_t machines, double rate, std::size_t batch) {
        std::vector<std::string> overrides = {peers_override(machines),
                                              fmt::format("training.batch.local={}", batch)};
        overrides.insert(overrides.end(), mode.overrides.begin(), mode.overrides.end());
        std::optional<Settings> settings;
        try {
            settings = read_(overrides);
        } catch (const StartupError& error) {
            leave_out(mode.name, error.what());
            return;
        }
        const auto step = predict_step(asked(*settings, machines, rate, batch));
        if (!step) {
            leave_out(mode.name, "its rounds go at a pace of their own, which no formula has");
            return;
        }
        Predicted cell;
        cell.mode = mode;
        cell.machines = machines;
        cell.rate_mbit = rate;
        cell.batch = batch;
        cell.step = *step;
        cell.memory_bytes = memory_(*settings);
        cell.speed_up = step->samples_per_s / alone(batch);
        cell.efficiency = cell.speed_up / static_cast<double>(machines);
        cell.target_s = seconds_to_target(cell, settings->exchange);
        cell.extrapolated = !profiles_.front().measured(batch);
        prediction_.cells.push_back(cell);
    }

    std::optional<double> seconds_to_target(const Predicted& cell,
                                            const ExchangeSettings& exchange) const {
        const ModeEntry& mode = entry_of(exchange);
        const bool known = cell.machines == 1 || (mode.every_round && !mode.runs_ahead &&
                                                  mode.learners != LearnersMeet::at_all_peers);
        if (!question_.convergence || !known) return std::nullopt;
        const auto samples = static_cast<double>(cell.machines * cell.batch);
        return rounds_to_target(*question_.convergence, samples) *
               staleness_factor(cell.step.partitions) * cell.step.round_s;
    }

    void leave_out(const std::string& mode, const std::string& why) {
        const auto same = [&](const LeftOut& one) { return one.mode == mode && one.why == why; };
        if (std::none_of(prediction_.left_out.begin(), prediction_.left_out.end(), same))
            prediction_.left_out.push_back({mode, why});
    }

    StepQuestion asked(const Settings& settings, std::size_t machines, double rate,
                       std::size_t batch) const {
        return step_question(question_, profiles_, layers_, settings, machines, rate, batch);
    }

    /// Samples per second of the first machine by itself.
    double alone(std::size_t batch) {
        if (const auto known = alone_.find(batch); known != alone_.end()) return known->second;
        const Settings settings = read_({peers_override(1), "exchange.mode=local",
                                         fmt::format("training.batch.local={}", batch)});
        const double found = predict_step(asked(settings, 1, 0, batch))->samples_per_s;
        return alone_[batch] = found;
    }

    const PredictionQuestion& question_;
    const std::vector<MachineProfile>& profiles_;
    const std::vector<Range>& layers_;
    const ReadSettings& read_;
    const MemoryOf& memory_;
    std::map<std::size_t, double> alone_;  ///< [batch]
    Prediction prediction_;
};

}  // namespace

std::optional<StepAnswer> predict_as_it_is(const PredictionQuestion& question,
                                           const std::vector<MachineProfile>& profiles,
                                           const std::vector<Range>& layers,
                                           const Settings& settings) {
    const BatchSettings& batch = settings.training.batch;
    if (settings.training.learners != 1 || batch.global_target > 0 ||
        batch.schedule.kind != BatchScheduleKind::constant)
        return std::nullopt;
    return predict_step(step_question(question, profiles, layers, settings, settings.peers.size(),
                                      question.rates_mbit.front(), batch.local));
}

std::vector<PredictedMode> modes_for(const Settings& file, std::size_t machines) {
    return {{"ako", {"exchange.mode=ako"}},
            {"ring", {"exchange.mode=ring"}},
            {"ring, butterfly", {"exchange.mode=ring", "exchange.all_reduce=butterfly"}},
            {"parameter-server", {"exchange.mode=parameter-server", "exchange.servers=1"}},
            {fmt::format("parameter-server, {} servers", machines),
             {"exchange.mode=parameter-server", fmt::format("exchange.servers={}", machines)},
             "parameter-server, n servers"},
            {fmt::format("local-sgd, {} rounds", file.exchange.local_sgd.rounds),
             {"exchange.mode=local-sgd"}},
            {"sma", {"exchange.mode=sma"}}};
}

Prediction predict(const PredictionQuestion& question, const std::vector<MachineProfile>& profiles,
                   const std::vector<Range>& layers, const ReadSettings& read,
                   const MemoryOf& memory) {
    return Predictor(question, profiles, layers, read, memory).all();
}

}  // namespace ako
