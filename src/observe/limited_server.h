// The library's server with limits that it has not: it bounds each read of a request, so one that
// trickles in holds a thread as long as it likes. Here a header has to be there within a time and a
// size before any thread is given to it (request_reader.h), a connection carries one request, and
// one that every moment counts for is answered at once, whatever all threads are at.
#pragma once

#include <httplib.h>
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "src/observe/request_reader.h"
#include "src/observe/worker_threads.h"

namespace ako {

class LimitedServer final : public httplib::Server {
  public:
    /// Requests that begin so are answered on the reader's thread, and so must be answered at
    /// once, in a few bytes: what finds no room is dropped. `threads` answer the others, of which
    /// at most `waiting_max` wait for one.
    LimitedServer(std::string at_once, std::size_t threads, std::size_t waiting_max);
    ~LimitedServer() override;

    /// Once bound: so many connections may wait in the kernel, where the library lets five.
    void let_wait(int count) { ::listen(svr_sock_, count); }

    /// For each piece of an answer, which may go on as long as there is one.
    static constexpr std::chrono::seconds write_time_max{2};

  private:
    /// The library calls this for each connection that it has accepted.
    bool process_and_close_socket(socket_t socket) override;
    /// `patience`: for each piece of the answer; 0: it is dropped where there is no room at once.
    void answer(int socket, std::string begun, std::chrono::milliseconds patience);

    const std::string at_once_;
    WorkerThreads workers_;
    RequestReader reader_;  // ends first: it gives the workers what they do
};

}  // namespace ako
