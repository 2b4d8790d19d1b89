#include "net/dialer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ako {
namespace {

using std::chrono::milliseconds;

/// Shorter, and a peer that is just being started is dialled for nothing; longer, and one that is
/// back is kept waiting.
constexpr Time wait_min = milliseconds(100);
constexpr Time wait_max = milliseconds(2000);
/// 100 ms doubled so often is more than the longest wait.
constexpr unsigned failures_max = 5;
/// What the peer with the higher index waits more: the round trip of a handshake and a hiccup.
constexpr Time patience = milliseconds(50);

}  // namespace

struct Dialer::Attempt {
    asio::ip::tcp::socket socket;
    Time deadline{};
    bool over = false;
    bool cancelled = false;
    std::string tried{};  ///< the address, and what its name was looked up to
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

void Dialer::tick(Time now) {
    now_ = now;
    if (attempt_) {
        if (now < attempt_->deadline) return;
        if (looking_up_) return fail_look_up("no answer " + timeout_text());
        fail(fmt::format("no answer from {} {}", attempt_->tried, timeout_text()));
    } else if (now >= due_) {
        dial(now);
    }
}

void Dialer::cancel(Time now) {
    found_late_.clear();
    if (!attempt_) return;
    attempt_->over = attempt_->cancelled = true;
    asio::error_code ignored;
    attempt_->socket.close(ignored);
    attempt_.reset();
    resolver_.cancel();
    failures_ = 0;
    schedule(now);
}

void Dialer::back_off(Time now) {
    schedule(now);
    failures_ = std::min(failures_ + 1, failures_max);
}

void Dialer::back_off_long(Time now) {
    failures_ = failures_max;
    schedule(now);
}

// With jitter, so that two peers do not dial each other at the same moment again and again.
void Dialer::schedule(Time now) {
    const double jitter = std::uniform_real_distribution<double>(1.0, 1.5)(random_);
    const auto wait =
        std::chrono::duration_cast<Time>(jitter * std::min(wait_max, wait_min * (1 << failures_)));
    due_ = now + std::min(wait, wait_max) + (patient_ ? patience : Time{0});
}

void Dialer::dial(Time now) {
    if (looking_up_) return fail_look_up("no answer " + timeout_text());
    attempt_ = std::make_shared<Attempt>(Attempt{asio::ip::tcp::socket(io_)});
    attempt_->deadline = now + connect_timeout_;
    asio::error_code not_numeric;
    const auto address = asio::ip::make_address(address_.host, not_numeric);
    if (!not_numeric) return connect(attempt_, {{address, address_.port}});
    if (!found_late_.empty()) return connect(attempt_, std::exchange(found_late_, {}));
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
                                connect(attempt, {results.begin(), results.end()});
                            });
}

void Dialer::connect(const std::shared_ptr<Attempt>& attempt, Endpoints endpoints) {
    attempt->tried = address_text(address_, endpoints.back().address().to_string());
    asio::async_connect(
        attempt->socket, endpoints,
        [this, attempt](const asio::error_code& error, const asio::ip::tcp::endpoint&) {
            if (!attempt->over) finish(attempt, error);
        });
}

void Dialer::finish(const std::shared_ptr<Attempt>& attempt, const asio::error_code& error) {
    // A port of this machine on which nobody listens can be given to the dialling socket itself,
    // and TCP then connects it to itself.
    asio::error_code ignored;
    const bool to_itself = !error && attempt->socket.local_endpoint(ignored) ==
                                         attempt->socket.remote_endpoint(ignored);
    if (to_itself || error == asio::error::connection_refused)
        return fail(fmt::format("nobody listens on {}: connection refused", attempt->tried));
    if (error)
        return fail(fmt::format("cannot connect to {}: {}", attempt->tried, error.message()));
    attempt->over = true;
    attempt_.reset();
    events_.connected(std::move(attempt->socket));
}

void Dialer::fail(const std::string& why) {
    if (attempt_) {
        attempt_->over = true;
        asio::error_code ignored;
        attempt_->socket.close(ignored);
        attempt_.reset();
    }
    back_off(now_);
    events_.failed(why);
}

void Dialer::fail_look_up(const std::string& why) {
    fail(fmt::format("the name in {} does not resolve: {}", address_text(address_), why));
}

std::string Dialer::timeout_text() const {
    return fmt::format("within {} ms",
                       std::chrono::duration_cast<milliseconds>(connect_timeout_).count());
}

}  // namespace ako
