// The sending half of a session: wait until the link can take more, ask the host, write.
#include <algorithm>
#include <utility>

#include "ako/assert.h"
#include "net/codec.h"
#include "net/session.h"
#include "net/socket_options.h"
#include "src/numbers/checksum.h"

namespace ako {

void Session::post_pump_out() {
    if (ended_ || out_posted_ || out_waits_ || send_shut_) return;
    out_posted_ = true;
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
        self->out_posted_ = false;
        self->pump_out();
    });
}

// Every frame begins after a wait for writability: with a low mark of unsent bytes the socket is
// writable when the link is about to run dry, and that is the moment to ask what is newest.
void Session::wait_writable() {
    begin_wait();
    socket_.async_wait(asio::ip::tcp::socket::wait_write,
                       [self = shared_from_this()](const asio::error_code&) {
                           self->end_wait();
                           if (self->ended_) return;
                           self->writable_ = true;
                           self->pump_out();
                       });
}

// Only when it matters: a call of the system for each frame would cost what it saves.
void Session::let_lie_unsent(std::size_t bytes) {
    const std::size_t mark = std::max(bytes, unsent_bytes_min);
    if (mark < 2 * unsent_bytes_max_ && 2 * mark > unsent_bytes_max_) return;
    unsent_bytes_max_ = mark;
    set_unsent_bytes_max(socket_, mark);
}

void Session::turn() {
    end_wait();
    has_turn_ = true;
    pump_out();
    has_turn_ = false;
}

void Session::pump_out() {
    if (ended_ || out_waits_ || send_shut_) return;
    if (!writable_) return wait_writable();
    while (!ended_) {
        if (wait_for_pace(clock_.now())) return;
        if (!out_ && !bind_frame()) return;
        if (!write_slice()) return;
    }
}

// True if pump_out will be called again when the link's limit and the peer's limit allow a slice.
bool Session::wait_for_pace(Time now) {
    if (bucket_ == nullptr) return false;
    const Time ready_at = bucket_->ready_at(now);
    if (ready_at > now) {
        begin_wait();
        pace_timer_.expires_after(ready_at - now);
        pace_timer_.async_wait([self = shared_from_this()](const asio::error_code&) {
            self->end_wait();
            self->pump_out();
        });
        return true;
    }
    if (!egress_->limited() || std::exchange(has_turn_, false)) return false;
    if (egress_->take_turn(shared_from_this())) return false;
    begin_wait();
    return true;
}

void Session::begin_wait() {
    out_waits_ = true;
    waits_since_ = clock_.now();
}

// A wait begins before the next frame is asked for, and is one of that frame: if there is none,
// nobody has waited.
void Session::end_wait() {
    out_waits_ = false;
    waited_ += clock_.now() - waits_since_;
    if (out_) count_wait();
}

// After the end the meter may be gone.
void Session::count_wait() {
    if (!ended_) meter_->waited.fetch_add(waited_.count(), std::memory_order_relaxed);
    waited_ = {};
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
        waited_ = {};
        if (draining_) shut_down_send();
        return false;
    }
    count_wait();
    if (auto* chunk = std::get_if<Chunk>(&frame->header)) chunk->checksum = crc32c(frame->payload);
    Outgoing out;
    out.head = encode_frame_head(frame->header, frame->payload.size());
    out.payload = frame->payload;
    out.keeps_alive = std::move(frame->keeps_alive);
    out.bytes = out.head.size() + out.payload.size();
    out.of_host = of_host;
    out_ = std::move(out);
    return true;
}

// Writes at most a slice of the frame, its head and its payload from where they lie. False if
// pump_out will be called again later, or the session has ended.
bool Session::write_slice() {
    std::size_t slice = out_->bytes;
    if (bucket_ != nullptr) slice = std::min({slice, bucket_->slice(), egress_->slice()});
    const std::size_t head_bytes = std::min(slice, out_->head.size() - out_->head_sent);
    const std::size_t payload_bytes = std::min(slice - head_bytes, out_->payload.size());
    const std::array<asio::const_buffer, 2> buffers = {
        asio::buffer(out_->head.data() + out_->head_sent, head_bytes),
        asio::buffer(out_->payload.data(), payload_bytes)};

    asio::error_code error;
    const std::size_t written = socket_.write_some(buffers, error);
    if (error == asio::error::would_block || error == asio::error::interrupted) {
        wait_writable();
        return false;
    }
    if (error) {
        end(error.message());
        return false;
    }
    meter_->egress_bytes.fetch_add(written, std::memory_order_relaxed);
    if (bucket_ != nullptr) {
        bucket_->spend(written, clock_.now());
        egress_->spend(written);
    }
    const std::size_t of_head = std::min(written, out_->head.size() - out_->head_sent);
    out_->head_sent += of_head;
    out_->payload = out_->payload.subspan(written - of_head);
    if (out_->head_sent == out_->head.size() && out_->payload.empty()) {
        finish_frame();
        if (!ended_) wait_writable();
        return false;
    }
    return true;
}

void Session::finish_frame() {
    const std::size_t bytes = out_->bytes;
    const bool of_host = out_->of_host;
    writable_ = false;
    out_.reset();  // lets go of the buffer
    if (of_host) host_->sent(*this, bytes);
}

void Session::shut_down_send() {
    send_shut_ = true;
    asio::error_code error;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
    if (error) return end(error.message());
    discard();
}

bool Session::copy_aside() {
    if (ended_ || !out_ || out_->payload.empty() || !out_->aside.empty()) return false;
    out_->aside.assign(out_->payload.begin(), out_->payload.end());
    out_->payload = out_->aside;
    out_->keeps_alive.reset();
    return true;
}

}  // namespace ako
