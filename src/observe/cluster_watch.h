// What limits the cluster of a peer that is observed: asks all its peers how they stand, while
// somebody wants to know and at most once a second, on the thread of who asks. Any thread.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "src/observe/board.h"
#include "src/results/bottleneck.h"

namespace ako {

class ClusterWatch {
  public:
    /// `board`: of the peer itself; outlives this.
    explicit ClusterWatch(const Board& board) : board_(board) {}

    /// By what the peers said within the last second, which takes up to 3 s; while another thread
    /// asks them, by what they said before. Kind::unknown before the first time.
    Bottleneck newest();

  private:
    const Board& board_;
    std::mutex mutex_;
    Bottleneck newest_;  // guarded by mutex_; likewise the next two
    std::optional<std::chrono::steady_clock::time_point> asked_at_;
    bool asking_ = false;
};

}  // namespace ako
