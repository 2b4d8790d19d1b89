// Reads the headers of requests, of many connections on one thread, and hands a connection on once
// its header is there: a client that is slow to say what it wants holds memory for seconds, and no
// thread. Only so many connections of each source, and of all, wait; a new one takes the place of
// the one that has waited longest of the source with most of them, for a client that means it says
// its request at once.
//
// `take` on any thread; the handlers are called on the thread of the reader. Closes what it holds
// when it is destroyed.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ako {

class RequestReader {
  public:
    static constexpr std::chrono::milliseconds header_time_max{1000};
    /// Before the first byte. Browsers connect ahead of a request and keep such a connection for
    /// ten seconds: one that is closed earlier fails the request that it is then taken for.
    static constexpr std::chrono::milliseconds silence_max{15'000};
    static constexpr std::size_t header_bytes_max = std::size_t{32} * 1024;
    static constexpr std::size_t of_source_max = 64;
    /// With the headers 8 MiB, and a quarter of the descriptors that a process may have by default.
    static constexpr std::size_t of_all_max = 256;

    /// Gets a connection whose header is in `begun`, with what may follow it, and owns it. Must not
    /// wait.
    using Handler = std::function<void(int socket, std::string begun)>;

    explicit RequestReader(Handler handler);
    ~RequestReader();
    RequestReader(const RequestReader&) = delete;
    RequestReader& operator=(const RequestReader&) = delete;

    /// Owns this connection from now on.
    void take(int socket);

  private:
    using Clock = std::chrono::steady_clock;
    struct Waiting {
        int socket = -1;
        std::string source;
        std::string begun;
        Clock::time_point until;
        bool over = false;  ///< closed, or handed on
    };

    void run();
    void take_new();
    void make_room(const std::string& source);
    void read(Waiting& from);
    void close_late(Clock::time_point now);

    const Handler handler_;
    const int wake_;                // eventfd
    std::vector<Waiting> waiting_;  // the reader's thread; oldest first
    std::mutex mutex_;
    std::vector<int> new_;  // guarded by mutex_
    bool ended_ = false;    // likewise
    std::thread thread_;
};

}  // namespace ako
