// The threads of the learners of one peer: all take a task at the same time, each with a number of
// its own, and meet again when all have done it. In between they wait on a condition variable. Made
// and called by one thread, which takes the task with the number 0 itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "ako/threads.h"

namespace ako {

class LearnerThreads {
  public:
    /// What one of them does; what is thrown ends the process.
    using Task = std::function<void(std::size_t number)>;

    /// So many, the caller among them; at least 1.
    explicit LearnerThreads(std::size_t count);
    ~LearnerThreads();
    LearnerThreads(const LearnerThreads&) = delete;
    LearnerThreads& operator=(const LearnerThreads&) = delete;

    std::size_t count() const { return threads_.size() + 1; }

    /// Calls `task` with each number below `count`, all at the same time; returns when all calls
    /// have. What was written before is seen by the calls, and what they write afterwards.
    void run(const Task& task) noexcept;

  private:
    void work(std::size_t number) noexcept;
    /// Waits for the next task after so many; null: it is the end.
    const Task* next(std::uint64_t seen);
    void done();

    Mutex mutex_;
    Condition called_, all_done_;
    const Task* task_ AKO_GUARDED_BY(mutex_) = nullptr;
    std::uint64_t calls_ AKO_GUARDED_BY(mutex_) = 0;  ///< tasks so far
    std::size_t busy_ AKO_GUARDED_BY(mutex_) = 0;     ///< threads that have not done this one yet
    bool ending_ AKO_GUARDED_BY(mutex_) = false;

    std::vector<std::thread> threads_;  // constant after construction
};

}  // namespace ako
