// Headers of frames as bytes: the structs of ako/frame.h to and from the messages of wire.capnp.
// Pure functions, any thread. Cap'n Proto stays behind them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ako/error.h"
#include "ako/frame.h"

namespace ako {

/// The prefix and the header of a frame whose payload has `payload_bytes` (sent after them).
/// A header beyond the limits of net/frame_prefix.h is a bug of the caller.
std::vector<std::byte> encode_frame_head(const Header& header, std::size_t payload_bytes);

/// The header in these bytes (without the prefix). Error::Kind::wire, saying what is wrong, if they
/// are not one, or if a value cannot be meant: a message or an enum of no known name, a peer beyond
/// `peers_max`, a list or text beyond its limit, a text with control characters, a digest that is
/// not 32 bytes, a float that is not finite, a share outside 0 .. 1, a moment before 0 or so late
/// that differences could overflow. What needs the run to judge is left to FrameSink::refuse.
/// Never throws, whatever the bytes.
Result<Header> decode_header(std::span<const std::byte> bytes);

/// The latest moment and the longest duration that decode_header takes: 146 years, so that the sum
/// or difference of two still fits.
inline constexpr Time time_max{std::int64_t{1} << 62};

}  // namespace ako
