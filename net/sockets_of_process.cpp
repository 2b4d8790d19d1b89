#include "net/sockets_of_process.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>

#include "ako/types.h"

namespace ako {
namespace {

constexpr int free_place = 0;

/// Two sessions with each peer of the largest cluster, while one takes the other's place, as many
/// connections that have yet to say who they are, and the port.
constexpr std::size_t places = 4 * peers_max + 1;

/// 1 + the descriptor; zeros, so that there is no moment at which it is not made yet.
std::array<std::atomic<int>, places> listed;

}  // namespace

ListedSocket::ListedSocket(int fd) {
    for (std::size_t place = 0; place < places; ++place) {
        int expected = free_place;
        if (!listed[place].compare_exchange_strong(expected, fd + 1)) continue;
        place_ = static_cast<int>(place);
        return;
    }
}

ListedSocket::~ListedSocket() {
    if (place_ >= 0) listed[static_cast<std::size_t>(place_)] = free_place;
}

void close_listed_sockets() {
    for (std::atomic<int>& place : listed) {
        const int entry = place.exchange(free_place);
        if (entry != free_place) close(entry - 1);
    }
}

}  // namespace ako
