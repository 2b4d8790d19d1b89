// See coded_blocks.h.
#include "src/rows/coded_blocks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "src/rows/grid.h"

namespace ako {
namespace {

constexpr std::size_t block_head_bytes = 2;

/// False if some value is not on the grid; then `out` means nothing.
template <class Code>
bool encode(std::span<const float> values, const Grid& grid, std::byte* out) {
    std::uint32_t differences = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
        const float whole = grid.whole(values[k]);
        differences |= std::bit_cast<std::uint32_t>(whole * grid.step()) ^
                       std::bit_cast<std::uint32_t>(values[k]);  // -0 is not 0
        const auto code = static_cast<Code>(whole);
        std::memcpy(out + k * sizeof(Code), &code, sizeof(Code));
    }
    return differences == 0;
}

template <class Code>
void decode(const std::byte* from, float step, std::span<float> values) {
    for (std::size_t k = 0; k < values.size(); ++k) {
        Code code;
        std::memcpy(&code, from + k * sizeof(Code), sizeof(Code));
        values[k] = static_cast<float>(code) * step;
    }
}

/// Most blocks that are on no grid show it at once.
bool may_be_on(const Grid& grid, std::span<const float> values) {
    const auto on_grid = [&grid](float value) { return grid.rounded(value) == value; };
    const std::size_t looked_at = std::min<std::size_t>(values.size(), 16);
    return std::ranges::all_of(values.first(looked_at), on_grid);
}

}  // namespace

void encode_block(std::span<const float> values, std::vector<std::byte>& out) {
    const std::size_t first = out.size();
    const float largest = largest_of(values);
    for (const unsigned bytes : {1u, 2u}) {
        const std::optional<Grid> grid = Grid::of(largest, bytes);
        if (!grid || !may_be_on(*grid, values)) continue;
        out.resize(first + block_head_bytes + bytes * values.size());
        out[first] = static_cast<std::byte>(bytes);
        out[first + 1] = static_cast<std::byte>(static_cast<std::int8_t>(grid->exponent()));
        std::byte* to = out.data() + first + block_head_bytes;
        const bool exact = bytes == 1 ? encode<std::int8_t>(values, *grid, to)
                                      : encode<std::int16_t>(values, *grid, to);
        if (exact) return;
    }
    out.resize(first + block_head_bytes + payload_bytes_of(values.size()));
    out[first] = static_cast<std::byte>(sizeof(float));
    out[first + 1] = std::byte{0};
    std::memcpy(out.data() + first + block_head_bytes, values.data(), values.size_bytes());
}

void end_blocks(std::vector<std::byte>& out) { out.resize((out.size() + 3) / 4 * 4); }

bool decode_block(std::span<const std::byte>& payload, std::span<float> values) {
    if (payload.size() < block_head_bytes) return false;
    const auto bytes = static_cast<std::size_t>(payload[0]);
    const auto exponent = static_cast<std::int8_t>(payload[1]);
    if (bytes != 1 && bytes != 2 && bytes != sizeof(float)) return false;
    const std::size_t size = block_head_bytes + bytes * values.size();
    if (payload.size() < size) return false;
    const std::byte* from = payload.data() + block_head_bytes;
    const float step = std::ldexp(1.0f, exponent);
    if (bytes == 1) decode<std::int8_t>(from, step, values);
    if (bytes == 2) decode<std::int16_t>(from, step, values);
    if (bytes == sizeof(float)) std::memcpy(values.data(), from, values.size_bytes());
    payload = payload.subspan(size);
    return true;
}

bool at_end_of_blocks(std::span<const std::byte> payload) {
    return payload.size() < 4 &&
           std::ranges::all_of(payload, [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace ako
