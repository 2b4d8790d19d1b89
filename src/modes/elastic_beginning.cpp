// See elastic_beginning.h.
#include "src/modes/elastic_beginning.h"

#include <algorithm>
#include <utility>

namespace ako {

// ---- what happens

void ElasticBeginning::session_up(PeerIndex peer) {
    untold_ &= ~peer_bit(peer);
    if (told_ && parts_.vote.epoch().has(peer)) untold_ |= peer_bit(peer);
}

void ElasticBeginning::hear(PeerIndex peer, const MemberState& state) {
    if (state.epoch == parts_.vote.epoch().number) states_[peer] = state;
}

void ElasticBeginning::epoch_changed() {
    ready_ = false;
    told_.reset();
    untold_ = 0;
    std::fill(states_.begin(), states_.end(), std::nullopt);
    if (!parts_.vote.member()) return parts_.ring.leave();
    const Epoch& epoch = parts_.vote.epoch();
    holding_ = parts_.ring.enter(epoch.number);
    parts_.settings.log("epoch " + std::to_string(epoch.number) + " of " +
                        parts_.settings.names(epoch.members()));
}

bool ElasticBeginning::begin(Time now) {
    if (!parts_.vote.member()) return true;
    if (!ready_) {
        const PeerSet members = parts_.vote.epoch().members();
        std::vector<Holding> holdings(states_.size());
        holdings[parts_.settings.self] = holding_;
        bool state = holding_.has_state(), late = holding_.late;
        for (PeerIndex peer = 0; peer < holdings.size(); ++peer) {
            const ElasticPeer& it = parts_.peers[peer];
            if (peer == parts_.settings.self || !(members & peer_bit(peer))) continue;
            if (!it.up || !parts_.peers.is_member(peer) || !parts_.peers.speaks_of_epoch(peer))
                return true;
            holdings[peer] = it.said.holding;
            state |= it.said.holding.has_state();
            late |= it.said.holding.late;
        }
        if (!state && late) return false;
        parts_.ring.begin(members, holdings);
        ready_ = true;
        pace_.sign_of_epoch(now);
        post_place();
        if (!state) parts_.epochs.post_entry({0, members, {}});
    }
    if (all_ready()) parts_.ring.go();
    return true;
}

// All that held the state have said what they know: then they are past that sync, and nobody needs
// a sum of it from this peer.
void ElasticBeginning::come_in() {
    ElasticRing& ring = parts_.ring;
    if (!parts_.vote.member() || !ready_ || ring.has_state() || !ring.filled()) return;
    Entry entry{ring.entry_sync(), 0, {}};
    for (PeerIndex peer = 0; peer < states_.size(); ++peer) {
        if (!parts_.vote.epoch().has(peer) || !parts_.peers[peer].said.holding.has_state())
            continue;
        if (peer == parts_.settings.self) continue;
        if (!states_[peer]) return;
        entry.states.push_back(*states_[peer]);
    }
    ring.come_in();
    post_place();
    parts_.epochs.post_entry(std::move(entry));
}

void ElasticBeginning::tell_newcomers() {
    std::optional<MemberState> told = parts_.epochs.take_told();
    if (!told || told->epoch != parts_.vote.epoch().number) return;
    told_ = std::move(told);
    for (PeerIndex peer = 0; peer < states_.size(); ++peer) {
        const ElasticPeer& it = parts_.peers[peer];
        if (!parts_.vote.epoch().has(peer) || !it.up || it.said.holding.has_state()) continue;
        untold_ |= peer_bit(peer);
        parts_.transport.wake(peer);
    }
}

void ElasticBeginning::look_whether_all_ended(Time now) {
    if (parts_.vote.member() || parts_.vote.epoch().number == 0) return;
    const bool over = parts_.peers.up() == 0 && parts_.peers.reach(now).unaccounted == 0;
    if (std::exchange(run_is_over_, over) != over) post_place();
}

void ElasticBeginning::post_place() {
    EpochPlace place{.epoch = parts_.vote.epoch().number,
                     .members = parts_.vote.epoch().members(),
                     .in = parts_.vote.member() && parts_.ring.has_state(),
                     .over = run_is_over_,
                     .asked_for = std::nullopt};
    if (place.in && ready_) place.asked_for = parts_.ring.asked_for();
    parts_.epochs.post(place);
}

// ---- what is so

bool ElasticBeginning::all_ready() const {
    if (!ready_) return false;
    for (PeerIndex peer = 0; peer < states_.size(); ++peer) {
        if (peer == parts_.settings.self || !parts_.vote.epoch().has(peer)) continue;
        if (!parts_.peers.speaks_of_epoch(peer) || !parts_.peers[peer].said.ready) return false;
    }
    return true;
}

std::optional<OutFrame> ElasticBeginning::next(PeerIndex peer) {
    if (!told_ || !(untold_ & peer_bit(peer))) return std::nullopt;
    untold_ &= ~peer_bit(peer);
    return OutFrame{*told_, {}, {}};
}

}  // namespace ako
