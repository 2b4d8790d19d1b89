// A frame on its way out: its head (prefix and header) and its payload, which is written from where
// it lies, and how far both have been written. A chunk gets its checksum here, the last moment
// before it leaves.
//
// One thread at a time. Lifetime: until it has been written, or its session ends; then it lets go
// of the payload's buffer.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ako/transport.h"

namespace ako {

class OutgoingFrame {
  public:
    /// `of_host`: the session's host gave it and is told when it has been sent.
    OutgoingFrame(OutFrame frame, bool of_host);

    /// The bytes to write next: first those of the head, then those of the payload.
    struct Piece {
        std::span<const std::byte> head;
        std::span<const std::byte> payload;
    };
    /// So many bytes at most.
    Piece next_piece(std::size_t bytes_max) const;
    /// The first `bytes` of the piece have been written.
    void written(std::size_t bytes);
    bool all_written() const { return head_sent_ == head_.size() && payload_.empty(); }

    /// Copies the rest of the payload and lets go of its buffer; false if there is none, or it was
    /// copied before.
    bool copy_aside();

    /// The length of the whole frame.
    std::size_t bytes() const { return bytes_; }
    bool of_host() const { return of_host_; }

  private:
    std::vector<std::byte> head_;
    std::span<const std::byte> payload_;  ///< what is still to be written
    BufferRef keeps_alive_;
    std::vector<std::byte> aside_;  ///< the unsent rest, once copied
    std::size_t head_sent_ = 0;
    std::size_t bytes_ = 0;
    bool of_host_ = false;
};

}  // namespace ako
