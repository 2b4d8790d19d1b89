// What one peer knows of another's being there: the states, and the word for each in metrics and on
// the screen. Values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ako/types.h"

namespace ako {

enum class Presence : std::uint8_t {
    absent,  ///< never seen
    up,      ///< a session stands
    down,    ///< its session ended, within the life time-out
    lost,    ///< no byte for the life time-out
    gone,    ///< lost, and nobody listens at its address: see src/exchange/departures.h
    left,    ///< said Bye
};

/// All of them, in the order of the enumeration.
inline constexpr std::array<Presence, 6> presences = {
    Presence::absent, Presence::up, Presence::down, Presence::lost, Presence::gone, Presence::left};

constexpr const char* word(Presence presence) {
    switch (presence) {
        case Presence::absent:
            return "absent";
        case Presence::up:
            return "up";
        case Presence::down:
            return "down";
        case Presence::lost:
            return "lost";
        case Presence::gone:
            return "gone";
        case Presence::left:
            return "left";
    }
    return "";
}

constexpr std::optional<Presence> presence_of(std::string_view text) {
    for (const Presence presence : presences) {
        if (text == word(presence)) return presence;
    }
    return std::nullopt;
}

/// What the network side tells the compute side of one peer.
struct PresenceChange {
    PeerIndex peer = 0;
    Presence presence = Presence::absent;
};

}  // namespace ako
