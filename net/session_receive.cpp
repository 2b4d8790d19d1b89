// The receiving half of a session: prefix, header, place, payload; each read into its own memory.
#include <utility>

#include "ako/assert.h"
#include "net/codec.h"
#include "net/session.h"
#include "src/numbers/checksum.h"

namespace ako {
namespace {

/// Bytes that one session reads before the others have their turn: two of the longest frames.
constexpr std::size_t read_turn_bytes = 2 * payload_bytes_limit;

/// What is read at once while bytes are thrown away.
constexpr std::size_t discard_bytes = std::size_t{64} * 1024;

std::string end_of_stream(const asio::error_code& error) {
    return error == asio::error::eof ? "closed by the peer" : error.message();
}

}  // namespace

void Session::post_pump_in() {
    if (ended_ || in_posted_ || in_waits_) return;
    in_posted_ = true;
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
        self->in_posted_ = false;
        self->pump_in();
    });
}

void Session::wait_readable() {
    in_waits_ = true;
    socket_.async_wait(asio::ip::tcp::socket::wait_read,
                       [self = shared_from_this()](const asio::error_code&) {
                           self->in_waits_ = false;
                           self->pump_in();
                       });
}

void Session::pump_in() {
    if (ended_ || in_waits_) return;
    read_this_turn_ = 0;
    while (!ended_) {
        if (discarding_) {
            if (!discard_some()) return;
        } else if (reading_ == Reading::place) {
            if (!place()) return;
        } else if (unread_.empty()) {
            complete_stage();
        } else if (!read_some()) {
            return;
        }
    }
}

// False if pump_in will be called again later, or the session has ended.
bool Session::read_some() {
    if (read_this_turn_ >= read_turn_bytes) {
        wait_readable();
        return false;
    }
    asio::error_code error;
    const std::size_t count =
        socket_.read_some(asio::buffer(unread_.data(), unread_.size()), error);
    if (error == asio::error::would_block || error == asio::error::interrupted) {
        wait_readable();
        return false;
    }
    if (error) {
        end(end_of_stream(error));
        return false;
    }
    newest_byte_at_ = silent_since_ = clock_.now();
    meter_->ingress_bytes.fetch_add(count, std::memory_order_relaxed);
    read_this_turn_ += count;
    unread_ = unread_.subspan(count);
    return true;
}

void Session::complete_stage() {
    switch (reading_) {
        case Reading::prefix:
            return complete_prefix();
        case Reading::header:
            return complete_header();
        case Reading::payload:
            return complete_frame();
        case Reading::place:
            AKO_BUG("nothing is read while a place is sought");
    }
}

void Session::complete_prefix() {
    const auto prefix = decode_prefix(prefix_bytes_, header_limit_);
    if (!prefix) return end(prefix.error().what);
    prefix_ = *prefix;
    header_bytes_.resize(prefix->header_bytes);
    unread_ = header_bytes_;
    reading_ = Reading::header;
}

void Session::complete_header() {
    if (auto intact = check_header(prefix_, header_bytes_); !intact)
        return end(intact.error().what);
    auto header = decode_header(header_bytes_);
    if (!header) return end(header.error().what);
    if (auto complaint = host_->refuse(*this, *header, prefix_.payload_bytes))
        return end(*complaint);
    header_ = std::move(*header);
    reading_ = Reading::place;
}

// Asks where to read the payload to. False if there is no room: resume() asks again.
bool Session::place() {
    auto destination = host_->reserve(*this, *header_, prefix_.payload_bytes);
    if (ended_) {
        if (destination) host_->abandoned(*this, *destination);
        return false;
    }
    const Time now = clock_.now();
    if (!destination) {
        if (!paused_) paused_at_ = now;
        paused_ = true;
        return false;
    }
    unpause(now);
    AKO_ASSERT(destination->memory.size() == prefix_.payload_bytes,
               std::to_string(destination->memory.size()) + " bytes of room for " +
                   std::to_string(prefix_.payload_bytes));
    destination_ = *destination;
    unread_ = destination_->memory;
    reading_ = Reading::payload;
    return true;
}

// A chunk is added up and passed on as soon as the host has it, and nobody sends it twice: what is
// not as it was sent must end here. (A Partial's blocks have checksums of their owner, which hold
// over every relay; of one that was damaged the ledger drops the block, and then the session ends.)
bool Session::payload_intact() {
    const auto* chunk = std::get_if<Chunk>(&*header_);
    if (chunk == nullptr || crc32c(destination_->memory) == chunk->checksum) return true;
    end("a chunk was damaged on the way: its values do not have the CRC-32C that its header says");
    return false;
}

void Session::complete_frame() {
    if (!payload_intact()) return;
    const Destination destination = *std::exchange(destination_, std::nullopt);
    unread_ = prefix_bytes_;
    reading_ = Reading::prefix;
    Header header = *std::exchange(header_, std::nullopt);
    host_->arrived(*this, std::move(header), destination, newest_byte_at_);
}

void Session::unpause(Time now) {
    if (paused_) silent_since_ += now - paused_at_;
    paused_ = false;
}

// From now on what arrives is thrown away.
void Session::discard() {
    if (discarding_) return;
    discarding_ = true;
    abandon_destination();
    if (paused_) post_pump_in();  // else a handler is pending or running, and will see it
    unpause(clock_.now());
}

// As read_some, into nowhere.
bool Session::discard_some() {
    std::array<std::byte, discard_bytes> nowhere;
    unread_ = nowhere;
    const bool more = read_some();
    unread_ = {};
    return more;
}

void Session::abandon_destination() {
    if (const auto destination = std::exchange(destination_, std::nullopt))
        host_->abandoned(*this, *destination);
}

}  // namespace ako
