// Fuzz target: whatever bytes come as the head of a frame (prefix and header), the codec reads them
// or says what is wrong; and what it reads it writes again, in the same bytes.
#include <algorithm>

#include "ako/assert.h"
#include "net/codec.h"
#include "net/frame_prefix.h"

namespace {

using namespace ako;

/// Are all bytes read? A header of another protocol is read for its number only.
bool all_is_read(const Header& header, std::span<const std::byte> bytes) {
    if (const auto* hello = std::get_if<Hello>(&header)) return hello->protocol == protocol_version;
    return bytes[0] > std::byte{64};
}

void round_trip(const Header& header, std::span<const std::byte> bytes) {
    const auto head = encode_header(header);
    const auto again = decode_header(head);
    AKO_ASSERT(again.has_value(), again.error().what);
    AKO_ASSERT(*again == header, header_name(header));
    AKO_ASSERT(encode_header(*again) == head, header_name(header));
    if (all_is_read(header, bytes))
        AKO_ASSERT(std::equal(head.begin(), head.end(), bytes.begin(), bytes.end()),
                   header_name(header));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    if (bytes.size() < frame_prefix_bytes) return 0;
    const auto prefix_bytes = bytes.first<frame_prefix_bytes>();
    if (const auto prefix = decode_prefix(prefix_bytes)) {
        const auto again = encode_prefix(*prefix);
        AKO_ASSERT(std::equal(again.begin(), again.end(), prefix_bytes.begin()), "a prefix");
    }
    // The header is read whatever the prefix says of it, so that most inputs get so far.
    const auto header = decode_header(bytes.subspan(frame_prefix_bytes));
    if (header)
        round_trip(*header, bytes.subspan(frame_prefix_bytes));
    else
        AKO_ASSERT(header.error().what.starts_with("malformed header: "), header.error().what);
    return 0;
}
