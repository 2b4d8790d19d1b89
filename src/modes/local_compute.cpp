// See local_compute.h.
#include "src/modes/local_compute.h"

#include <algorithm>

#include "src/numbers/digest.h"
#include "src/numbers/finite.h"

namespace ako {

LocalCompute::LocalCompute(const ModeSettings& settings, std::vector<float> initial)
    : settings_(settings),
      plan_(settings.training, settings.peer_count()),
      parameters_(std::move(initial)),
      optimizer_(parameters_.size(), settings_.training, settings_.layers),
      growth_(plan_) {
    if (settings_.checkpoints.empty()) return;
    Result<Checkpoint> read = settings_.read_checkpoint(settings_.checkpoints.front());
    if (!read) throw StartupError(read.error().what);
    if (const auto restored = restore(*read); !restored) throw StartupError(restored.error().what);
    restored_ = std::make_shared<const Checkpoint>(*std::move(read));
    settings_.log("goes on from round " + std::to_string(round_));
}

std::optional<Next> LocalCompute::begin_round(Time) {
    if (stop_ == StopReason::none && spent()) stop_ = StopReason::budget_spent;
    if (stop_ == StopReason::requested && round_ == 0)
        return Next::give_up(Ending::failed, never_began);
    if (stop_ != StopReason::none) return Next::finish(sentence(stop_));
    return Next::train(plan_.share(plan_.global(progress(), growth_.wish()), settings_.self,
                                   settings_.peer_count()));
}

Result<void> LocalCompute::end_round(const Learned& learned, const RoundResult& result, Time) {
    const std::span<const float> values = values_of(learned);
    if (!all_finite(values)) {
        return fail(Error::Kind::numbers, std::string("the ") + noun_of(learned) + " of round " +
                                              std::to_string(round_ + 1) + " is not finite");
    }
    if (std::holds_alternative<Update>(learned)) {
        for (std::size_t k = 0; k < parameters_.size(); ++k) parameters_[k] += values[k];
    } else {
        const Range all{0, parameters_.size()};
        if (optimizer_.measures()) optimizer_.measure(all, values, 1, parameters_);
        optimizer_.apply(all, values, 1, parameters_,
                         plan_.learning_rate(progress(), growth_.wish()));
    }
    growth_.end_round(progress(), growth_.wish(), result.noise_scale);
    ++round_;
    samples_ += result.samples;
    return {};
}

bool LocalCompute::save(Checkpoint& out) {
    out.id = {settings_.process_id, round_};
    out.samples = samples_;
    out.progress = progress();
    out.put("parameters", parameters_);
    out.put("velocity", optimizer_.velocity());
    out.numbers["batch_doublings"] = growth_.wish();
    return true;
}

Result<void> LocalCompute::restore(const Checkpoint& from) {
    if (auto copied = from.copy("parameters", parameters_); !copied) return copied;
    if (auto copied = from.copy("velocity", optimizer_.velocity()); !copied) return copied;
    const auto doublings = from.number("batch_doublings");
    if (!doublings) return tl::make_unexpected(doublings.error());
    growth_.hear_of(*doublings);
    round_ = from.id.round;
    samples_ = from.samples;
    return {};
}

// Each has its share of the budget.
double LocalCompute::progress() const {
    const auto share =
        static_cast<double>(settings_.sample_budget) / static_cast<double>(settings_.peer_count());
    return share <= 0 ? 1 : std::min(1.0, static_cast<double>(samples_) / share);
}

bool LocalCompute::spent() const {
    return static_cast<double>(samples_) * static_cast<double>(settings_.peer_count()) >=
           static_cast<double>(settings_.sample_end());
}

void LocalCompute::copy_parameters(std::span<float> out) const {
    std::copy_n(parameters_.begin(), out.size(), out.begin());
}

FinishReport LocalCompute::report(std::span<float> out, Time) {
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
    report.progress = progress();
    report.stop = stop_;
    if (stop_ == StopReason::requested) report.asked = {settings_.self};
    return report;
}

ModeCosts LocalMode::costs(std::size_t parameter_count) {
    const std::size_t vector_bytes = parameter_count * sizeof(float);
    ModeCosts costs;
    costs.memory = {{"replica", "M", vector_bytes}, {"momentum", "M", vector_bytes}};
    costs.checkpoint = {"checkpoint being written", "2 M", 2 * vector_bytes};
    return costs;
}

}  // namespace ako
