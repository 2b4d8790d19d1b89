// Turns: in which of them which two peers measure the link between them, so that every peer is in
// one pair at a time and all pairs have had their turn after the fewest. The circle method of
// tournaments. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ako/types.h"

namespace ako {

/// So many turns for so many peers; none for one.
constexpr std::uint32_t turn_count(std::size_t peers) {
    return static_cast<std::uint32_t>(peers < 2 ? 0 : peers - 1 + peers % 2);
}

/// With whom `peer` is in this turn, 1 .. turn_count; nothing where it sits out, as of an odd
/// number of peers one does.
constexpr std::optional<PeerIndex> partner_in(std::uint32_t turn, PeerIndex peer,
                                              std::size_t peers) {
    const std::uint32_t circle = turn_count(peers);  // odd; who is beyond it stands in the middle
    const auto in_circle = [&](std::uint64_t place) {
        return static_cast<PeerIndex>(place % circle);
    };
    // Who sums up with itself to the turn is opposite the middle; (circle + 1) / 2 is a half.
    const PeerIndex opposite = in_circle(std::uint64_t{turn} * (circle + 1) / 2);
    PeerIndex found = in_circle(std::uint64_t{turn} + circle - peer % circle);
    if (peer == circle) found = opposite;
    if (peer == opposite) found = static_cast<PeerIndex>(circle);
    if (found >= peers) return std::nullopt;
    return found;
}

}  // namespace ako
