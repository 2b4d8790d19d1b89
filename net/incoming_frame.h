// A frame on its way in: which bytes come next and where they are read to, and whether what has
// come is as it was sent. It goes through four stages, and then the next frame begins: its prefix,
// its header, the search for a place, its payload.
//
// One thread at a time. Lifetime: that of its session, which asks it of every frame in turn.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ako/error.h"
#include "ako/transport.h"
#include "net/frame_prefix.h"

namespace ako {

class IncomingFrame {
  public:
    enum class Stage { prefix, header, place, payload };

    IncomingFrame() = default;
    IncomingFrame(const IncomingFrame&) = delete;
    IncomingFrame& operator=(const IncomingFrame&) = delete;

    /// A longer header is refused; at first it is one of a handshake.
    void set_header_limit(std::size_t bytes) { header_limit_ = bytes; }

    /// What is to be filled in this stage; empty: the stage is complete, or a place is sought.
    std::span<std::byte> unread() const { return unread_; }
    /// The first `bytes` of it were.
    void filled(std::size_t bytes) { unread_ = unread_.subspan(bytes); }
    /// Its header has come, and place() is to be called.
    bool seeks_place() const { return stage_ == Stage::place; }

    /// Goes on from a stage that is complete, and says which it was. Error::Kind::wire if what has
    /// come is none of our frames, or was damaged on the way.
    Result<Stage> complete_stage();

    // From the end of the stage `header` on:
    const Header& header() const { return *header_; }
    std::size_t payload_bytes() const { return prefix_.payload_bytes; }
    /// Its payload is read to there, which has room for exactly that.
    void place(const Destination& destination);

    /// The frame of which the stage `payload` is complete; the next one begins.
    struct Whole {
        Header header;
        Destination destination;
    };
    Whole take();

    /// Its place, if it has one, which is given up.
    std::optional<Destination> give_up_place() { return std::exchange(destination_, std::nullopt); }

  private:
    Result<void> complete_prefix();
    Result<void> complete_header();
    Result<void> check_payload() const;

    Stage stage_ = Stage::prefix;
    std::array<std::byte, frame_prefix_bytes> prefix_bytes_{};
    std::vector<std::byte> header_bytes_;
    std::size_t header_limit_ = handshake_header_bytes_max;
    FramePrefix prefix_;
    std::optional<Header> header_;
    std::optional<Destination> destination_;
    std::span<std::byte> unread_ = prefix_bytes_;
};

}  // namespace ako
