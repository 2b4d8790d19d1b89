// What the kernel knows of the path of a TCP connection. Linux only.
// Thread: network.
#pragma once

#include <optional>

#include "ako/transport.h"

namespace ako {

/// The path of this connection alone; nothing if `socket` is none that stands.
std::optional<PathFigures> tcp_path(int socket);

}  // namespace ako
