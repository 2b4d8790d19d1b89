// Which thread may touch what, for the compiler: mutexes and the two thread roles are capabilities
// of clang's thread-safety analysis (Hutchins, Ballman and Sutherland, "C/C++ Thread Safety
// Analysis", 2014), which a test runs over the algorithm. Other compilers see mutexes alone.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "ako/assert.h"
#include "ako/types.h"

#if defined(__clang__)
#define AKO_THREAD_ANALYSIS(x) __attribute__((x))
#else
#define AKO_THREAD_ANALYSIS(x)
#endif

#define AKO_CAPABILITY(what) AKO_THREAD_ANALYSIS(capability(what))
#define AKO_SCOPED_CAPABILITY AKO_THREAD_ANALYSIS(scoped_lockable)
/// A member that is read and written only with this mutex held, or on this thread.
#define AKO_GUARDED_BY(capability) AKO_THREAD_ANALYSIS(guarded_by(capability))
/// A function that is called only with this mutex held, or on this thread.
#define AKO_REQUIRES(...) AKO_THREAD_ANALYSIS(requires_capability(__VA_ARGS__))
#define AKO_ACQUIRE(...) AKO_THREAD_ANALYSIS(acquire_capability(__VA_ARGS__))
#define AKO_RELEASE(...) AKO_THREAD_ANALYSIS(release_capability(__VA_ARGS__))
#define AKO_ASSERTS(...) AKO_THREAD_ANALYSIS(assert_capability(__VA_ARGS__))

namespace ako {

class AKO_CAPABILITY("mutex") Mutex {
  public:
    void lock() AKO_ACQUIRE() { mutex_.lock(); }
    void unlock() AKO_RELEASE() { mutex_.unlock(); }

  private:
    friend class Condition;
    std::mutex mutex_;
};

class AKO_SCOPED_CAPABILITY MutexLock {
  public:
    explicit MutexLock(Mutex& mutex) AKO_ACQUIRE(mutex) : mutex_(mutex) { mutex.lock(); }
    ~MutexLock() AKO_RELEASE() { mutex_.unlock(); }
    MutexLock(const MutexLock&) = delete;
    MutexLock& operator=(const MutexLock&) = delete;

  private:
    Mutex& mutex_;
};

/// A condition variable for such a mutex, which the waiting thread holds.
class Condition {
  public:
    template <class Predicate>
    void wait(Mutex& mutex, Predicate predicate) AKO_REQUIRES(mutex) {
        std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
        changed_.wait(lock, predicate);
        lock.release();
    }
    template <class Predicate>
    void wait_for(Mutex& mutex, Time for_at_most, Predicate predicate) AKO_REQUIRES(mutex) {
        std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
        changed_.wait_for(lock, for_at_most, predicate);
        lock.release();
    }
    void notify_one() { changed_.notify_one(); }
    void notify_all() { changed_.notify_all(); }

  private:
    std::condition_variable changed_;
};

/// One of the two threads of an exchange, for the compiler.
struct AKO_CAPABILITY("thread") ThreadRole {};
inline ThreadRole compute_thread;  ///< trains: the caller of Exchange
inline ThreadRole network_thread;  ///< sends and receives: the caller of TransportHost

#define AKO_COMPUTE_THREAD AKO_REQUIRES(ako::compute_thread)
#define AKO_NETWORK_THREAD AKO_REQUIRES(ako::network_thread)

/// For the program: the first thread that passes here is the only one that ever may.
class OneThread {
  public:
    void check() const {
        const std::thread::id here = std::this_thread::get_id();
        std::thread::id first = first_.load(std::memory_order_relaxed);
        if (first == std::thread::id() && first_.compare_exchange_strong(first, here)) return;
        AKO_ASSERT(first == here, "called by another thread than before");
    }

  private:
    mutable std::atomic<std::thread::id> first_{};
};

}  // namespace ako
