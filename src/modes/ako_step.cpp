// See ako_step.h.
#include "src/modes/ako_step.h"

#include <optional>
#include <utility>

namespace ako {

void AkoStep::begin() {
    parts_.outbox.lift_grants(false);
    held_back_ = false;
}

bool AkoStep::must_wait(Time now) {
    count_waiting(now);
    choose(now);
    const bool wait = bound_.must_wait(parts_.staleness.waits(), now);
    count_marks();
    if (wait != std::exchange(held_back_, wait)) parts_.outbox.lift_grants(wait);
    if (wait) word_.post(false, {});  // what has come shows the others that this peer moves
    for (const PeerIndex peer : bound_.take_given_up()) {
        parts_.settings.log("peer " + parts_.name(peer) +
                            " does not move: not waited for until it does (staleness_rounds_max)");
    }
    return wait;
}

void AkoStep::count_waiting(Time now) {
    const Time passed = now - std::exchange(looked_at_, now);
    const std::uint64_t number = parts_.staleness.waits().number;
    if (since_ == Time{0} || std::exchange(number_, number) != number) {
        since_ = now;
        waited_ = {};
    } else if (held_back_) {
        waited_ += passed;
    }
    const double all = seconds_of(now - since_);
    parts_.staleness.set_waited(all > 0 ? static_cast<std::uint8_t>(10 * seconds_of(waited_) / all)
                                        : 0);
}

void AkoStep::choose(Time now) {
    StalenessChoice& staleness = parts_.staleness;
    const std::uint64_t before = staleness.waits().number;
    staleness.look(now);
    if (staleness.waits().number != before) word_.post(true, {});
    if (const auto chosen = staleness.take_chosen())
        parts_.settings.log(StalenessChoice::text(*chosen, parts_.settings.peer_names));
}

void AkoStep::count_marks() {
    const Waits& waits = parts_.staleness.waits();
    for (PeerIndex peer = 0; peer < parts_.settings.peer_count(); ++peer) {
        std::optional<std::int64_t> ahead;
        if (StalenessBound::in_step(waits, parts_.roster, peer))
            ahead = waits.offset(parts_.settings.self, peer);
        parts_.rows.keep_step(peer, ahead);
    }
}

}  // namespace ako
