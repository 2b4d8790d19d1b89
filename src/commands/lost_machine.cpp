// See lost_machine.h.
#include "src/commands/lost_machine.h"

#include <algorithm>

#include "src/results/peer_standing.h"

namespace ako {
namespace {

/// Lines come once a second. A peer that is silent for longer than this has more than a long round.
constexpr double silence_s = 10;
/// Than this, what a peer does alone at the end: it writes, and evaluates.
constexpr double silence_alone_s = 30;
/// Whose newest line is older knows nothing of now.
constexpr double recent_s = 5;

bool is_heard(const PeerState& peer, double now, double within_s) {
    return !peer.exit && peer.heard && now - peer.heard_at <= within_s;
}

}  // namespace

bool has_lost_machine(const std::vector<PeerState>& peers, std::size_t peer, double now) {
    const PeerState& own = peers[peer];
    if (own.exit || !own.heard || is_heard(own, now, silence_s)) return false;
    bool told = false;
    const bool alone = std::all_of(peers.begin(), peers.end(), [&](const PeerState& other) {
        return other.exit || !other.heard || other.name == own.name;
    });
    if (alone) return !is_heard(own, now, silence_alone_s);
    for (const PeerState& other : peers) {
        if (other.name == own.name || !is_heard(other, now, recent_s)) continue;
        const auto& links = other.line.links;
        const auto link = std::find_if(links.begin(), links.end(),
                                       [&](const LinkLine& it) { return it.peer == own.name; });
        if (link == links.end()) continue;
        const PeerStanding standing = standing_of(*link);
        if (standing != PeerStanding::lost && standing != PeerStanding::gone) return false;
        told = true;
    }
    return told;
}

}  // namespace ako
