#include "models/workers.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "models/blas.h"

namespace ako {

namespace {

using Task = std::function<void(std::size_t worker)>;

class Workers {
  public:
    /// One of them is whoever calls `run`.
    explicit Workers(std::size_t count) {
        for (std::size_t worker = 1; worker < count; ++worker)
            threads_.emplace_back([this, worker] { work(worker); });
    }
    ~Workers() {
        call(nullptr);
        for (std::thread& thread : threads_) thread.join();
    }
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    std::size_t count() const { return threads_.size() + 1; }

    void run(const Task& task) noexcept {
        busy_.store(threads_.size(), std::memory_order_relaxed);
        call(&task);
        task(0);
        for (std::size_t busy = busy_.load(); busy > 0; busy = busy_.load()) busy_.wait(busy);
    }

  private:
    void call(const Task* task) {
        task_ = task;
        calls_.fetch_add(1);
        calls_.notify_all();
    }

    void work(std::size_t worker) noexcept {
        for (std::uint32_t seen = 0;; ++seen) {
            calls_.wait(seen);
            if (task_ == nullptr) return;
            (*task_)(worker);
            if (busy_.fetch_sub(1) == 1) busy_.notify_one();
        }
    }

    const Task* task_ = nullptr;            ///< written before `calls_`; null: end
    std::atomic<std::uint32_t> calls_ = 0;  ///< of tasks so far
    std::atomic<std::size_t> busy_ = 0;     ///< threads that have not done the task yet
    std::vector<std::thread> threads_;
};

std::size_t wanted_threads = 1;
std::unique_ptr<Workers> workers;  // not before they are needed

}  // namespace

void set_threads(std::size_t count) {
    wanted_threads = std::max<std::size_t>(1, count);
    set_blas_threads(static_cast<unsigned>(wanted_threads));
}

std::size_t thread_count() { return wanted_threads; }

void share_out(std::size_t count, const VisitShare& visit) {
    const std::size_t shares = std::min(count, wanted_threads);
    if (shares <= 1) return visit(0, 0, count);
    if (!workers || workers->count() != wanted_threads)
        workers = std::make_unique<Workers>(wanted_threads);
    workers->run([&](std::size_t worker) {
        if (worker < shares)
            visit(worker, count * worker / shares, count * (worker + 1) / shares);
    });
}

}  // namespace ako
