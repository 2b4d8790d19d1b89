// See elastic_epochs.h.
#include "src/modes/elastic_epochs.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ako {

ElasticEpochs::ElasticEpochs(ElasticParts& parts, const ElasticPace& pace,
                             const ElasticBeginning& beginning)
    : parts_(parts),
      pace_(pace),
      beginning_(beginning),
      life_timeout_(parts.settings.times().life_timeout),
      turn_first_(parts.settings.times().heartbeat),
      turn_(turn_first_) {}

void ElasticEpochs::session_down(PeerIndex peer) {
    if (parts_.vote.member() && parts_.peers.is_member(peer)) broken_ = true;
}

void ElasticEpochs::epoch_changed() {
    broken_ = false;
    wanted_since_.reset();
    proposed_at_.reset();
    followed_ = {};
    turn_ = turn_first_;
}

// ---- who is to be in

bool ElasticEpochs::stays_away(PeerIndex peer, Time now) const {
    return parts_.peers.stays_away(peer) ||
           (parts_.peers[peer].up && pace_.is_stalled(peer, beginning_.ready(), now));
}

bool ElasticEpochs::asks_to_come_in(PeerIndex peer) const {
    const ElasticPeer& it = parts_.peers[peer];
    return it.up && it.heard && it.said.wants_in;
}

ElasticEpochs::View ElasticEpochs::view(Time now) const {
    const ElasticPeers& peers = parts_.peers;
    const PeerIndex self = parts_.settings.self;
    View view;
    view.there = peer_bit(self);
    const PeerSet members = parts_.vote.epoch().members();
    bool settled = beginning_.all_ready() && parts_.ring.has_state() && !finishing_;
    for (PeerIndex peer = 0; peer < peers.count(); ++peer) {
        if (peer == self || !(members & peer_bit(peer))) continue;
        if (stays_away(peer, now)) {
            view.away |= peer_bit(peer);
        } else if (peers[peer].up) {
            view.there |= peer_bit(peer);
            view.broken |= peers.speaks_of_epoch(peer) && peers[peer].said.broken;
            settled &= peers[peer].said.whole;
        }
    }
    if (!settled || view.there != members) return view;
    for (PeerIndex peer = 0; peer < peers.count(); ++peer) {
        if ((members & peer_bit(peer)) || !asks_to_come_in(peer) || pace_.was_tried(peer)) continue;
        bool heard_by_all = (members & ~peers[peer].said.hears) == 0;
        for (PeerIndex other = 0; other < peers.count(); ++other)
            if (other != self && (members & peer_bit(other)))
                heard_by_all &= peers.hear_each_other(peer, other);
        if (heard_by_all) view.entrants |= peer_bit(peer);
    }
    return view;
}

std::optional<PeerSet> ElasticEpochs::wanted(Time now) {
    PeerSet next = 0;
    bool waits = false;
    if (parts_.vote.epoch().number == 0) {
        next = founders(now);
        if (next == 0) return std::nullopt;
    } else {
        if (!parts_.vote.member()) return std::nullopt;
        const View seen = view(now);
        if (!broken_ && !seen.broken && seen.away == 0 && seen.entrants == 0) {
            wanted_since_.reset();
            return std::nullopt;
        }
        next = seen.there | seen.entrants;
        waits = (parts_.vote.epoch().members() & ~seen.there & ~seen.away) != 0;
    }
    if (!wanted_since_) wanted_since_ = now;
    if (waits) return std::nullopt;
    const bool waited = now - *wanted_since_ >= life_timeout_;
    for (PeerIndex one = 0; one < parts_.peers.count(); ++one) {
        for (PeerIndex other = one + 1; other < parts_.peers.count(); ++other) {
            const PeerSet both = peer_bit(one) | peer_bit(other);
            if ((next & both) != both || (both & peer_bit(parts_.settings.self))) continue;
            if (parts_.peers.hear_each_other(one, other)) continue;
            if (!waited) return std::nullopt;
            next &= ~peer_bit(other);
        }
    }
    return next;
}

PeerSet ElasticEpochs::founders(Time now) const {
    const ModeSettings& settings = parts_.settings;
    if (!parts_.epochs.asks()) return 0;
    PeerSet found = peer_bit(settings.self);
    for (PeerIndex peer = 0; peer < parts_.peers.count(); ++peer)
        if (peer != settings.self && asks_to_come_in(peer)) found |= peer_bit(peer);
    const auto count = static_cast<std::size_t>(std::popcount(found));
    if (count == parts_.peers.count()) return found;
    const bool waited = now - parts_.peers.first_poll() >= settings.times().start_wait;
    const std::size_t enough = std::max(settings.start_peers_min(), settings.majority());
    return waited && count >= enough ? found : 0;
}

// ---- who proposes it

bool ElasticEpochs::turn(Time now) {
    const EpochVote& vote = parts_.vote;
    if (vote.promised() != followed_) {
        followed_ = vote.promised();
        followed_at_ = now;
    }
    int before = 0;
    for (PeerIndex peer = 0; peer < parts_.settings.self; ++peer) {
        const bool votes = vote.epoch().number == 0 || parts_.peers.is_member(peer);
        if (votes && parts_.peers[peer].up) ++before;
    }
    if (now - *wanted_since_ < before * turn_) return false;
    if (!followed_.none() && now - followed_at_ < turn_) return false;  // its own or another's
    return true;
}

bool ElasticEpochs::propose(Time now) {
    const std::optional<PeerSet> members = wanted(now);
    if (!members || !turn(now)) return false;
    const ModeSettings& settings = parts_.settings;
    Epoch next{parts_.vote.epoch().number + 1, std::vector<std::uint64_t>(parts_.peers.count())};
    for (PeerIndex peer = 0; peer < parts_.peers.count(); ++peer) {
        if (!(*members & peer_bit(peer))) continue;
        next.processes[peer] =
            peer == settings.self ? settings.process_id : parts_.peers[peer].process;
    }
    if (proposed_at_) turn_ = std::min(2 * turn_, std::max(life_timeout_, turn_first_));
    proposed_at_ = now;
    parts_.vote.propose(std::move(next));
    return true;
}

std::optional<PeerSet> ElasticEpochs::gives_up_without(Time now) const {
    const Time patience = parts_.settings.times().finish_timeout;
    if (!parts_.vote.member() || !wanted_since_ || now - *wanted_since_ < patience)
        return std::nullopt;
    return parts_.vote.epoch().members() & ~view(now).there;
}

}  // namespace ako
