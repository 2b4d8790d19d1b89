// So many threads, and at most so many tasks that wait for one. `take` on any thread; the
// destructor waits for all that was taken.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace ako {

class WorkerThreads {
  public:
    WorkerThreads(std::size_t count, std::size_t waiting_max) : waiting_max_(waiting_max) {
        for (std::size_t k = 0; k < count; ++k) threads_.emplace_back([this] { work(); });
    }
    ~WorkerThreads() {
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
        }
        work_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }
    WorkerThreads(const WorkerThreads&) = delete;
    WorkerThreads& operator=(const WorkerThreads&) = delete;

    /// False, and the task is dropped: as many wait as may.
    bool take(std::function<void()> task) {
        const std::lock_guard lock(mutex_);
        if (tasks_.size() >= waiting_max_) return false;
        tasks_.push_back(std::move(task));
        work_.notify_one();
        return true;
    }

  private:
    void work() {
        for (;;) {
            std::function<void()> task;
            {
                std::unique_lock lock(mutex_);
                work_.wait(lock, [this] { return ended_ || !tasks_.empty(); });
                if (tasks_.empty()) return;
                task = std::move(tasks_.front());
                tasks_.pop_front();
            }
            task();
        }
    }

    const std::size_t waiting_max_;
    std::mutex mutex_;
    std::condition_variable work_;
    std::deque<std::function<void()>> tasks_;  // guarded by mutex_
    bool ended_ = false;                       // likewise
    std::vector<std::thread> threads_;
};

}  // namespace ako
