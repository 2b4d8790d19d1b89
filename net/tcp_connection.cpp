#include "net/tcp_connection.h"

#include <algorithm>
#include <array>

#include "net/tcp_path.h"

namespace ako {
namespace {

bool only_later(const asio::error_code& error) {
    return error == asio::error::would_block || error == asio::error::interrupted;
}

tl::unexpected<Error> broken(const asio::error_code& error) {
    return fail(Error::Kind::io, error.message());
}

}  // namespace

TcpConnection::TcpConnection(asio::ip::tcp::socket socket, std::string remote)
    : remote_(std::move(remote)), socket_(std::move(socket)) {
    listed_.emplace(socket_.native_handle());
    set_session_options(socket_);
}

Result<std::size_t> TcpConnection::read(std::span<std::byte> into) {
    asio::error_code error;
    const std::size_t count = socket_.read_some(asio::buffer(into.data(), into.size()), error);
    if (!error) return count;
    if (only_later(error)) return 0;
    if (error == asio::error::eof) return fail(Error::Kind::io, "closed by the peer");
    return broken(error);
}

Result<std::size_t> TcpConnection::write(std::span<const std::byte> first,
                                         std::span<const std::byte> second) {
    const std::array<asio::const_buffer, 2> buffers = {asio::buffer(first.data(), first.size()),
                                                       asio::buffer(second.data(), second.size())};
    asio::error_code error;
    const std::size_t count = socket_.write_some(buffers, error);
    if (!error) return count;
    if (only_later(error)) return 0;
    return broken(error);
}

Result<void> TcpConnection::shut_down_send() {
    asio::error_code error;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
    if (error) return broken(error);
    return {};
}

// Only when it matters: a call of the system for each frame would cost what it saves.
void TcpConnection::let_lie_unsent(std::size_t bytes) {
    const std::size_t mark = std::max(bytes, unsent_bytes_min);
    if (mark < 2 * unsent_bytes_max_ && 2 * mark > unsent_bytes_max_) return;
    unsent_bytes_max_ = mark;
    set_unsent_bytes_max(socket_, mark);
}

std::optional<PathFigures> TcpConnection::path() {
    if (!socket_.is_open()) return std::nullopt;
    return tcp_path(socket_.native_handle());
}

void TcpConnection::close() {
    asio::error_code ignored;
    listed_.reset();
    socket_.close(ignored);
}

}  // namespace ako
