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
