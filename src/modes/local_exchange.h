// The mode `local`: no exchange at all. Every peer trains on its own share of the data, and nobody
// sends anything; what computing alone costs on these machines. Compute thread only.
#pragma once

#include <atomic>
#include <vector>

#include "ako/exchange.h"
#include "src/modes/mode_settings.h"
#include "src/optimizer.h"

namespace ako {

class LocalExchange final : public Exchange {
  public:
    LocalExchange(ModeSettings settings, std::vector<float> initial,
                  const std::atomic<int>& interrupts);

    void start() override {}
    Next begin_round() override;
    std::span<const float> replica() const override { return parameters_; }
    void await(Range) override {}
    void gradient_ready(Range, std::span<const float>) override {}
    Result<void> end_round(std::span<const float> gradient, const RoundResult& result) override;
    double progress() const override;
    Round round() const override { return round_; }
    void copy_parameters(std::span<float> out) override;
    /// Only the first, whose curve is shown.
    bool evaluates() const override { return settings_.self == 0; }
    void announce(const Verdict& verdict) override { verdict_ = verdict; }
    std::optional<Verdict> newest_verdict() const override { return verdict_; }
    std::vector<LinkView> links() const override { return {}; }
    void request_stop(StopReason reason) override { stop_ = reason; }
    /// Alone: nobody else holds these parameters, and nobody is asked.
    FinishReport finish(std::span<float> out) override;

  private:
    const ModeSettings settings_;  // constant after construction
    const std::atomic<int>& interrupts_;

    std::vector<float> parameters_;
    Sgd optimizer_;
    Round round_ = 0;
    std::uint64_t samples_ = 0;
    StopReason stop_ = StopReason::none;
    std::optional<Verdict> verdict_;
};

}  // namespace ako
