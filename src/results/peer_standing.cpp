// See peer_standing.h.
#include "src/results/peer_standing.h"

#include <array>
#include <cstddef>

namespace ako {
namespace {

struct Named {
    PeerStanding standing;
    const char* word;
    const char* words;
};

constexpr std::array<Named, 9> names = {{
    {PeerStanding::absent, "absent", "not there yet"},
    {PeerStanding::connected, "connected", "connected"},
    {PeerStanding::joining, "joining", "joins the run"},
    {PeerStanding::advancing, "advancing", "training"},
    {PeerStanding::still, "still", "connected, but its rounds do not move"},
    {PeerStanding::down, "down", "not connected; lost if it stays so"},
    {PeerStanding::lost, "lost", "lost"},
    {PeerStanding::gone, "gone", "gone: nobody listens at its address"},
    {PeerStanding::left, "left", "has left"},
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
