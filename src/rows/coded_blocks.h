// How blocks of a row lie in a payload in fewer bytes than float32, where their values are on grids
// (Grid). Each block in turn is
//
//     bytes of a value (1, 2 or 4), exponent of the step (int8), the values, little-endian
//
// and zeros at the end up to a multiple of four bytes. The values come out bitwise as they went in;
// what is on no grid travels as float32. Functions; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ako/payload.h"

namespace ako {

/// What such a payload has at least: a byte for each element and two for each block.
constexpr std::size_t coded_bytes_min(std::size_t elements, std::size_t blocks) {
    return elements + 2 * blocks;
}

/// Appends one block of finite values, [element count], to `out`, which `end_blocks` completes.
void encode_block(std::span<const float> values, std::vector<std::byte>& out);
void end_blocks(std::vector<std::byte>& out);

/// Takes one block off the front of `payload` into `values`, [element count]. False if that is not
/// how a block lies; then nothing more can be taken.
bool decode_block(std::span<const std::byte>& payload, std::span<float> values);
/// After the last block: is what is left the zeros at the end?
bool at_end_of_blocks(std::span<const std::byte> payload);

}  // namespace ako
