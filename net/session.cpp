#include "net/session.h"

#include "ako/assert.h"
#include "net/socket_options.h"
#include "net/tcp_path.h"

namespace ako {
namespace {

/// Headers that may wait before the frames of the host: Hello, its repetition, a Reject, one spare.
constexpr std::size_t first_max = 4;

}  // namespace

Session::Session(asio::ip::tcp::socket socket, std::string remote, const Clock& clock)
    : clock_(clock),
      remote_(std::move(remote)),
      socket_(std::move(socket)),
      pace_timer_(socket_.get_executor()),
      unread_(prefix_bytes_),
      silent_since_(clock.now()),
      newest_byte_at_(silent_since_) {
    listed_.emplace(socket_.native_handle());
    set_session_options(socket_);
}

Session::~Session() = default;

void Session::begin(SessionHost& host) {
    host_ = &host;
    post_pump_in();
    post_pump_out();
}

void Session::hand_over(SessionHost& host, LinkMeter& meter, TokenBucket& bucket,
                        SharedEgress& egress) {
    host_ = &host;
    meter.egress_bytes += meter_->egress_bytes;
    meter.ingress_bytes += meter_->ingress_bytes;
    meter_ = &meter;
    bucket_ = &bucket;
    egress_ = &egress;
    header_limit_ = header_bytes_max;
    post_pump_out();
}

void Session::send_first(Header header) {
    AKO_ASSERT(first_.size() < first_max, header_name(header));
    first_.push_back(std::move(header));
    post_pump_out();
}

void Session::wake() { post_pump_out(); }

void Session::resume() {
    if (ended_ || !paused_) return;
    post_pump_in();
}

void Session::drain(bool discards) {
    if (ended_) return;
    draining_ = true;
    if (discards) discard();
    post_pump_out();
}

void Session::end(const std::string& why) {
    if (ended_) return;
    const auto self = shared_from_this();  // the host lets go of its reference in ended()
    close();
    abandon_destination();
    host_->ended(*this, why);
}

void Session::drop() {
    if (ended_) return;
    close();
    abandon_destination();
}

void Session::close() {
    ended_ = true;
    asio::error_code ignored;
    listed_.reset();
    socket_.close(ignored);
    pace_timer_.cancel();
    out_.reset();
    first_.clear();
}

std::optional<PathFigures> Session::path() {
    if (ended_) return std::nullopt;
    return tcp_path(socket_.native_handle());
}

Time Session::silence(Time now) const { return (paused_ ? paused_at_ : now) - silent_since_; }

}  // namespace ako
