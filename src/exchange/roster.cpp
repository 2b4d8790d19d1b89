// Merging by maximum: what is heard of rounds and samples may come in any order, from anyone.
#include "src/exchange/roster.h"

#include <algorithm>

#include "ako/exchange.h"

namespace ako {

void Roster::set_presence(PeerIndex peer, Presence presence) {
    PeerView& view = peers_[peer];
    if (view.presence == presence) return;
    if (view.presence == Presence::left && presence != Presence::up) return;  // a Bye stands
    const bool is_missed = presence == Presence::lost || presence == Presence::gone;
    if (is_missed && view.leaving()) {  // as it had said, though its Bye did not come
        view.left_at = samples();
        view.presence = Presence::left;
        view.heard = false;
        return;
    }
    if (presence == Presence::lost) {
        view.ever_lost = true;
        view.moved = false;
        if (view.presence == Presence::gone) return;  // which says more, and is said only once
    }
    view.presence = presence;
    view.heard = false;
    if (presence != Presence::up) return;
    view.left_at.reset();
    view.farewell = {};
}

void Roster::begin_session(PeerIndex peer, bool new_process) {
    PeerView& view = peers_[peer];
    view.answers.begin_session();
    view.clock = {};  // it may have stood still meanwhile, as it does in suspend
    view.heard = false;
    if (!new_process) return;
    view.returned = true;
    view.status.reset();
    view.final_round.reset();
    view.moved = false;
    view.usual_gap = 0;
}

void Roster::set_own(Round round, std::uint64_t samples) {
    own_known_ = true;
    peers_[self_].announced = round;
    peers_[self_].samples = samples;
}

void Roster::restore(const std::vector<Progress>& progress) {
    for (PeerIndex peer = 0; peer < peers_.size(); ++peer) {
        peers_[peer].relayed_round = progress[peer].round;
        peers_[peer].samples = progress[peer].samples;
    }
}

void Roster::heard_round(PeerIndex peer, Round round, Round own_round) {
    PeerView& view = peers_[peer];
    if (round <= view.announced) return;
    view.announced = round;
    if (view.moved) {
        // A first move has no gap before it. A third of the newest gap: follows a change in a few
        // moves.
        const auto gap = static_cast<double>(own_round - view.own_round_at_move);
        view.usual_gap += (gap - view.usual_gap) / 3;
    }
    view.moved = true;
    view.own_round_at_move = own_round;
}

void Roster::heard_status(PeerIndex peer, const Status& status, Time arrived_at, Round own_round) {
    PeerView& view = peers_[peer];
    view.clock.add_arrival(status.heartbeat.sent_at, arrived_at);
    if (status.heartbeat.echo_sent_at != Time{0}) {
        const Time round_trip =
            arrived_at - status.heartbeat.echo_sent_at - status.heartbeat.echo_held;
        view.clock.add_round_trip(round_trip);
        view.answers.add_round_trip(round_trip);
    }
    view.answers.add_round(status.standing.progress[peer].round, arrived_at);
    view.final_round = status.standing.final_round;
    if (view.final_round) view.answers.end_rounds();
    if (peer < status.rows.size()) {  // only the mode ako says so
        view.incarnation = status.rows[row_of(peer)].highest.incarnation;
    }
    for (PeerIndex other = 0; other < peers_.size(); ++other) {
        if (other == self_ && own_known_) continue;
        // A peer that can be reached says so itself, and knows best.
        if (other != self_ && other != peer && reachable(other)) continue;
        const Progress& progress = status.standing.progress[other];
        peers_[other].samples = std::max(peers_[other].samples, progress.samples);
        peers_[other].relayed_round = std::max(peers_[other].relayed_round, progress.round);
        if (other == peer) heard_round(other, progress.round, own_round);
    }
    view.status = status;
    view.heard = true;
    view.returned = false;
}

void Roster::heard_bye(PeerIndex peer, const Bye& bye) {
    set_presence(peer, Presence::left);
    peers_[peer].final_round = bye.final_round;
    // A peer whose program failed may have finished with the others all the same.
    const auto& status = peers_[peer].status;
    if (status && status->standing.digest) return;
    if (bye.leaves) peers_[peer].left_at = samples();
    peers_[peer].farewell = bye.because_of ? Farewell{EndCause::broken, 0, ""} : bye.farewell;
}

bool Roster::streams(PeerIndex peer, Version version) const {
    const PeerView& view = peers_[peer];
    if (!reachable(peer) || view.joins()) return false;
    if (!view.status || view.status->heartbeat.process_id == 0) return true;
    const std::uint64_t process = process_of(view.status->heartbeat.process_id);
    return process_of(view.incarnation) == process || process_of(version.incarnation) == process;
}

Time Roster::answer_time() const {
    std::optional<Time> longest;
    for (PeerIndex peer = 0; peer < peers_.size(); ++peer) {
        if (peer == self_ || !reachable(peer)) continue;
        longest = std::max(longest.value_or(Time{0}), answer_time(peer));
    }
    return longest.value_or(answers_within_.value_or(AnswerTime::first));
}

bool Roster::advancing(PeerIndex peer, Round own_round) const {
    const PeerView& view = peers_[peer];
    if (peer == self_ || !view.live() || !view.moved || view.final_round) return false;
    const double allowed = std::max(gap_min, 2 * view.usual_gap);
    return static_cast<double>(own_round - view.own_round_at_move) <= allowed;
}

std::size_t Roster::live_count() const {
    return static_cast<std::size_t>(std::count_if(
        peers_.begin(), peers_.end(), [](const PeerView& view) { return view.live(); }));
}

PeerIndex Roster::lowest_live() const {
    for (PeerIndex peer = 0; peer < peers_.size(); ++peer) {
        const PeerView& view = peers_[peer];
        if (view.live() && !view.joins() && !view.leaving()) return peer;
    }
    return self_;
}

PeerSet Roster::reached() const {
    PeerSet reached = 0;
    for (PeerIndex peer = 0; peer < peers_.size(); ++peer) {
        if (peer != self_ && reachable(peer)) reached |= peer_bit(peer);
    }
    return reached;
}

std::uint64_t Roster::samples() const {
    std::uint64_t sum = 0;
    for (const PeerView& view : peers_) sum += view.samples;
    return sum;
}

std::uint64_t Roster::samples_by_all(PeerIndex peer) const {
    std::uint64_t most = peers_[peer].samples;
    for (const PeerView& view : peers_) {
        if (view.status) most = std::max(most, view.status->standing.progress[peer].samples);
    }
    return most;
}

std::vector<Progress> Roster::progress() const {
    std::vector<Progress> progress;
    for (const PeerView& view : peers_) progress.push_back({view.known_round(), view.samples});
    return progress;
}

std::vector<EarlyLeave> Roster::left_early(std::uint64_t sample_budget) const {
    std::vector<EarlyLeave> found;
    for (PeerIndex peer = 0; peer < peers_.size(); ++peer) {
        const PeerView& view = peers_[peer];
        if (view.presence != Presence::left || !view.left_at) continue;
        const double budget = static_cast<double>(std::max<std::uint64_t>(1, sample_budget));
        const double share = static_cast<double>(*view.left_at) / budget;
        // A process that left on its way into the run has made none; an earlier one may have made
        // some.
        const Round last = std::max(view.final_round.value_or(0), view.relayed_round);
        found.push_back({peer, last, std::min(1.0, share), view.farewell});
    }
    return found;
}

LinkView Roster::link_view(PeerIndex peer) const {
    const PeerView& view = peers_[peer];
    LinkView link;
    link.peer = peer;
    link.presence = view.presence;
    link.live = view.live();
    link.round = view.known_round();
    link.samples = view.samples;
    if (view.status && view.announced > 0) link.loss = view.status->standing.loss;
    if (view.presence == Presence::left && view.farewell.failed()) link.farewell = view.farewell;
    return link;
}

}  // namespace ako
