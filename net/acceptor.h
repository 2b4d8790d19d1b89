// Listens, and hands on every connection that comes in.
// Thread: the constructor's before begin(), then network.
#pragma once

#include <functional>
#include <optional>

#include "net/address.h"
#include "net/asio.h"
#include "net/sockets_of_process.h"

namespace ako {

class Acceptor {
  public:
    /// Binds and listens. Throws StartupError (port taken, address not of this machine).
    Acceptor(asio::io_context& io, const Address& listen);

    std::uint16_t port() const { return port_; }
    void begin(std::function<void(asio::ip::tcp::socket)> accepted);
    void close();

  private:
    void accept();

    asio::ip::tcp::acceptor acceptor_;
    std::optional<ListedSocket> listed_;
    asio::steady_timer retry_timer_;
    std::function<void(asio::ip::tcp::socket)> accepted_;
    std::uint16_t port_ = 0;
};

}  // namespace ako
