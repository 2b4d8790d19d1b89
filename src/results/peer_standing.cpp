// See peer_standing.h.
#include "src/results/peer_standing.h"

#include <array>
#include <cstddef>

namespace ako {
namespace {

struct Named {
    const char* word;
    const char* words;
};

/// In the order of the enumeration.
constexpr std::array<Named, 9> names = {{
    {"absent", "not there yet"},
    {"connected", "connected"},
    {"joining", "joins the run"},
    {"advancing", "training"},
    {"still", "connected, but its rounds do not move"},
    {"down", "not connected; lost if it stays so"},
    {"lost", "lost"},
    {"gone", "gone: nobody listens at its address"},
    {"left", "has left"},
}};

const Named& of(PeerStanding standing) { return names.at(static_cast<std::size_t>(standing)); }

}  // namespace

PeerStanding standing_of(Presence presence, bool advancing, bool joining, Round round) {
    switch (presence) {
        case Presence::absent:
            return PeerStanding::absent;
        case Presence::up:
            if (advancing) return PeerStanding::advancing;
            if (joining) return PeerStanding::joining;
            return round == 0 ? PeerStanding::connected : PeerStanding::still;
        case Presence::down:
            return PeerStanding::down;
        case Presence::lost:
            return PeerStanding::lost;
        case Presence::gone:
            return PeerStanding::gone;
        case Presence::left:
            return PeerStanding::left;
    }
    return PeerStanding::absent;
}

const char* word(PeerStanding standing) { return of(standing).word; }

const char* words(PeerStanding standing) { return of(standing).words; }

}  // namespace ako
