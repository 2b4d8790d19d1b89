// The mode `local`: no exchange at all. Every peer trains on its own share of the data, and nobody
// sends anything; what computing alone costs on these machines. Compute thread only.
#pragma once

#include <vector>

#include "ako/threads.h"
#include "src/exchange/halves.h"
#include "src/exchange/mode_settings.h"
#include "src/modes/costs.h"
#include "src/numbers/batch_growth.h"
#include "src/numbers/batch_plan.h"
#include "src/numbers/optimizer.h"

namespace ako {

class LocalCompute final : public ComputeHalf {
  public:
    /// Throws StartupError if the checkpoint to go on from cannot be read.
    LocalCompute(const ModeSettings& settings, std::vector<float> initial);

    std::optional<Next> begin_round(Time now) override AKO_COMPUTE_THREAD;
    bool started() const override AKO_COMPUTE_THREAD { return true; }
    std::vector<PeerIndex> missing() const override AKO_COMPUTE_THREAD { return {}; }
    std::span<const float> replica() const override AKO_COMPUTE_THREAD { return parameters_; }
    Result<void> end_round(const Learned& learned, const RoundResult& result,
                           Time now) override AKO_COMPUTE_THREAD;
    void announce(const Verdict& verdict) override AKO_COMPUTE_THREAD { verdict_ = verdict; }
    void request_stop(StopReason reason) override AKO_COMPUTE_THREAD {
        stop_ = stronger(stop_, reason);
    }
    void copy_parameters(std::span<float> out) const override AKO_COMPUTE_THREAD;
    /// Only the first peer evaluates, whose curve is shown.
    Standing standing() const override AKO_COMPUTE_THREAD {
        return {round_, progress(), settings_.self == 0, verdict_, samples_};
    }
    LinkView link(PeerIndex peer, Time) const override AKO_COMPUTE_THREAD { return {.peer = peer}; }
    bool save(Checkpoint& out) override AKO_COMPUTE_THREAD;
    /// Alone: nobody else holds these parameters, and nobody is asked.
    bool step_finish(Time, bool) override AKO_COMPUTE_THREAD { return true; }
    FinishReport report(std::span<float> out, Time now) override AKO_COMPUTE_THREAD;

  private:
    Result<void> restore(const Checkpoint& from);
    double progress() const AKO_COMPUTE_THREAD;
    bool spent() const AKO_COMPUTE_THREAD;

    const ModeSettings settings_;  // constant after construction
    const BatchPlan plan_;

    std::vector<float> parameters_;
    Sgd optimizer_;
    Round round_ = 0;
    std::uint64_t samples_ = 0;
    BatchGrowth growth_;
    StopReason stop_ = StopReason::none;
    std::optional<Verdict> verdict_;
};

/// The mode: one half alone.
class LocalMode final : public Halves {
  public:
    LocalMode(const ModeSettings& settings, std::vector<float> initial)
        : compute_(settings, std::move(initial)) {}

    static ModeCosts costs(std::size_t parameter_count);

    ComputeHalf& compute() override { return compute_; }
    TrafficHalf* traffic() override { return nullptr; }

  private:
    LocalCompute compute_;
};

}  // namespace ako
