// See elastic_pace.h.
#include "src/modes/elastic_pace.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ako {

ElasticPace::ElasticPace(ElasticParts& parts)
    : parts_(parts),
      life_timeout_(parts.settings.times().life_timeout),
      hang_patience_(parts.settings.times().finish_timeout * 3 / 4),
      paces_(parts.settings.peer_count()) {}

// ---- what happens

void ElasticPace::poll(Round own_round, Time now) {
    own_round_ = own_round;
    // A newcomer can take something from when this peer's round is over, which may be long after
    // the epoch began.
    for (PeerIndex peer = 0; peer < paces_.size(); ++peer)
        if (!parts_.ring.owes(peer)) paces_[peer].moved_at = now;
}

void ElasticPace::hear(PeerIndex peer, const Membership& said, Time at) {
    if (said.taken <= parts_.peers[peer].said.taken) return;
    paces_[peer].moved_at = at;
    parts_.board.sign_came(at);
}

void ElasticPace::hear(PeerIndex peer, Round round, Time at) {
    if (round <= std::exchange(paces_[peer].round, round)) return;
    paces_[peer].hangs = false;
    parts_.board.sign_came(at);
}

void ElasticPace::epoch_changed(Time now) {
    for (PeerIndex peer = 0; peer < paces_.size(); ++peer) {
        Pace& pace = paces_[peer];
        pace.hangs = false;
        pace.moved_at = now;
        const bool stays = (members_before_ & peer_bit(peer)) != 0;
        if (stays || !parts_.peers.is_member(peer)) continue;
        pace.taken_in = parts_.peers[peer].process;
        pace.taken_in_at = own_round_;
    }
    members_before_ = parts_.vote.epoch().members();
    if (std::exchange(round_of_epoch_, own_round_) != own_round_) epochs_without_round_ = 0;
    ++epochs_without_round_;
}

void ElasticPace::sign_of_epoch(Time now) {
    // Everybody may come and go a few times at once.
    constexpr std::size_t times_each = 4;
    if (epochs_without_round_ <= times_each * paces_.size()) parts_.board.sign_came(now);
}

// In lockstep nobody is ahead of another by more than a round, and who computes comes to the round
// of the others. Fewer than are to train stand still on purpose.
void ElasticPace::look_for_the_hung(Time now) {
    if (now - parts_.board.newest_sign_at() < hang_patience_) return;
    if (!parts_.ring.has_state() || !members_train()) return;
    Round newest = own_round_;
    for (PeerIndex peer = 0; peer < paces_.size(); ++peer)
        if (parts_.peers.is_member(peer)) newest = std::max(newest, paces_[peer].round);
    for (PeerIndex peer = 0; peer < paces_.size(); ++peer)
        paces_[peer].hangs |= parts_.peers[peer].said.whole && paces_[peer].round < newest;
}

// ---- what is so

bool ElasticPace::is_stalled(PeerIndex peer, bool ready, Time now) const {
    if (paces_[peer].hangs) return true;
    // It comes in, and takes nothing of what waits for it.
    return ready && parts_.peers.speaks_of_epoch(peer) && !parts_.peers[peer].said.whole &&
           parts_.ring.owes(peer) && now - paces_[peer].moved_at > life_timeout_;
}

bool ElasticPace::was_tried(PeerIndex peer) const {
    // Fewer than are to train make no round without it.
    if (!members_train()) return false;
    const Pace& pace = paces_[peer];
    return pace.taken_in == parts_.peers[peer].process && pace.taken_in_at == own_round_;
}

bool ElasticPace::members_train() const {
    const auto members = static_cast<std::size_t>(std::popcount(parts_.vote.epoch().members()));
    return members >= parts_.settings.start_peers_min();
}

}  // namespace ako
