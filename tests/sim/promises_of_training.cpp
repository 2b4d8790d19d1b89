// The promises of the training: who stands in for whom, and what makes up for who is absent. The
// rest, and what all promises are judged by: promises.cpp.
#include <algorithm>
#include <bit>

#include "tests/sim/promises.h"
#include "tests/sim/sim_times.h"

namespace ako::sim {

// ---- who stands in for whom

void Promises::trains(PeerIndex peer) {
    trained_at_[peer] = trained_at_[peer].value_or(world_.now());
    PeerSet now = 0;
    for (PeerIndex other = 0; other < peers_.size(); ++other) {
        if (peers_[peer]->half.rows().replica().stands_in(other)) now |= peer_bit(other);
        if (other != peer) check_standing_in(peer, other);
    }
    check_scale(peer);
    const PeerSet before = std::exchange(standing_in_[peer], now);
    coverage_.saw(Event::advance, static_cast<std::uint64_t>(std::popcount(now & ~before)));
    coverage_.saw(Event::standstill, static_cast<std::uint64_t>(std::popcount(before & ~now)));
}

void Promises::round_ended(PeerIndex peer) { rounds_at_[peer].push_back(world_.now()); }

// A peer advances while its rounds move within max(4, twice its usual gap) of own rounds. What is
// heard of a round may be late by `late`, so that a gap between two of them, `shortest` to
// `longest`, may seem so much shorter or longer; and an own round takes 0.9 to 1.1 of its usual
// time.
void Promises::check_standing_in(PeerIndex peer, PeerIndex other) const {
    constexpr std::size_t enough = 12;  // rounds, until the usual gap is known to a hundredth
    const std::vector<Time>& theirs = rounds_at_[other];
    if (!scenario_.network_stands() || scenario_.rule != Rule::anchored || theirs.empty()) return;
    const Time now = world_.now();
    // A peer that joins begins with the rounds that it has heard of.
    const Time connected =
        std::max({started_at_[peer], started_at_[other], *trained_at_[peer]}) + ms(100);
    const double late = seconds_of(hop() + ms(60));  // a Status comes every 30 to 50 ms
    const double round = seconds_of(scenario_.peers[peer].round_time);
    double shortest = 1e9, longest = 0;
    for (std::size_t k = 1; k < theirs.size(); ++k) {
        const double gap = seconds_of(theirs[k] - theirs[k - 1]);
        longest = std::max(longest, gap);
        if (k + enough > theirs.size()) shortest = std::min(shortest, gap);
    }
    const bool stands_in = peers_[peer]->half.rows().replica().stands_in(other);

    const double heard_gap_max = (std::max(longest, seconds_of(theirs.front())) + late) / 0.9;
    const double patience = std::max(Roster::gap_min, 2 * heard_gap_max / round) + 1;
    const std::vector<Time>& own = rounds_at_[peer];
    const auto silent_from = theirs.back() + from_seconds(late);
    const auto rounds_since = own.end() - std::upper_bound(own.begin(), own.end(), silent_from);
    if (stands_in && static_cast<double>(rounds_since) > patience) {
        throw Violation(name("peer", peer) + name(" stands in for peer", other) +
                        ", which has made no round for " + std::to_string(rounds_since) +
                        " of its own");
    }

    const bool moves = peers_[other]->state == SimPeer::State::training && theirs.size() > enough &&
                       theirs[theirs.size() - enough] > connected;
    const bool own_pace = !scenario_.has(FaultKind::hang) && scenario_.staleness_rounds_max == 0;
    longest = std::max(longest, seconds_of(now - theirs.back()));
    const double expected = std::max(Roster::gap_min, 1.8 * (shortest - late) / (1.1 * round));
    if (moves && own_pace && !stands_in && expected >= (longest + late) / (0.9 * round) + 1) {
        throw Violation(name("peer", peer) + name(" does not stand in for peer", other) +
                        ", whose rounds move");
    }
}

// ---- who is absent

bool Promises::is_surely_absent(PeerIndex peer, PeerIndex other) const {
    const bool never = started_at_[other] == Time::max();
    if (other == peer || (!never && died_at_[other] == Time{0})) return false;
    const Time silent_from = died_at_[other] + 2 * (hop() + ms(60));  // told by others, too
    const std::vector<Time>& own = rounds_at_[peer];
    const auto drained = std::upper_bound(own.begin(), own.end(), silent_from);
    if (drained == own.end()) return false;
    return static_cast<double>(own.end() - drained) > Roster::gap_min + 2 &&
           world_.now() - *drained > 3 * life_timeout;
}

void Promises::check_scale(PeerIndex peer) const {
    // What a peer that hangs has heard it says when it goes on.
    if (!scenario_.network_stands() || scenario_.has(FaultKind::hang) ||
        scenario_.has(FaultKind::second))
        return;
    std::size_t there = 1, absent = 0;
    for (PeerIndex other = 0; other < peers_.size(); ++other) {
        there += peers_[peer]->half.rows().replica().stands_in(other);
        absent += is_surely_absent(peer, other);
    }
    const bool anchored = scenario_.rule == Rule::anchored;
    const auto n = static_cast<double>(peers_.size());
    const double least = anchored ? n / (n - static_cast<double>(absent)) : 1;
    const double most = anchored ? n / static_cast<double>(there) : 1;
    const double scale = peers_[peer]->half.meetings().scale();
    if (scale >= least - 1e-9 && scale <= most + 1e-9) return;
    throw Violation(name("peer", peer) + " scales its updates by " + std::to_string(scale) +
                    ", where " + std::to_string(least) + " to " + std::to_string(most) +
                    " makes up for who is absent");
}

}  // namespace ako::sim
