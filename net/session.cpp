#include "net/session.h"

#include <array>
#include <utility>

#include "ako/assert.h"

namespace ako {
namespace {

/// Headers that may wait before the frames of the host: Hello, its repetition, a Reject, one spare.
constexpr std::size_t first_max = 4;

/// Bytes that one session reads before the others have their turn: two of the longest frames.
constexpr std::size_t read_turn_bytes = 2 * payload_bytes_limit;

/// What is read at once while bytes are thrown away.
constexpr std::size_t discard_bytes = std::size_t{64} * 1024;

}  // namespace

Session::Session(asio::ip::tcp::socket socket, std::string remote, const Clock& clock)
    : clock_(clock),
      connection_(std::move(socket), std::move(remote)),
      pace_timer_(connection_.executor()),
      silence_(clock.now()) {}

void Session::begin(SessionHost& host) {
    host_ = &host;
    post_pump_in();
    wake();
}

void Session::hand_over(SessionHost& host, LinkMeter& meter, TokenBucket& bucket,
                        SharedEgress& egress) {
    host_ = &host;
    meter.egress_bytes += meter_->egress_bytes;
    meter.ingress_bytes += meter_->ingress_bytes;
    meter_ = &meter;
    limits_.set(bucket, egress);
    in_.set_header_limit(header_bytes_max);
    wake();
}

void Session::send_first(Header header) {
    AKO_ASSERT(first_.size() < first_max, header_name(header));
    first_.push_back(std::move(header));
    wake();
}

void Session::resume() {
    if (ended_ || silence_.reads()) return;
    post_pump_in();
}

void Session::drain(bool discards) {
    if (ended_) return;
    draining_ = true;
    if (discards) discard();
    wake();
}

void Session::end(const std::string& why) {
    if (ended_) return;
    const auto self = shared_from_this();  // the host lets go of its reference in ended()
    drop();
    host_->ended(*this, why);
}

void Session::drop() {
    if (ended_) return;
    ended_ = true;
    connection_.close();
    pace_timer_.cancel();
    out_.reset();
    first_.clear();
    abandon_destination();
}

// ---- sending: wait until the link can take more, ask the host, write

void Session::wake() {
    if (ended_ || out_posted_ || wait_.on() || send_shut_) return;
    out_posted_ = true;
    asio::post(connection_.executor(), [self = shared_from_this()] {
        self->out_posted_ = false;
        self->pump_out();
    });
}

// Every frame begins after a wait for writability: with a low mark of unsent bytes the socket is
// writable when the link is about to run dry, and that is the moment to ask what is newest.
void Session::wait_writable() {
    wait_.begin(clock_.now());
    connection_.wait_writable([self = shared_from_this()] {
        self->end_wait();
        if (self->ended_) return;
        self->writable_ = true;
        self->pump_out();
    });
}

void Session::turn() {
    end_wait();
    limits_.set_turn(true);
    pump_out();
    limits_.set_turn(false);
}

void Session::pump_out() {
    if (ended_ || wait_.on() || send_shut_) return;
    if (!writable_) return wait_writable();
    while (!ended_) {
        if (wait_for_limits(clock_.now())) return;
        if (!out_ && !bind_frame()) return;
        if (!write_slice()) return;
    }
}

// True if pump_out will be called again when the link's limit and the peer's limit allow a slice.
bool Session::wait_for_limits(Time now) {
    const Time ready_at = limits_.link_ready_at(now);
    if (ready_at > now) {
        wait_.begin(clock_.now());
        pace_timer_.expires_after(ready_at - now);
        pace_timer_.async_wait([self = shared_from_this()](const asio::error_code&) {
            self->end_wait();
            self->pump_out();
        });
        return true;
    }
    if (limits_.take_turn(*this)) return false;
    wait_.begin(clock_.now());
    return true;
}

void Session::end_wait() {
    wait_.end(clock_.now());
    if (out_) count_wait();
}

// After the end the meter may be gone.
void Session::count_wait() {
    const Time waited = wait_.take();
    if (!ended_) meter_->waited.fetch_add(waited.count(), std::memory_order_relaxed);
}

// False if there is nothing to send, or the session has ended.
bool Session::bind_frame() {
    std::optional<OutFrame> frame;
    const bool of_host = first_.empty();
    if (of_host) {
        frame = host_->next(*this);
        if (ended_) return false;
    } else {
        frame = OutFrame{std::move(first_.front()), {}, {}};
        first_.pop_front();
    }
    if (!frame) {
        wait_.forget();
        if (draining_) shut_down_send();
        return false;
    }
    count_wait();
    out_.emplace(*std::move(frame), of_host);
    return true;
}

// Writes at most a slice of the frame. False if pump_out will be called again later, or the session
// has ended.
bool Session::write_slice() {
    const OutgoingFrame::Piece piece = out_->next_piece(limits_.slice());
    const Result<std::size_t> written = connection_.write(piece.head, piece.payload);
    if (!written) {
        end(written.error().what);
        return false;
    }
    if (*written == 0) {
        wait_writable();
        return false;
    }
    meter_->egress_bytes.fetch_add(*written, std::memory_order_relaxed);
    limits_.spend(*written, clock_);
    out_->written(*written);
    if (!out_->all_written()) return true;
    finish_frame();
    if (!ended_) wait_writable();
    return false;
}

void Session::finish_frame() {
    const std::size_t bytes = out_->bytes();
    const bool of_host = out_->of_host();
    writable_ = false;
    out_.reset();  // lets go of the buffer
    if (of_host) host_->sent(*this, bytes);
}

void Session::shut_down_send() {
    send_shut_ = true;
    if (const auto shut = connection_.shut_down_send(); !shut) return end(shut.error().what);
    discard();
}

bool Session::copy_aside() { return !ended_ && out_ && out_->copy_aside(); }

// ---- receiving: prefix, header, place, payload; each is read into its own memory

void Session::post_pump_in() {
    if (ended_ || in_posted_ || in_waits_) return;
    in_posted_ = true;
    asio::post(connection_.executor(), [self = shared_from_this()] {
        self->in_posted_ = false;
        self->pump_in();
    });
}

void Session::wait_readable() {
    in_waits_ = true;
    connection_.wait_readable([self = shared_from_this()] {
        self->in_waits_ = false;
        self->pump_in();
    });
}

void Session::pump_in() {
    if (ended_ || in_waits_) return;
    read_this_turn_ = 0;
    while (!ended_) {
        if (discarding_ ? !discard_some() : !read_frame()) return;
    }
}

// Takes the frame being read one step on. False if pump_in will be called again later, or the
// session has ended.
bool Session::read_frame() {
    if (in_.seeks_place()) return place();
    if (in_.unread().empty()) {
        complete_stage();
        return true;
    }
    const std::size_t count = read(in_.unread());
    in_.filled(count);
    return count > 0;
}

// How many bytes have come; 0 if pump_in will be called again later, or the session has ended.
std::size_t Session::read(std::span<std::byte> into) {
    if (read_this_turn_ >= read_turn_bytes) {
        wait_readable();
        return 0;
    }
    const Result<std::size_t> count = connection_.read(into);
    if (!count) {
        end(count.error().what);
        return 0;
    }
    if (*count == 0) {
        wait_readable();
        return 0;
    }
    silence_.heard(clock_.now());
    meter_->ingress_bytes.fetch_add(*count, std::memory_order_relaxed);
    read_this_turn_ += *count;
    return *count;
}

void Session::complete_stage() {
    const auto stage = in_.complete_stage();
    if (!stage) return end(stage.error().what);
    if (*stage == IncomingFrame::Stage::header) {
        if (auto complaint = host_->refuse(*this, in_.header(), in_.payload_bytes()))
            end(*complaint);
    } else if (*stage == IncomingFrame::Stage::payload) {
        IncomingFrame::Whole frame = in_.take();
        host_->arrived(*this, std::move(frame.header), frame.destination,
                       silence_.newest_byte_at());
    }
}

// Asks where to read the payload to. False if there is no room: resume() asks again.
bool Session::place() {
    const auto destination = host_->reserve(*this, in_.header(), in_.payload_bytes());
    if (ended_) {
        if (destination) host_->abandoned(*this, *destination);
        return false;
    }
    const Time now = clock_.now();
    if (!destination) {
        silence_.stop_reading(now);
        return false;
    }
    silence_.read_again(now);
    in_.place(*destination);
    return true;
}

// From now on what arrives is thrown away.
void Session::discard() {
    if (discarding_) return;
    discarding_ = true;
    abandon_destination();
    if (!silence_.reads()) post_pump_in();  // else a handler is pending or running, and will see it
    silence_.read_again(clock_.now());
}

bool Session::discard_some() {
    std::array<std::byte, discard_bytes> nowhere;
    return read(nowhere) > 0;
}

void Session::abandon_destination() {
    if (const auto destination = in_.give_up_place()) host_->abandoned(*this, *destination);
}

}  // namespace ako
