// See learner_threads.h.
#include "src/training/learner_threads.h"

#include "ako/assert.h"

namespace ako {

LearnerThreads::LearnerThreads(std::size_t count) {
    AKO_ASSERT(count >= 1, "the caller is one of them");
    for (std::size_t number = 1; number < count; ++number)
        threads_.emplace_back([this, number] { work(number); });
}

LearnerThreads::~LearnerThreads() {
    {
        const MutexLock lock(mutex_);
        ending_ = true;
    }
    called_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void LearnerThreads::run(const Task& task) noexcept {
    {
        const MutexLock lock(mutex_);
        task_ = &task;
        busy_ = threads_.size();
        ++calls_;
    }
    called_.notify_all();
    task(0);
    const MutexLock lock(mutex_);
    all_done_.wait(mutex_, [this]() AKO_REQUIRES(mutex_) { return busy_ == 0; });
    task_ = nullptr;
}

void LearnerThreads::work(std::size_t number) noexcept {
    for (std::uint64_t seen = 0;; ++seen) {
        const Task* const task = next(seen);
        if (task == nullptr) return;
        (*task)(number);
        done();
    }
}

const LearnerThreads::Task* LearnerThreads::next(std::uint64_t seen) {
    const MutexLock lock(mutex_);
    called_.wait(mutex_, [this, seen]() AKO_REQUIRES(mutex_) { return ending_ || calls_ > seen; });
    return ending_ ? nullptr : task_;
}

void LearnerThreads::done() {
    {
        const MutexLock lock(mutex_);
        if (--busy_ > 0) return;
    }
    all_done_.notify_one();
}

}  // namespace ako
