#include "net/outgoing_frame.h"

#include <algorithm>
#include <utility>

#include "net/codec.h"
#include "src/numbers/checksum.h"

namespace ako {

OutgoingFrame::OutgoingFrame(OutFrame frame, bool of_host)
    : payload_(frame.payload), keeps_alive_(std::move(frame.keeps_alive)), of_host_(of_host) {
    if (auto* chunk = std::get_if<Chunk>(&frame.header)) chunk->checksum = crc32c(payload_);
    head_ = encode_frame_head(frame.header, payload_.size());
    bytes_ = head_.size() + payload_.size();
}

OutgoingFrame::Piece OutgoingFrame::next_piece(std::size_t bytes_max) const {
    const std::size_t of_head = std::min(bytes_max, head_.size() - head_sent_);
    const std::size_t of_payload = std::min(bytes_max - of_head, payload_.size());
    return {std::span(head_).subspan(head_sent_, of_head), payload_.first(of_payload)};
}

void OutgoingFrame::written(std::size_t bytes) {
    const std::size_t of_head = std::min(bytes, head_.size() - head_sent_);
    head_sent_ += of_head;
    payload_ = payload_.subspan(bytes - of_head);
}

bool OutgoingFrame::copy_aside() {
    if (payload_.empty() || !aside_.empty()) return false;
    aside_.assign(payload_.begin(), payload_.end());
    payload_ = aside_;
    keeps_alive_.reset();
    return true;
}

}  // namespace ako
