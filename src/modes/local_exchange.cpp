// See local_exchange.h.
#include "src/modes/local_exchange.h"

#include <algorithm>

#include "src/digest.h"
#include "src/finite.h"
#include "src/learning_rate.h"

namespace ako {

LocalExchange::LocalExchange(ModeSettings settings, std::vector<float> initial,
                             const std::atomic<int>& interrupts)
    : settings_(std::move(settings)),
      interrupts_(interrupts),
      parameters_(std::move(initial)),
      optimizer_(parameters_.size(), settings_.training) {}

Next LocalExchange::begin_round() {
    if (interrupts_ > 0) stop_ = StopReason::requested;
    if (stop_ == StopReason::requested) return {Next::Kind::stop, "a stop was requested"};
    if (stop_ == StopReason::target_reached)
        return {Next::Kind::stop, "the target accuracy is reached"};
    if (progress() >= 1) return {Next::Kind::stop, "the sample budget is spent"};
    return {Next::Kind::train, ""};
}

Result<void> LocalExchange::end_round(std::span<const float> gradient, const RoundResult& result) {
    if (!all_finite(gradient))
        return fail(Error::Kind::numbers,
                    "the gradient of round " + std::to_string(round_ + 1) + " is not finite");
    const Range all{0, parameters_.size()};
    optimizer_.apply(all, gradient, 1, parameters_,
                     learning_rate_at(settings_.training, progress()));
    ++round_;
    samples_ += result.samples;
    return {};
}

// Each has its share of the budget.
double LocalExchange::progress() const {
    const auto share =
        static_cast<double>(settings_.sample_budget) / static_cast<double>(settings_.peer_count());
    return share <= 0 ? 1 : std::min(1.0, static_cast<double>(samples_) / share);
}

void LocalExchange::copy_parameters(std::span<float> out) {
    std::copy_n(parameters_.begin(), out.size(), out.begin());
}

FinishReport LocalExchange::finish(std::span<float> out) {
    copy_parameters(out);
    FinishReport report;
    report.agreed = true;
    report.identical = true;  // with itself
    report.finished_with = {settings_.self};
    report.digest = sha256(std::as_bytes(std::span<const float>(parameters_)));
    report.samples_total = samples_;
    report.samples.assign(settings_.peer_count(), 0);
    report.samples[settings_.self] = samples_;
    report.rounds = round_;
    return report;
}

}  // namespace ako
