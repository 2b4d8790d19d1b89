// One TCP connection that never blocks: it writes as much as the kernel takes and reads as much as
// there is. Its owner waits until it can be written or read and only then does so, so that between
// two handlers the kernel holds no pointer into anybody's memory.
//
// Thread: network. Lifetime: that of its session; closed when it dies, if not before.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "ako/error.h"
#include "ako/transport.h"
#include "net/asio.h"
#include "net/socket_options.h"
#include "net/sockets_of_process.h"

namespace ako {

class TcpConnection {
  public:
    /// `socket` is connected. `remote` is for messages.
    TcpConnection(asio::ip::tcp::socket socket, std::string remote);

    const std::string& remote() const { return remote_; }
    asio::any_io_executor executor() { return socket_.get_executor(); }

    /// How much was read; 0: nothing is there for now. Error::Kind::io if no more comes: the peer
    /// has closed, or the connection is broken.
    Result<std::size_t> read(std::span<std::byte> into);
    /// How much was written of these two, which follow each other; 0: there is no room for now.
    /// Error::Kind::io if the connection is broken.
    Result<std::size_t> write(std::span<const std::byte> first, std::span<const std::byte> second);
    /// The peer reads to the end of the stream and no further. Error::Kind::io as above.
    Result<void> shut_down_send();

    /// Calls `handler` once, when something can be read, or the connection is closed or broken.
    template <class Handler>
    void wait_readable(Handler handler) {
        socket_.async_wait(asio::ip::tcp::socket::wait_read,
                           [handler = std::move(handler)](const asio::error_code&) { handler(); });
    }
    /// As wait_readable, when less lies unsent than may.
    template <class Handler>
    void wait_writable(Handler handler) {
        socket_.async_wait(asio::ip::tcp::socket::wait_write,
                           [handler = std::move(handler)](const asio::error_code&) { handler(); });
    }
    /// Suits the bytes that may lie unsent to the link's rate: a mark too low wakes this thread for
    /// every few packets of a fast link.
    void let_lie_unsent(std::size_t bytes);

    /// The kernel's figures; nothing once it is closed.
    std::optional<PathFigures> path();
    void close();

  private:
    const std::string remote_;
    asio::ip::tcp::socket socket_;
    std::optional<ListedSocket> listed_;
    std::size_t unsent_bytes_max_ = unsent_bytes_min;
};

}  // namespace ako
