// The board between the two halves of an elastic ring, beside the BucketBoard: who is in, what a
// newcomer takes over, and the memory of the state itself. State only, so that nothing queues. Both
// threads; every member but the memory is protected by the mutex.
//
// A bucket's part of the memory (parameters and velocity) belongs to the compute thread from the
// completion of a sync of it to the consumption of that; from there to the next completion both
// threads may read it. Where a process is not in, all of it is the network thread's from `ask` to
// the entry that it posts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ako/membership.h"
#include "ako/threads.h"

namespace ako {

/// What a newcomer goes on from: what the members say they know. A run that begins has nothing but
/// who is in.
struct Entry {
    std::uint64_t sync = 0;
    PeerSet founders = 0;             ///< of a run that begins
    std::vector<MemberState> states;  ///< one of each member that held the state
};

/// The members of the epoch, and where this process stands, as the compute thread is told.
struct EpochPlace {
    std::uint32_t epoch = 0;  ///< 0: no run is known
    PeerSet members = 0;
    /// This process is, and holds the state. Once it is not, it is out until it has asked again.
    bool in = false;
    /// It is not, and of the others nobody is there any more.
    bool over = false;
    /// Somebody comes in who needs to hear what is known after this sync.
    std::optional<std::uint64_t> asked_for;
};

class EpochBoard {
  public:
    explicit EpochBoard(std::function<void()> wake) : wake_(std::move(wake)) {}

    // Compute thread.
    EpochPlace place() const AKO_COMPUTE_THREAD {
        const MutexLock lock(mutex_);
        return place_;
    }
    /// It waits for an entry, and leaves the memory of the state alone until there is one.
    void ask() AKO_COMPUTE_THREAD {
        const MutexLock lock(mutex_);
        asks_ = true;
    }
    std::optional<Entry> take_entry() AKO_COMPUTE_THREAD {
        const MutexLock lock(mutex_);
        return std::exchange(entry_, std::nullopt);
    }
    void tell(const MemberState& state) AKO_COMPUTE_THREAD {
        const MutexLock lock(mutex_);
        told_ = state;
    }

    // Network thread.
    bool asks() const AKO_NETWORK_THREAD {
        const MutexLock lock(mutex_);
        return asks_;
    }
    std::optional<MemberState> take_told() AKO_NETWORK_THREAD {
        const MutexLock lock(mutex_);
        return std::exchange(told_, std::nullopt);
    }
    void post(const EpochPlace& place) AKO_NETWORK_THREAD {
        {
            const MutexLock lock(mutex_);
            place_ = place;
        }
        wake_();
    }
    /// All that a member holds is here: from now on it is one.
    void post_entry(Entry entry) AKO_NETWORK_THREAD {
        {
            const MutexLock lock(mutex_);
            entry_ = std::move(entry);
            asks_ = false;
        }
        wake_();
    }

  private:
    const std::function<void()> wake_;

    mutable Mutex mutex_;
    EpochPlace place_ AKO_GUARDED_BY(mutex_);
    bool asks_ AKO_GUARDED_BY(mutex_) = false;
    std::optional<Entry> entry_ AKO_GUARDED_BY(mutex_);
    std::optional<MemberState> told_ AKO_GUARDED_BY(mutex_);
};

}  // namespace ako
