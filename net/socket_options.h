// What every socket of a session is set to.
// Thread: network.
#pragma once

#include <string>

#include "net/address.h"
#include "net/asio.h"

namespace ako {

/// Bytes that may lie unsent in the kernel on a slow link, and until its rate is known: one small
/// message. What lies there has been bound and grows stale. The send buffer itself is left to the
/// kernel, which fits it to what is in flight.
inline constexpr std::size_t unsent_bytes_min = std::size_t{16} * 1024;

/// Not blocking; small frames leave at once; and a low mark of unsent bytes, so that the socket
/// is writable only when the link is about to run dry.
void set_session_options(asio::ip::tcp::socket& socket);

/// The low mark: how many bytes may lie unsent in the kernel before the socket counts as writable.
void set_unsent_bytes_max(asio::ip::tcp::socket& socket, std::size_t bytes);

/// The other end, for messages: what was dialled and what that was looked up to; if it dialled us
/// (`dialled` is nullptr), its address without the port, because the port of a dialler says nothing
/// and would make the same complaint a new one every time.
std::string remote_text(const asio::ip::tcp::endpoint& endpoint, const Address* dialled);

}  // namespace ako
