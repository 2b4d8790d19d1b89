// The board between the two halves of a mode that exchanges buckets: what each lets the other know.
// State only, so that nothing queues without a limit. Both threads; every member is protected by
// the mutex, which is held for copies of small values only. Memory that one side names here belongs
// to the other until it is named back: a contribution until its bucket is complete, a result until
// it is consumed.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ako/frame.h"
#include "ako/types.h"
#include "src/membership.h"

namespace ako {

/// What came with the result of a bucket.
struct Exchanged {
    StopReason stop = StopReason::none;  ///< the strongest wish of all who contributed
    std::uint64_t rounds_total = 0;      ///< of all workers, with this one; 0 = not said
    std::uint32_t workers = 0;           ///< who contributed; 0 = not said

    void merge(const Exchanged& other) {
        stop = std::max(stop, other.stop);
        rounds_total = std::max(rounds_total, other.rounds_total);
        workers = std::max(workers, other.workers);
    }
    /// Takes in what came later: of the workers only the newest number counts.
    void follow(const Exchanged& later) {
        const std::uint32_t newest = later.workers != 0 ? later.workers : workers;
        merge(later);
        workers = newest;
    }
};

/// A bucket of this peer that is ready to be exchanged.
struct Contribution {
    std::size_t bucket = 0;
    std::uint64_t exchange = 0;          ///< from 1
    std::span<const float> vector;       ///< the whole flat vector, of which the bucket is meant
    StopReason stop = StopReason::none;  ///< this peer's wish
};

class BucketBoard {
  public:
    /// What the network half has not seen yet.
    struct Mail {
        std::vector<Contribution> contributions;
        std::vector<std::pair<std::size_t, std::uint64_t>> consumed;  ///< bucket, exchange
        std::optional<Status> status;
        bool urgent = false;   ///< the status is to go out at once
        bool started = false;  ///< the first round has begun here
        bool broken = false;   ///< the exchange cannot go on
        bool closing = false;  ///< nothing but goodbye any more
    };
    /// What is known of another peer.
    struct Member {
        Presence presence = Presence::absent;
        bool ever_lost = false;
        Status status;  ///< its newest
    };

    BucketBoard(std::size_t bucket_count, std::size_t peer_count)
        : completed_(bucket_count), members_(peer_count) {}

    // Compute thread.
    void contribute(const Contribution& contribution);
    /// The result of this exchange has been used: its memory is free again.
    void consume(std::size_t bucket, std::uint64_t exchange);
    /// Nothing while the exchange of this bucket is under way.
    std::optional<Exchanged> completed(std::size_t bucket, std::uint64_t exchange) const;
    void post(Status status, bool urgent);
    void start();
    void close();
    std::vector<Member> members() const;
    /// Why the exchange cannot go on; empty if it can.
    std::string broken() const;
    /// The parameters after everybody's last round are here (parameter server).
    bool final_is_here() const;
    /// When it last showed that the others get on; 0 before the first time.
    Time newest_sign_at() const;
    /// Waits until something is new, or `for_at_most` has passed.
    void wait(Time for_at_most);

    // Network thread.
    Mail take();
    void complete(std::size_t bucket, std::uint64_t exchange, const Exchanged& exchanged);
    void complete_final();
    /// A chunk came, or a peer that chunks come from has made a round.
    void sign_came(Time at);
    void set_presence(PeerIndex peer, Presence presence);
    void heard(PeerIndex peer, const Status& status);
    /// Either thread. The first reason stands.
    void break_off(const std::string& why);

  private:
    struct Complete {
        std::uint64_t exchange = 0;
        Exchanged exchanged;
    };
    void tell(std::unique_lock<std::mutex> lock);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool news_ = false;
    Mail mail_;
    std::vector<Complete> completed_;  ///< [bucket], the newest
    std::vector<Member> members_;
    std::string broken_;
    Time newest_sign_at_{0};
    bool final_is_here_ = false;
};

}  // namespace ako
