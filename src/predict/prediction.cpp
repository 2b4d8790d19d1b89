// See prediction.h.
#include "src/predict/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "ako/error.h"
#include "ako/mode_table.h"
#include "src/predict/advice.h"
#include "src/wiring/settings_of_mode.h"

namespace ako {

namespace {

template <class List>
const auto& of_place(const List& list, std::size_t place) {
    return list[std::min(place, list.size() - 1)];
}

/// As many peers as machines. So many as the file has are those of the file, with their roles and
/// samples; others all train, wherever they may be, on shares of one data set.
std::vector<std::string> peers_overrides(const Settings& file, std::size_t machines) {
    if (machines == file.peers.size()) return {};
    std::string list;
    for (std::size_t k = 0; k < machines; ++k)
        list += fmt::format("{}{{name: m{}, address: \"10.0.{}.{}:7701\"}}", k > 0 ? ", " : "",
                            k + 1, k / 200, k % 200 + 1);
    std::vector<std::string> overrides = {"peers=[" + list + "]"};
    if (file.data.sharding == Sharding::own) overrides.push_back("data.sharding=disjoint");
    if (file.exchange.server.placement == Placement::dedicated)
        overrides.push_back("exchange.placement=co-located");
    return overrides;
}

ModelMachine machine_at(const PredictionQuestion& question, const MachineProfile& profile,
                        std::size_t place, std::size_t machines, double rate) {
    const bool limited = profile.quota_cores > 0 && profile.quota_cores < profile.cores;
    ModelMachine found{.profile = &profile,
                       .cores = limited ? profile.quota_cores : profile.cores,
                       .period_s = limited ? profile.quota_period_s : 0,
                       .egress_mbit = rate,
                       .ingress_mbit = rate};
    if (!question.links.empty()) {
        const MachineLink& link = of_place(question.links, place);
        found.egress_mbit = link.egress_mbit;
        found.ingress_mbit = link.ingress_mbit;
    }
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

const PredictedMode mode_of_one = {"local", {"exchange.mode=local"}};

/// Uses of the processors that rates are told for, and the fastest links that are thought of.
constexpr std::array shares_told = {0.5, 0.75, 0.9, 0.95};
constexpr double rate_most_mbit = 100'000;

class Predictor {
  public:
    Predictor(const PredictionQuestion& question, const PredictionBase& base)
        : question_(question), base_(base), file_(base.read({})) {}

    Prediction all() {
        prediction_.divided = question_.divided;
        for (const std::size_t machines : question_.machines) {
            const bool alone = machines == 1;  // which sends nothing, at any rate
            const std::vector<PredictedMode> modes =
                alone ? std::vector<PredictedMode>{mode_of_one} : modes_for(file_, machines);
            const std::vector<double> rates = alone ? std::vector<double>{0} : question_.rates_mbit;
            for (const double rate : rates)
                for (const std::size_t batch : question_.batches)
                    for (const PredictedMode& mode : modes) add(mode, machines, rate, batch);
        }
        if (prediction_.cells.empty())
            throw StartupError(
                "nothing of this can be predicted: " + prediction_.left_out.front().mode + ": " +
                    prediction_.left_out.front().why,
                "ask for other --machines, --batch or modes");
        return std::move(prediction_);
    }

    std::vector<RateForShare> rates_for(const Predicted& cell) const {
        const Settings settings =
            base_.read(overrides_of(cell.mode, cell.machines, cell.own_batch));
        const double alone = cell.step.samples_per_s / cell.speed_up;
        const auto efficiency_at = [&](double mbit) {
            const auto step = predict_step(asked(settings, cell.machines, mbit, cell.own_batch));
            return step->samples_per_s / alone / static_cast<double>(cell.machines) /
                   staleness_factor(step->partitions);
        };
        std::vector<RateForShare> rates;
        rates.reserve(shares_told.size());
        for (const double share : shares_told)
            rates.push_back({share, rate_for(share, rate_most_mbit, efficiency_at)});
        return rates;
    }

  private:
    /// All that `--set` would have to say.
    std::vector<std::string> overrides_of(const PredictedMode& mode, std::size_t machines,
                                          std::size_t batch) const {
        std::vector<std::string> overrides = peers_overrides(file_, machines);
        overrides.push_back(fmt::format("training.batch.local={}", batch));
        overrides.insert(overrides.end(), mode.overrides.begin(), mode.overrides.end());
        return overrides;
    }

    void add(const PredictedMode& mode, std::size_t machines, double rate, std::size_t batch) {
        const std::size_t own = question_.own_batch(batch, machines);
        std::optional<Settings> settings;
        try {
            settings = base_.read(overrides_of(mode, machines, own));
        } catch (const StartupError& error) {
            leave_out(mode.name, error.what());
            return;
        }
        const auto step = predict_step(asked(*settings, machines, rate, own));
        if (!step) {
            leave_out(mode.name, "its rounds go at a pace of their own, which no formula has");
            return;
        }
        Predicted cell;
        cell.mode = mode;
        cell.machines = machines;
        cell.rate_mbit = rate;
        cell.batch = batch;
        cell.own_batch = own;
        cell.step = *step;
        cell.memory_bytes = resident(*settings);
        cell.speed_up = step->samples_per_s / alone(batch);
        cell.efficiency = cell.speed_up / static_cast<double>(machines);
        cell.rounds_factor = rounds_factor(cell, settings->exchange);
        cell.target_s = seconds_to_target(cell);
        cell.extrapolated = !base_.profiles.front().measured(own);
        prediction_.cells.push_back(cell);
    }

    static std::optional<double> rounds_factor(const Predicted& cell,
                                               const ExchangeSettings& exchange) {
        const ModeEntry& mode = entry_of(exchange);
        const bool known = cell.machines == 1 || (mode.every_round && !mode.runs_ahead &&
                                                  mode.learners != LearnersMeet::at_all_peers);
        if (!known) return std::nullopt;
        return staleness_factor(cell.step.partitions);
    }

    std::optional<double> seconds_to_target(const Predicted& cell) const {
        if (!question_.convergence || !cell.rounds_factor) return std::nullopt;
        const auto samples = static_cast<double>(cell.machines * cell.own_batch);
        return rounds_to_target(*question_.convergence, samples) * *cell.rounds_factor *
               cell.step.round_s;
    }

    /// What a peer alone was seen to hold, and by what the plans of the two differ.
    std::size_t resident(const Settings& settings) {
        const MachineProfile& profile = base_.profiles.front();
        if (profile.process_bytes == 0) return base_.memory(settings);
        if (!memory_alone_) {
            const std::size_t batch =
                profile.process_batch > 0 ? profile.process_batch : file_.training.batch.local;
            memory_alone_ = base_.memory(base_.read(overrides_of(mode_of_one, 1, batch)));
        }
        const std::size_t all = profile.process_bytes + base_.memory(settings);
        return all > *memory_alone_ ? all - *memory_alone_ : 0;
    }

    void leave_out(const std::string& mode, const std::string& why) {
        const auto same = [&](const LeftOut& one) { return one.mode == mode && one.why == why; };
        if (std::none_of(prediction_.left_out.begin(), prediction_.left_out.end(), same))
            prediction_.left_out.push_back({mode, why});
    }

    StepQuestion asked(const Settings& settings, std::size_t machines, double rate,
                       std::size_t batch) const {
        return step_question(question_, base_.profiles, base_.layers, settings, machines, rate,
                             batch);
    }

    /// Samples per second of the first machine by itself.
    double alone(std::size_t batch) {
        if (const auto known = alone_.find(batch); known != alone_.end()) return known->second;
        const Settings settings = base_.read(overrides_of(mode_of_one, 1, batch));
        const double found = predict_step(asked(settings, 1, 0, batch))->samples_per_s;
        return alone_[batch] = found;
    }

    const PredictionQuestion& question_;
    const PredictionBase& base_;
    const Settings file_;
    std::optional<std::size_t> memory_alone_;
    std::map<std::size_t, double> alone_;  ///< [batch]
    Prediction prediction_;
};

}  // namespace

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

Prediction predict(const PredictionQuestion& question, const PredictionBase& base) {
    return Predictor(question, base).all();
}

std::vector<RateForShare> rates_for(const PredictionQuestion& question, const PredictionBase& base,
                                    const Predicted& cell) {
    PredictionQuestion at_rates = question;
    at_rates.links.clear();
    return Predictor(at_rates, base).rates_for(cell);
}

}  // namespace ako
