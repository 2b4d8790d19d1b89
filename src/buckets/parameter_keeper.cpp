// See parameter_keeper.h.
#include "src/buckets/parameter_keeper.h"

#include <algorithm>
#include <cmath>

#include "ako/assert.h"

namespace ako {
namespace {

std::size_t elements_of(const Slices& slices, std::size_t server) {
    std::size_t sum = 0;
    for (std::size_t slice = 0; slice < slices.count(); ++slice)
        if (slices[slice].server == server) sum += slices[slice].range.count;
    return sum;
}

/// A step with one push is a share 1/n of a round.
double steps_per_round(const ModeSettings& settings) {
    const bool lockstep = settings.exchange.server.clock_gap_max == 0U;
    return lockstep ? 1 : static_cast<double>(settings.workers().size());
}

}  // namespace

ParameterKeeper::ParameterKeeper(const ModeSettings& settings, const Slices& slices,
                                 std::size_t server, std::span<const float> initial, Answer answer)
    : slices_(slices),
      place_(server),
      gap_(settings.exchange.server.clock_gap_max),
      plan_(settings.training, settings.workers().size()),
      rounds_budget_(static_cast<double>(settings.sample_budget) *
                     static_cast<double>(settings.workers().size()) /
                     static_cast<double>(plan_.global(0, 0))),
      answer_(std::move(answer)),
      workers_(settings.workers().size()),
      clocks_(workers_.size(), std::vector<std::uint64_t>(slices.count())),
      states_(slices.count()),
      part_elements_(elements_of(slices, server)),
      pushes_(workers_.size()),
      sum_(std::min(part_elements_, Slices::elements_max)),
      optimizer_(
          part_elements_, std::pow(settings.training.momentum, 1 / steps_per_round(settings)),
          settings.training.weight_decay / steps_per_round(settings), settings.training.nesterov) {
    for (std::size_t slice = 0; slice < slices.count(); ++slice) {
        if (!serves(slice)) continue;
        State& state = states_[slice];
        state.offset = parameters_.size();
        state.pending.assign(workers_.size(), nullptr);
        state.unanswered.assign(workers_.size(), false);
        const auto from = initial.begin() + static_cast<std::ptrdiff_t>(slices[slice].range.first);
        parameters_.insert(parameters_.end(), from,
                           from + static_cast<std::ptrdiff_t>(slices[slice].range.count));
    }
}

std::span<float> ParameterKeeper::room_for_push(std::size_t worker, std::size_t slice) {
    pushes_[worker].resize(part_elements_);
    return std::span(pushes_[worker]).subspan(states_[slice].offset, slices_[slice].range.count);
}

std::span<const float> ParameterKeeper::parameters(std::size_t slice) const {
    return std::span(parameters_).subspan(states_[slice].offset, slices_[slice].range.count);
}

void ParameterKeeper::pushed(std::size_t worker, std::size_t slice, std::uint64_t round,
                             const float* values, const Wish& wish) {
    State& state = states_[slice];
    AKO_ASSERT(round == clocks_[worker][slice] + 1, "round " + std::to_string(round) + " after " +
                                                        std::to_string(clocks_[worker][slice]));
    clocks_[worker][slice] = round;
    state.unanswered[worker] = true;
    state.summary.wish = stronger(state.summary.wish, wish);
    ++state.pushes;
    if (lockstep()) {
        state.pending[worker] = values;
        step_together(slice);
    } else {
        step_alone(slice, values);
        answer_who_may(slice);
    }
}

bool ParameterKeeper::waits_for(std::size_t worker, std::size_t slice) const {
    const Worker& view = workers_[worker];
    if (view.over) return false;
    return !view.final_round || clocks_[worker][slice] < *view.final_round;
}

// BSP: nothing happens before all who train have pushed.
void ParameterKeeper::step_together(std::size_t slice) {
    State& state = states_[slice];
    std::uint32_t contributors = 0;
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
        if (state.pending[worker] != nullptr)
            ++contributors;
        else if (waits_for(worker, slice))
            return;
    }
    if (contributors == 0) return;
    const std::size_t count = slices_[slice].range.count;
    float* const sum = sum_.data();
    std::fill_n(sum, count, 0.0f);
    for (const float* values : state.pending) {
        if (values == nullptr) continue;
        for (std::size_t k = 0; k < count; ++k) sum[k] += values[k];
    }
    const double done = static_cast<double>(state.pushes - contributors) / rounds_budget_;
    step(slice, {sum, count}, 1.0f / static_cast<float>(contributors),
         plan_.learning_rate(done, 0));
    std::fill(state.pending.begin(), state.pending.end(), nullptr);
    state.summary.workers = contributors;
    answer_who_may(slice);
}

void ParameterKeeper::step_alone(std::size_t slice, const float* values) {
    State& state = states_[slice];
    const auto workers = static_cast<float>(workers_.size());
    const double done = static_cast<double>(state.pushes - 1) / rounds_budget_;
    step(slice, {values, slices_[slice].range.count}, 1 / workers,
         plan_.learning_rate(done, 0) / static_cast<double>(workers));
    state.summary.workers = 1;
}

void ParameterKeeper::step(std::size_t slice, std::span<const float> gradient, float share,
                           double rate) {
    const Range own{states_[slice].offset, slices_[slice].range.count};
    optimizer_.apply(own, gradient, share, std::span(parameters_).subspan(own.first, own.count),
                     rate);
    states_[slice].summary.rounds_total = states_[slice].pushes;
}

void ParameterKeeper::answer_who_may(std::size_t slice) {
    State& state = states_[slice];
    std::optional<std::uint64_t> slowest;
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
        if (!waits_for(worker, slice)) continue;
        slowest = std::min(slowest.value_or(UINT64_MAX), clocks_[worker][slice]);
    }
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
        if (!state.unanswered[worker] || workers_[worker].over) continue;
        const bool ahead = gap_ && slowest && clocks_[worker][slice] > *slowest + *gap_;
        if (ahead || state.pending[worker] != nullptr) continue;
        state.unanswered[worker] = false;
        answer_(worker, slice);
    }
}

void ParameterKeeper::finished(std::size_t worker, Round final_round) {
    if (workers_[worker].final_round) return;
    workers_[worker].final_round = final_round;
    look_again();
}

void ParameterKeeper::worker_over(std::size_t worker) {
    if (workers_[worker].over) return;
    workers_[worker].over = true;
    look_again();
}

// Somebody whom others waited for is not waited for any more.
void ParameterKeeper::look_again() {
    for (std::size_t slice = 0; slice < slices_.count(); ++slice) {
        if (!serves(slice)) continue;
        if (lockstep()) step_together(slice);
        answer_who_may(slice);
    }
}

void ParameterKeeper::stop_wished(StopReason reason) {
    for (State& state : states_) state.summary.wish = stronger(state.summary.wish, {reason, 0});
}

void ParameterKeeper::save(Checkpoint& out) const {
    out.put("served", parameters_);
    out.put("served_velocity", optimizer_.velocity());
    std::vector<std::uint64_t> rounds;
    for (const State& state : states_) rounds.push_back(state.summary.rounds_total);
    out.put("served_rounds", rounds);
}

Result<void> ParameterKeeper::check(const Checkpoint& from) const {
    if (auto found = from.vector("served", part_elements_); !found)
        return tl::make_unexpected(found.error());
    if (auto found = from.vector("served_velocity", part_elements_); !found)
        return tl::make_unexpected(found.error());
    if (auto found = from.word_list("served_rounds", states_.size()); !found)
        return tl::make_unexpected(found.error());
    return {};
}

void ParameterKeeper::restore(const Checkpoint& from) {
    const Result<void> values = from.copy("served", parameters_);
    const Result<void> velocity = from.copy("served_velocity", optimizer_.velocity());
    AKO_ASSERT(values && velocity, "a checkpoint that was not checked");
    const std::span<const std::uint64_t> rounds =
        from.word_list("served_rounds", states_.size()).value();
    // Pushes that are here already have been counted.
    for (std::size_t slice = 0; slice < states_.size(); ++slice) {
        states_[slice].pushes += rounds[slice];
        states_[slice].summary.rounds_total = rounds[slice];
    }
}

bool ParameterKeeper::final_is_here() const {
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
        const Worker& view = workers_[worker];
        if (view.over) continue;
        if (!view.final_round) return false;
        for (std::size_t slice = 0; slice < slices_.count(); ++slice)
            if (serves(slice) && clocks_[worker][slice] < *view.final_round) return false;
    }
    return true;
}

}  // namespace ako
