// See strategy_prediction.h.
#include "src/predict/strategy_prediction.h"

#include <algorithm>

#include "ako/error.h"
#include "ako/mode_table.h"
#include "src/buckets/buckets.h"
#include "src/predict/step_model.h"
#include "src/predict/strategy_layers.h"

namespace ako {

namespace {

/// The velocity of the optimizer, which every peer keeps.
constexpr double velocity_vectors = 1;

struct SlowestMachine {
    const MachineProfile* profile = nullptr;
    double slower = 1;  ///< seconds of the day for one of its processor
};

double alone_s(const StepQuestion& question) {
    const auto answer = predict_step(question);
    return answer ? answer->compute_s : 0;
}

/// `question` is of a mode that exchanges nothing.
SlowestMachine slowest_of(const StepQuestion& question) {
    SlowestMachine slowest{.profile = question.machines.front().profile};
    StepQuestion one = question;
    one.shared_cores = 0;
    double most = 0;
    for (const ModelMachine& machine : question.machines) {
        one.machines = {machine};
        const double seconds = alone_s(one);
        if (seconds <= most) continue;
        most = seconds;
        slowest.profile = machine.profile;
    }
    const double processor =
        slowest.profile->gradient_of(question.batch).seconds + slowest.profile->round_s;
    const double seconds = alone_s(question);
    if (processor > 0 && seconds > 0) slowest.slower = seconds / processor;
    return slowest;
}

class StrategyPredictor {
  public:
    StrategyPredictor(const PredictionQuestion& question,
                      const std::vector<MachineProfile>& profiles, const Settings& settings)
        : question_(question),
          profiles_(profiles),
          settings_(settings),
          layers_(strategy_layers(settings.model)) {
        settings_.exchange = {};
        settings_.exchange.mode = entry_named("local")->mode;
        for (const StrategyLayer& layer : layers_) {
            if (layer.parameter_count == 0) continue;
            ranges_.push_back({parameter_count_, layer.parameter_count});
            parameter_count_ += layer.parameter_count;
        }
    }

    StrategyPrediction all() {
        StrategyPrediction prediction;
        prediction.notes = notes();
        for (const StrategyLayer& layer : layers_) prediction.layers.push_back(layer.name);
        for (const double rate : question_.rates_mbit)
            for (const std::size_t batch : question_.batches)
                for (const std::size_t machines : question_.machines)
                    if (machines > 1) prediction.tables.push_back(table(rate, batch, machines));
        return prediction;
    }

  private:
    StrategyTable table(double rate, std::size_t batch, std::size_t machines) {
        const std::size_t own = question_.own_batch(batch, machines);
        const StepQuestion step =
            step_question(question_, profiles_, ranges_, settings_, machines, rate, own);
        const SlowestMachine slowest = slowest_of(step);
        StrategyQuestion asked;
        asked.machines = machines;
        asked.batch = own * machines;
        asked.optimizer_vectors = velocity_vectors;
        asked.layers = layers_;
        set_seconds(asked.layers, *slowest.profile, asked.batch, slowest.slower);
        asked.system = system_of(step, slowest, rate);
        return {.rate_mbit = rate,
                .batch = own,
                .machines = machines,
                .extrapolated = !slowest.profile->measured(asked.batch),
                .answers = ranked_strategies(asked)};
    }

    StrategySystem system_of(const StepQuestion& step, const SlowestMachine& slowest,
                             double rate) const {
        const MachineProfile& profile = *slowest.profile;
        const ExchangeProfile& exchange = profile.exchange_of("ring");
        const Buckets buckets(ranges_, parameter_count_);
        const bool together = question_.shared || question_.one_machine;
        StrategySystem system;
        system.link_bytes_per_s = rate * 1e6 / 8 * step.goodput;
        system.latency_s = step.latency_s;
        // A round of a ring begins an exchange for each bucket.
        system.call_s = exchange.round_s * slowest.slower / static_cast<double>(buckets.count());
        system.send_s_per_byte = system.take_s_per_byte = exchange.s_per_byte * slowest.slower;
        system.update_s_per_byte = profile.round_s * slowest.slower /
                                   static_cast<double>(parameter_count_ * sizeof(float));
        system.memory_bytes = static_cast<double>(profile.memory_bytes) /
                              static_cast<double>(together ? step.machines.size() : 1);
        return system;
    }

    std::vector<std::string> notes() const {
        std::vector<std::string> notes = {
            "strategies by the oracle's formulas (arXiv:2104.09075): computing and exchange do not "
            "overlap; projected: Ako cannot run it",
            "assumed: layers without parameters take their share of what was measured with the "
            "layer before, by operations; parts along rows and channels take their share",
            "assumed: of memory a step has parameters, gradient, velocity, what layers give and "
            "its gradients; neither the program nor the data"};
        if (profiles_.size() > 1 || !question_.cores.empty())
            notes.push_back("assumed: all machines are like the slowest");
        const bool norms = std::any_of(
            layers_.begin(), layers_.end(),
            [](const StrategyLayer& layer) { return layer.name.starts_with("group_norm"); });
        if (norms) notes.push_back("not counted: statistics of group_norm whose parts lie apart");
        return notes;
    }

    const PredictionQuestion& question_;
    const std::vector<MachineProfile>& profiles_;
    Settings settings_;
    const std::vector<StrategyLayer> layers_;
    std::vector<Range> ranges_;
    std::size_t parameter_count_ = 0;
};

}  // namespace

StrategyPrediction predict_strategies(const PredictionQuestion& question,
                                      const std::vector<MachineProfile>& profiles,
                                      const Settings& settings) {
    if (!needs_data(settings.model.kind))
        throw StartupError("--strategies: this model has no layers that could be divided",
                           "name a network of layers, such as --set model=lenet");
    return StrategyPredictor(question, profiles, settings).all();
}

}  // namespace ako
