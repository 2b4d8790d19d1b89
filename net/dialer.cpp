#include "net/dialer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ako {
namespace {

using std::chrono::milliseconds;

/// Shorter, and a peer that is just being started is dialled for nothing; longer, and one that is
/// back is kept waiting (NameTaken and Departures count on a second).
constexpr Time wait_min = milliseconds(100);
constexpr Time wait_max = milliseconds(1000);
constexpr double jitter_max = 1.5;
/// 100 ms doubled so often is more than the longest wait.
constexpr unsigned failures_max = 4;
/// 100 ms doubled so often is 400 ms.
constexpr unsigned failures_soon = 2;
/// What the peer with the higher index waits more: the round trip of a handshake and a hiccup.
constexpr Time patience = milliseconds(50);

}  // namespace

struct Dialer::Attempt {
    Time deadline{};  ///< of the look-up
    bool over = false;
    bool cancelled = false;
    std::shared_ptr<Connector> connector{};  ///< once the addresses are known
};

Dialer::Dialer(asio::io_context& io, Time connect_timeout, bool patient, std::uint64_t seed,
               Events events)
    : io_(io),
      connect_timeout_(connect_timeout),
      patient_(patient),
      events_(std::move(events)),
      random_(static_cast<std::minstd_rand::result_type>(seed ^ (seed >> 32))),
      resolver_(io) {}

void Dialer::begin(Time now) { due_ = now + (patient_ ? patience : Time{0}); }

void Dialer::tick(Time now, Time excuse) {
    now_ = now;
    if (!attempt_) {
        if (now >= due_) dial(now);
    } else if (attempt_->connector) {
        attempt_->connector->tick(now, excuse);
    } else if (now >= (attempt_->deadline += excuse)) {
        fail_slow_look_up();
    }
}

void Dialer::cancel(Time now) {
    found_late_.clear();
    if (!attempt_) return;
    attempt_->over = attempt_->cancelled = true;
    if (attempt_->connector) attempt_->connector->cancel();
    attempt_.reset();
    resolver_.cancel();
    failures_ = 0;
    set_due(now);
}

void Dialer::back_off(Time now) {
    set_due(now);
    failures_ = std::min(failures_ + 1, failures_max);
}

void Dialer::back_off_long(Time now) {
    failures_ = failures_max;
    set_due(now);
}

void Dialer::try_again_soon(Time now) {
    failures_ = failures_soon;
    set_due(now);
}

// With jitter, so that two peers do not dial each other at the same moment again and again.
void Dialer::set_due(Time now) {
    const double jitter = std::uniform_real_distribution<double>(1.0, jitter_max)(random_);
    const double doubled = std::min<double>(1U << failures_, wait_max / wait_min / jitter_max);
    due_ = now + std::chrono::duration_cast<Time>(jitter * doubled * wait_min) +
           (patient_ ? patience : Time{0});
}

void Dialer::dial(Time now) {
    if (looking_up_) return fail_slow_look_up();
    attempt_ = std::make_shared<Attempt>();
    attempt_->deadline = now + connect_timeout_;
    asio::error_code not_numeric;
    const auto address = asio::ip::make_address(address_.host, not_numeric);
    if (!not_numeric) return connect({{address, address_.port}});
    if (!found_late_.empty()) return connect(std::exchange(found_late_, {}));
    look_up(attempt_);
}

void Dialer::look_up(const std::shared_ptr<Attempt>& attempt) {
    looking_up_ = true;
    resolver_.async_resolve(address_.host, std::to_string(address_.port),
                            asio::ip::resolver_base::numeric_service,
                            [this, attempt](const asio::error_code& error,
                                            const asio::ip::tcp::resolver::results_type& results) {
                                looking_up_ = false;
                                if (attempt->cancelled) return;
                                if (attempt->over) {
                                    if (!error) found_late_.assign(results.begin(), results.end());
                                    return;
                                }
                                if (error) return fail_look_up(error.message());
                                connect({results.begin(), results.end()});
                            });
}

void Dialer::connect(Endpoints endpoints) {
    Connector::Events events;
    events.connected = [this](asio::ip::tcp::socket socket) {
        attempt_->over = true;
        attempt_.reset();
        events_.connected(std::move(socket));
    };
    events.failed = [this](const std::string& why) { fail(why); };
    attempt_->connector = std::make_shared<Connector>(io_, address_, std::move(endpoints),
                                                      connect_timeout_, std::move(events));
    attempt_->connector->tick(now_, Time{0});
}

void Dialer::fail(const std::string& why) {
    if (attempt_) attempt_->over = true;
    attempt_.reset();
    back_off(now_);
    events_.failed(why);
}

void Dialer::fail_look_up(const std::string& why) {
    fail(fmt::format("the name in {} does not resolve: {}", address_text(address_), why));
}

void Dialer::fail_slow_look_up() {
    fail_look_up(fmt::format("no answer within {} ms",
                             std::chrono::duration_cast<milliseconds>(connect_timeout_).count()));
}

}  // namespace ako
