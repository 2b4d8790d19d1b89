#include "net/socket_options.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include "net/address.h"

namespace ako {
void set_session_options(asio::ip::tcp::socket& socket) {
    // A socket that refuses an option still works, and a connection that has just died will say so
    // at the first write; so errors are not looked at.
    asio::error_code ignored;
    socket.non_blocking(true, ignored);
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    set_unsent_bytes_max(socket, unsent_bytes_min);
}

void set_unsent_bytes_max(asio::ip::tcp::socket& socket, std::size_t bytes) {
    const int mark = static_cast<int>(bytes);
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &mark, sizeof mark);
}

std::string remote_text(const asio::ip::tcp::endpoint& endpoint, const Address* dialled) {
    asio::error_code error;
    const std::string address = endpoint.address().to_string(error);
    return dialled != nullptr ? address_text(*dialled, address) : address;
}

}  // namespace ako
