// Headers of frames as bytes: the messages of ako/frame.h, each by its list of fields. This file
// owns the format, all of it little-endian:
//
//   header       a Hello: `hello_opening` and its fields; any other: 64 + its place in `Header` in
//                one byte and its fields; then zero bytes up to a multiple of 8
//   a struct     its fields, in the order of its list
//   a number, a float, an enum, a bool (0 or 1), an entry of a Digest: the bytes of its type
//   a Time       nanoseconds, in 8 bytes; a RowIndex: its place, in 4
//   a list, a text, PeerCounts (up to the last that is not 0): how many in 4 bytes, then those
//   an optional  a bool, then the value if there is one
//
// Every value has one form, so that bytes that are read and written again are the same. A change of
// the bytes raises `protocol_version`. Pure functions, any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ako/error.h"
#include "ako/frame.h"

namespace ako {

/// What every Hello of every protocol begins with, its number follows in 4 bytes: so that peers of
/// two versions read each other's number, whatever else has changed. Up to protocol 10 a header was
/// a message of Cap'n Proto, and this is how that wrote one.
inline constexpr std::array<std::uint8_t, 32> hello_opening = {
    0, 0, 0, 0, 5, 0, 0, 0,   // one segment of five words:
    0, 0, 0, 0, 1, 0, 1, 0,   //   the header has a word and a pointer
    0, 0, 0, 0, 0, 0, 0, 0,   //   the word: it is a Hello
    0, 0, 0, 0, 2, 0, 0, 0};  //   the pointer: to the two words that follow, the number first

/// The newest protocol whose peers read Cap'n Proto, and nothing of ours but a Hello's number.
inline constexpr std::uint32_t older_protocol = 10;

/// A header without prefix. A value beyond its bound, or a header beyond the limits of
/// net/frame_prefix.h, is a bug of the caller.
std::vector<std::byte> encode_header(const Header& header);

/// The prefix and the header of a frame whose payload has `payload_bytes` (sent after them).
std::vector<std::byte> encode_frame_head(const Header& header, std::size_t payload_bytes);

/// The header in these bytes (without the prefix). Returns Error::Kind::wire if they are not one,
/// are too few or too many, or if a value is beyond its bound; the error names the field. What
/// needs the run to judge is left to TransportHost::refuse. Only the number is read of a Hello of
/// another protocol, and a Reject of `older_protocol` is one for the protocol. Never throws,
/// whatever the bytes, and allocates no more than some times their number.
Result<Header> decode_header(std::span<const std::byte> bytes);

/// The latest moment and the longest duration that decode_header takes: 146 years, so that the sum
/// or difference of two still fits.
inline constexpr Time time_max{std::int64_t{1} << 62};

}  // namespace ako
