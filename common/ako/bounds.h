// What a field of a message may be, beyond its C++ type: said where the field is listed, in
// `fields` beside each struct of ako/frame.h. net/codec refuses everything else by the field's
// name. Without a bound a number is any, a float is finite, a moment is none before 0, an enum is
// up to its `last`, a RowIndex is a peer's row or `initial_row`, and a list has an entry per peer
// at most. Values; any thread.
#pragma once

#include <cstddef>

#include "ako/types.h"

namespace ako::bound {

/// A number that is a peer's place.
struct Peer {};
inline constexpr Peer peer;

/// A RowIndex that is a peer's, never `initial_row`.
struct OfPeer {};
inline constexpr OfPeer of_peer;

/// A float in 0 .. 1.
struct Share {};
inline constexpr Share share;

struct NotNegative {};
inline constexpr NotNegative not_negative;

/// A list of so many entries at most.
struct AtMost {
    std::size_t entries = peers_max;
};

/// A list of exactly so many entries, or of none.
struct AllOrNone {
    std::size_t entries = 0;
};

/// A text on one line that a terminal can show, of so many bytes at most.
struct Line {
    std::size_t bytes = 0;
};

/// As Line; the sender makes what is longer, or cannot be shown, fit.
struct FittedLine {
    std::size_t bytes = 0;
};

/// As Line, of several lines.
struct Lines {
    std::size_t bytes = 0;
};

}  // namespace ako::bound
