#include "net/incoming_frame.h"

#include <string>
#include <utility>

#include "ako/assert.h"
#include "net/codec.h"
#include "src/numbers/checksum.h"

namespace ako {

Result<IncomingFrame::Stage> IncomingFrame::complete_stage() {
    const Stage stage = stage_;
    AKO_ASSERT(stage != Stage::place && unread_.empty(), "this stage is not complete");
    const Result<void> intact = stage == Stage::prefix   ? complete_prefix()
                                : stage == Stage::header ? complete_header()
                                                         : check_payload();
    if (!intact) return tl::make_unexpected(intact.error());
    return stage;
}

Result<void> IncomingFrame::complete_prefix() {
    const auto prefix = decode_prefix(prefix_bytes_, header_limit_);
    if (!prefix) return tl::make_unexpected(prefix.error());
    prefix_ = *prefix;
    header_bytes_.resize(prefix->header_bytes);
    unread_ = header_bytes_;
    stage_ = Stage::header;
    return {};
}

Result<void> IncomingFrame::complete_header() {
    if (auto intact = check_header(prefix_, header_bytes_); !intact) return intact;
    auto header = decode_header(header_bytes_);
    if (!header) return tl::make_unexpected(header.error());
    header_ = std::move(*header);
    stage_ = Stage::place;
    return {};
}

void IncomingFrame::place(const Destination& destination) {
    AKO_ASSERT(destination.memory.size() == prefix_.payload_bytes,
               std::to_string(destination.memory.size()) + " bytes of room for " +
                   std::to_string(prefix_.payload_bytes));
    destination_ = destination;
    unread_ = destination.memory;
    stage_ = Stage::payload;
}

// A chunk is added up and passed on as soon as the host has it, and nobody sends it twice: what is
// not as it was sent must end here. (A Partial's blocks have checksums of their owner, which hold
// over every relay; the ledger drops a block that was damaged, and then the session ends.)
Result<void> IncomingFrame::check_payload() const {
    const auto* chunk = std::get_if<Chunk>(&*header_);
    if (chunk == nullptr || crc32c(destination_->memory) == chunk->checksum) return {};
    return fail(Error::Kind::wire,
                "a chunk was damaged on the way: its values do not have the CRC-32C that its "
                "header says");
}

IncomingFrame::Whole IncomingFrame::take() {
    Whole whole{*std::exchange(header_, std::nullopt), *std::exchange(destination_, std::nullopt)};
    unread_ = prefix_bytes_;
    stage_ = Stage::prefix;
    return whole;
}

}  // namespace ako
