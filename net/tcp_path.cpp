// See tcp_path.h. The C library's own <netinet/tcp.h> ends before the delivery rate, and the
// kernel's header does not go with it: so this file is by itself.
#include "net/tcp_path.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace ako {

std::optional<PathFigures> tcp_path(int socket) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
    if (info.tcpi_state == 0) return std::nullopt;
    PathFigures path;
    path.round_trip_ms = static_cast<double>(info.tcpi_rtt) * 1e-3;
    path.retransmits = info.tcpi_total_retrans;
    // An older kernel fills less of it.
    if (size >= offsetof(tcp_info, tcpi_delivery_rate) + sizeof info.tcpi_delivery_rate)
        path.delivery_mbit = static_cast<double>(info.tcpi_delivery_rate) * 8e-6;
    constexpr double microsecond = 1e-6;
    if (size >= offsetof(tcp_info, tcpi_rwnd_limited) + sizeof info.tcpi_rwnd_limited)
        path.reader_seconds = static_cast<double>(info.tcpi_rwnd_limited) * microsecond;
    return path;
}

}  // namespace ako
