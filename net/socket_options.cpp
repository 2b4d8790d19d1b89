#include "net/socket_options.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include "net/address.h"

namespace ako {
namespace {

/// Bytes that may lie unsent in the kernel: one small message. What lies there has been bound and
/// grows stale. The send buffer itself is left to the kernel, which fits it to what is in flight.
constexpr int unsent_bytes_max = 16 * 1024;

}  // namespace

void set_session_options(asio::ip::tcp::socket& socket) {
    // A socket that refuses an option still works, and a connection that has just died will say so
    // at the first write; so errors are not looked at.
    asio::error_code ignored;
    socket.non_blocking(true, ignored);
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes_max,
                 sizeof unsent_bytes_max);
}

std::string remote_text(const asio::ip::tcp::endpoint& endpoint, const Address* dialled) {
    asio::error_code error;
    const std::string address = endpoint.address().to_string(error);
    return dialled != nullptr ? address_text(*dialled, address) : address;
}

}  // namespace ako
