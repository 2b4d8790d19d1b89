// The syncs of the replay: of each bucket and sync which messages may go, and who holds the sum.
// Follows the mode's plans (src/modes/sync_plan.h). A value; one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "src/predict/replay.h"

namespace ako {

/// A message of one bucket in one sync.
struct Sending {
    std::size_t sync = 0;
    std::size_t bucket = 0;
    std::uint32_t index = 0;  ///< in the bucket's plan
};

class ReplaySyncs {
  public:
    /// `input` outlives it.
    explicit ReplaySyncs(const ReplayInput& input) : input_(input), syncs_(input.plans.size()) {
        for (const SyncPlan& plan : input.plans) {
            Order& order = orders_.emplace_back();
            order.follow.resize(plan.messages.size());
            order.own.resize(input.machines.size());
            order.come.resize(input.machines.size());
            for (std::uint32_t k = 0; k < plan.messages.size(); ++k) {
                const SyncMessage& one = plan.messages[k];
                for (std::uint32_t a = 0; a < one.after_count; ++a)
                    order.follow[plan.after[one.after_first + a]].push_back(k);
                if (waits_for_own(one)) order.own[one.from].push_back(k);
                ++order.come[one.to];
            }
        }
    }

    const SyncMessage& message(const Sending& sending) const {
        return input_.plans[sending.bucket].messages[sending.index];
    }

    /// The machine gives its own values. `may_go` is called with each message that can go now.
    template <class MayGo>
    void give(std::size_t machine, std::size_t bucket, std::size_t number, MayGo may_go) {
        Sync& sync = at(bucket, number);
        sync.given[machine] = true;
        for (const std::uint32_t index : orders_[bucket].own[machine])
            if (--sync.missing[index] == 0) may_go(Sending{number, bucket, index});
    }
    /// The message has come.
    template <class MayGo>
    void arrived(const Sending& sending, MayGo may_go) {
        Sync& sync = at(sending.bucket, sending.sync);
        --sync.to_come[message(sending).to];
        for (const std::uint32_t next : orders_[sending.bucket].follow[sending.index])
            if (--sync.missing[next] == 0) may_go(Sending{sending.sync, sending.bucket, next});
    }
    /// Does the machine, which trains, hold the sum?
    bool is_whole(std::size_t machine, std::size_t bucket, std::size_t number) {
        const Sync& sync = at(bucket, number);
        return sync.given[machine] && sync.to_come[machine] == 0;
    }

  private:
    /// What follows what in the plan of a bucket.
    struct Order {
        std::vector<std::vector<std::uint32_t>> follow;  ///< [message]
        std::vector<std::vector<std::uint32_t>> own;     ///< [machine] that wait for its own values
        std::vector<std::uint32_t> come;                 ///< [machine] so many come to it
    };
    struct Sync {
        std::vector<std::uint16_t> missing;  ///< [message] before it may go
        std::vector<std::uint32_t> to_come;  ///< [machine]
        std::vector<bool> given;             ///< [machine]
    };

    bool waits_for_own(const SyncMessage& one) const {
        return one.of_own && input_.machines[one.from].trains;
    }
    Sync& at(std::size_t bucket, std::size_t number) {
        std::deque<Sync>& all = syncs_[bucket];
        while (all.size() <= number) {
            Sync& next = all.emplace_back();
            for (const SyncMessage& one : input_.plans[bucket].messages)
                next.missing.push_back(
                    static_cast<std::uint16_t>(one.after_count + (waits_for_own(one) ? 1 : 0)));
            next.to_come = orders_[bucket].come;
            next.given.resize(input_.machines.size());
        }
        return all[number];
    }

    const ReplayInput& input_;
    std::vector<Order> orders_;            ///< [bucket]
    std::vector<std::deque<Sync>> syncs_;  ///< [bucket]
};

}  // namespace ako
