#include "src/training/run_driver.h"

#include <array>
#include <utility>

#include "ako/assert.h"
#include "src/numbers/finite.h"

namespace ako {
namespace {

/// In the order of State.
constexpr std::array<const char*, 7> sentences = {
    "it has not been started",          "it trains",  "it trains", "it trains",
    "training is over and it finishes", "it is over", "it is over"};

}  // namespace

void judge_finish(TrainingOutcome& outcome, bool interrupted) {
    if (outcome.report.agreed && !outcome.report.identical) {
        // Worse than any interrupt: what the program promises does not hold.
        outcome.ending = Ending::not_identical;
        outcome.why = "the peers finished together, but their parameters are not the same";
    } else if (interrupted) {
        outcome.ending = Ending::interrupted;
    } else if (!outcome.report.agreed) {
        outcome.ending = Ending::not_agreed;
    } else if (outcome.report.stopped_early()) {
        outcome.ending = Ending::stopped_early;
    }
}

std::string RunDriver::refusal(Call call) const {
    struct Place {
        State first, last;
        const char* too_early = nullptr;  ///< while it trains
    };
    using enum State;
    constexpr std::array<Place, 7> places = {{
        {opened, opened},
        {waiting, between},
        {in_round, in_round, "ako_begin_round comes before"},
        {in_round, between, "there is none before ako_begin_round said AKO_TRAIN"},
        {waiting, between},
        {finishing, finished},
        {finished, given_up},
    }};
    const Place& place = places[static_cast<std::size_t>(call)];
    if (state_ >= place.first && state_ <= place.last) return "";
    if (trains() && place.too_early != nullptr) return place.too_early;
    return std::string("not at this point: ") + sentences[static_cast<std::size_t>(state_)];
}

void RunDriver::require(Call call) const { AKO_ASSERT(refusal(call).empty(), refusal(call)); }

void RunDriver::start(Exchange& exchange, TrainingObserver& observer) {
    require(Call::start);
    exchange_ = &exchange;
    observer_ = &observer;
    state_ = State::waiting;
}

// ---- rounds

std::optional<Next> RunDriver::begin_round(Range awaited, Time until) {
    require(Call::begin_round);
    // What is taken in now changes the replica.
    const bool anew = state_ == State::in_round;
    if (anew) state_ = State::between;
    if (!std::exchange(begin_is_told_, true)) observer_->reached(RoundMoment::begun);
    if (!begun_) begun_ = exchange_->begin_round(until);
    if (!begun_) return std::nullopt;
    const bool waits = begun_->kind == Next::Kind::train && awaited.count > 0;
    if (waits && !exchange_->await(awaited, Use::read, until)) return std::nullopt;
    const Next next = *std::exchange(begun_, std::nullopt);
    if (next.kind == Next::Kind::train) {
        state_ = State::in_round;
        if (!anew) observer_->reached(RoundMoment::may_train);
    } else if (next.kind == Next::Kind::finish) {
        state_ = State::finishing;
        outcome_.why = next.why;
        observer_->stopping(next.why);
    } else {
        end_without_finish(next);
    }
    return next;
}

void RunDriver::await(Range range, Use use) {
    observer_->reached(RoundMoment::await_begun);
    exchange_->await(range, use, forever);
    observer_->reached(RoundMoment::await_ended);
}

Result<void> RunDriver::end_round(const Learned& learned, const RoundResult& result) {
    require(Call::end_round);
    const Result<void> ended = exchange_->end_round(learned, result);
    if (!ended)
        return give_up({EndCause::numbers, exchange_->standing().round + 1, ended.error().what},
                       ended.error().what);
    observer_->reached(RoundMoment::ended);
    state_ = State::between;
    begin_is_told_ = false;
    const Standing standing = exchange_->standing();
    observer_->round_done({result, standing.round, standing.progress});
    return {};
}

Result<void> RunDriver::give_up(const Farewell& farewell, const std::string& why) {
    require(Call::end_round);
    exchange_->close(farewell);
    state_ = State::given_up;
    outcome_ = {Ending::numbers, why};
    return fail(Error::Kind::numbers, why);
}

void RunDriver::announce(const Verdict& verdict) {
    require(Call::announce);
    exchange_->announce(verdict);
    observer_->evaluation_done(verdict);
    if (target_ && verdict.accuracy >= *target_)
        exchange_->request_stop(StopReason::target_reached);
}

// ---- the end

TrainingOutcome& RunDriver::end_without_finish(const Next& next) {
    state_ = State::given_up;
    const bool waited = next.ending == Ending::failed;
    const Ending ending = waited && interrupted() ? Ending::interrupted : next.ending;
    return outcome_ = {ending, next.why, {}, {}, {}, next.numbers_of};
}

bool RunDriver::finish(std::span<float> out, Time until, Farewell farewell) {
    require(Call::finish);
    if (state_ == State::finished) return true;
    if (!exchange_->finish(until)) return false;
    if (farewell.cause == EndCause::finished && interrupted())
        farewell.cause = EndCause::interrupted;
    exchange_->close(farewell);
    outcome_.report = exchange_->report(out);
    observer_->finished(outcome_.report);
    state_ = State::finished;
    has_model_ = take_model(out);
    return true;
}

bool RunDriver::take_model(std::span<const float> parameters) {
    if (outcome_.report.left) {  // its notice is short, and nobody needs its parameters
        outcome_.ending = Ending::left;
        return false;
    }
    // Steps with finite gradients may still lead beyond what a number can be.
    if (all_finite(parameters)) return true;
    outcome_ = {Ending::numbers, "a parameter is not finite at the end: no model"};
    return false;
}

TrainingOutcome RunDriver::serve(Exchange& exchange, TrainingObserver& observer) {
    start(exchange, observer);
    const Next next = *exchange.begin_round(forever);
    if (next.kind == Next::Kind::give_up) return end_without_finish(next);
    state_ = State::finishing;
    observer.serving();
    outcome_.why = "all workers have ended";
    finish({}, forever);
    judge();
    return outcome_;
}

}  // namespace ako
