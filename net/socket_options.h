// What every socket of a session is set to.
// Thread: network.
#pragma once

#include <string>

#include "net/asio.h"

namespace ako {

/// Not blocking; small frames leave at once; and a low mark of unsent bytes, so that the socket
/// is writable only when the link is about to run dry.
void set_session_options(asio::ip::tcp::socket& socket);

/// The other end, for messages: "address:port" if it was dialled, else "address", because the port
/// of a dialler says nothing and would make the same complaint a new one every time.
std::string remote_text(const asio::ip::tcp::endpoint& endpoint, bool dialled);

}  // namespace ako
