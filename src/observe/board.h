// Where a peer posts how it stands, and where those who observe it find that. It holds the newest
// and a history of bounded size, so nobody who is slow makes the compute thread wait, or the memory
// grow. Any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "src/observe/observed.h"
#include "src/observe/run_history.h"

namespace ako {

class Board {
  public:
    /// What was posted, as how manieth and when; nothing before the first.
    struct Post {
        std::uint64_t number = 0;
        std::shared_ptr<const Observed> observed;
        std::chrono::steady_clock::time_point at;
    };

    /// Never waits but for another's copying of a pointer, or of the history.
    void post(Observed observed);
    Post newest() const;
    /// The history of all that was posted.
    RunHistory history() const;
    /// The newest, once it is newer than `number`; nothing new within `patience`, or once `close`
    /// was called: as it is.
    Post wait_newer(std::uint64_t number, std::chrono::milliseconds patience) const;
    /// Nobody is waited for any more.
    void close();
    bool closed() const;

  private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    Post newest_;          // guarded by mutex_
    RunHistory history_;   // likewise
    bool closed_ = false;  // likewise
};

}  // namespace ako
