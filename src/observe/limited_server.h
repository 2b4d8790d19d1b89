// The library's server with limits that it has not: it bounds each read of a request, so one that
// trickles in holds a thread as long as it likes. Here a request has to be there within a time and
// a size, and a connection carries one request. Used on the threads of the library.
#pragma once

#include <httplib.h>

#include <chrono>
#include <cstddef>

namespace ako {

class LimitedServer final : public httplib::Server {
  public:
    static constexpr std::chrono::seconds request_time_max{4};
    static constexpr std::size_t request_bytes_max = 32 * 1024;
    /// For each piece of an answer, which may go on as long as there is one.
    static constexpr std::chrono::seconds write_time_max{2};

  private:
    bool process_and_close_socket(socket_t socket) override;
};

}  // namespace ako
