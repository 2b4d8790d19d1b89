// See peer_standing.h.
#include "src/results/peer_standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace ako {
namespace {

struct Named {
    const char* word;
    const char* words;
};

/// In the order of the enumeration.
constexpr std::array<Named, 11> names = {{
    {"absent", "not there yet"},
    {"connected", "connected"},
    {"joining", "joins the run"},
    {"advancing", "training"},
    {"slow", "training, too slowly to be waited for"},
    {"still", "connected, but its rounds have not moved"},
    {"down", "not connected"},
    {"lost", "lost"},
    {"gone", "gone"},
    {"left", "has left"},
    {"ended", "has ended"},
}};

const Named& of(PeerStanding standing) { return names.at(static_cast<std::size_t>(standing)); }

}  // namespace

PeerStanding standing_of(Presence presence, bool advancing, bool left_out, bool joining,
                         Round round) {
    switch (presence) {
        case Presence::absent:
            return PeerStanding::absent;
        case Presence::up:
            if (advancing) return left_out ? PeerStanding::slow : PeerStanding::advancing;
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

bool is_trouble(PeerStanding standing) {
    return standing == PeerStanding::still || standing == PeerStanding::down ||
           standing == PeerStanding::lost || standing == PeerStanding::gone ||
           standing == PeerStanding::ended;
}

std::string standing_text(PeerStanding standing, double seconds, const std::string& why) {
    if (!is_trouble(standing)) return words(standing);
    if (standing == PeerStanding::ended && !why.empty()) return why;
    std::string text = fmt::format("{} for {:.0f} s", words(standing), std::max(0.0, seconds));
    if (!why.empty()) text += ": " + why;
    return text;
}

}  // namespace ako
