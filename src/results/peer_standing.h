// How one peer stands as another sees it: the one value that screen, page, metrics and summary show
// of it. Made of what the exchange knows, in one place. Values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "ako/presence.h"
#include "ako/types.h"

namespace ako {

enum class PeerStanding : std::uint8_t {
    absent,     ///< not there yet
    connected,  ///< there, and has made no round
    joining,    ///< takes in the rows of a run that is under way
    advancing,  ///< its rounds move on
    slow,       ///< they do, too slowly for the others to wait for them
    still,      ///< there, but its rounds do not move
    down,       ///< its session ended; lost if it stays so
    lost,       ///< not heard from for the life time-out
    gone,       ///< lost, and nobody listens at its address
    left,       ///< said goodbye
    ended,      ///< likewise, and that it ended by a failure
};

inline constexpr std::array<PeerStanding, 11> peer_standings = {
    PeerStanding::absent, PeerStanding::connected, PeerStanding::joining, PeerStanding::advancing,
    PeerStanding::slow,   PeerStanding::still,     PeerStanding::down,    PeerStanding::lost,
    PeerStanding::gone,   PeerStanding::left,      PeerStanding::ended};

/// `left_out`: nobody waits for it. `round`: its newest that was heard of.
PeerStanding standing_of(Presence presence, bool advancing, bool left_out, bool joining,
                         Round round);

/// In metrics and status.
const char* word(PeerStanding standing);
/// For people: "connected, but its rounds have not moved".
const char* words(PeerStanding standing);
/// Is something wrong with it?
bool is_trouble(PeerStanding standing);
/// The same words, and of trouble for how long it has been so and, if that is known, why: "lost for
/// 12 s: no byte for 2000 ms".
std::string standing_text(PeerStanding standing, double seconds, const std::string& why);

}  // namespace ako
