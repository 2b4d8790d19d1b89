#include "net/acceptor.h"

#include <fmt/format.h>

#include "ako/error.h"
#include "ako/types.h"

namespace ako {
namespace {

/// After accepting failed (no file descriptors left): long enough not to spin, short enough that
/// the dialler's time-out does not pass.
constexpr Time retry_wait = std::chrono::milliseconds(100);

/// Connections that may wait to be accepted: all peers of the largest cluster at once.
constexpr int backlog = static_cast<int>(peers_max);

[[noreturn]] void cannot_listen(const Address& listen, const asio::error_code& error) {
    const std::string hint =
        error == asio::error::address_in_use
            ? "another program (perhaps an earlier run) has this port: end it, or choose another"
            : "`listen` of a peer must be an address of the machine it runs on, or 0.0.0.0";
    throw StartupError(
        fmt::format("cannot listen on {}: {}", address_text(listen), error.message()), hint);
}

}  // namespace

Acceptor::Acceptor(asio::io_context& io, const Address& listen) : acceptor_(io), retry_timer_(io) {
    asio::error_code error;
    asio::ip::tcp::resolver resolver(io);
    const auto results = resolver.resolve(
        listen.host, std::to_string(listen.port),
        asio::ip::resolver_base::passive | asio::ip::resolver_base::numeric_service, error);
    if (error || results.empty()) cannot_listen(listen, error);
    const asio::ip::tcp::endpoint endpoint = *results.begin();
    acceptor_.open(endpoint.protocol(), error);
    // A port that an earlier run has left in TIME_WAIT is free.
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(backlog, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (error) cannot_listen(listen, error);
    listed_.emplace(acceptor_.native_handle());
}

void Acceptor::begin(std::function<void(asio::ip::tcp::socket)> accepted) {
    accepted_ = std::move(accepted);
    accept();
}

void Acceptor::close() {
    asio::error_code ignored;
    listed_.reset();
    acceptor_.close(ignored);
    retry_timer_.cancel();
}

void Acceptor::accept() {
    acceptor_.async_accept([this](const asio::error_code& error, asio::ip::tcp::socket socket) {
        if (!acceptor_.is_open()) return;
        if (!error) {
            accepted_(std::move(socket));
            return accept();
        }
        retry_timer_.expires_after(retry_wait);
        retry_timer_.async_wait([this](const asio::error_code& cancelled) {
            if (!cancelled) accept();
        });
    });
}

}  // namespace ako
