// The compute half of every mode that exchanges buckets: when a round may begin, when training is
// over, which buckets are ready and which are current. Never waits itself; whoever calls does, so
// the simulator runs the same code. Compute thread only. Speaks to the network half through the
// board.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ako/exchange.h"
#include "src/modes/bucket_board.h"
#include "src/modes/bucket_update.h"
#include "src/modes/buckets.h"
#include "src/modes/mode_settings.h"

namespace ako {

class BucketPeer {
  public:
    struct Begin {
        enum class Kind { train, wait, stop, failed, broken, numbers };
        Kind kind = Kind::train;
        std::string why;
    };

    /// All references outlive this. `result` is BucketProtocol::result; `update` is null for a
    /// peer that only serves.
    BucketPeer(const ModeSettings& settings, const Buckets& buckets, BucketBoard& board,
               std::span<const float> result, std::unique_ptr<BucketUpdate> update);

    Begin begin_round(Time now);
    bool started() const { return started_; }
    /// Peers that are not there yet, before the start.
    std::vector<PeerIndex> missing() const;

    std::span<const float> replica() const { return update_->replica(); }
    /// Makes what has come of this range current. True if all of it is, or never will be (then the
    /// next begin_round says so).
    bool settle(Range range);
    bool settle_all() { return settle({0, buckets_.parameter_count()}); }
    void gradient_ready(Range range, std::span<const float> gradient);
    Result<void> end_round(std::span<const float> gradient, const RoundResult& result);
    std::span<const float> parameters() const { return update_->parameters(); }

    Round round() const { return round_; }
    double progress() const;
    bool evaluates() const;
    void announce(const Verdict& verdict);
    std::optional<Verdict> newest_verdict() const;
    LinkView link(PeerIndex peer) const;
    void request_stop(StopReason reason) { wish_ = std::max(wish_, reason); }

    /// After begin_round has said stop: true once this peer can leave.
    bool step_finish(Time now);
    /// After that. `out` is [parameter_count], or empty for a peer that only serves.
    FinishReport report(std::span<float> out, Time now);

  private:
    bool serves_only() const { return update_ == nullptr; }
    bool lockstep() const;
    bool may_start(Time now, std::string& why_not);
    std::optional<std::string> stop_due() const;
    /// Begins the exchange that ends local rounds, if the newest round was none's.
    void exchange_the_rest();
    void contribute(std::size_t bucket);
    void give(std::size_t bucket);
    std::string complaint(Round round) const;
    std::uint64_t rounds_made() const;
    void post_status(bool urgent);
    bool all_told(const std::vector<BucketBoard::Member>& members) const;

    const ModeSettings settings_;  // constant after construction
    const Buckets& buckets_;
    BucketBoard& board_;
    const std::span<const float> result_;
    const std::unique_ptr<BucketUpdate> update_;
    const std::size_t worker_count_;
    const std::uint64_t rounds_budget_;  ///< of all workers together

    bool started_ = false;
    std::optional<Time> waits_since_;
    Round round_ = 0;
    Round exchanged_round_ = 0;           ///< the newest round that an exchange took in
    std::uint64_t exchange_ = 0;          ///< the newest begun
    std::vector<std::uint64_t> settled_;  ///< [bucket], exchange
    std::vector<std::size_t> ready_;      ///< [bucket], elements of this round's gradient
    Exchanged newest_;  ///< merged over what has been settled since the last round's end
    Exchanged known_;   ///< what every peer knows alike at this round (modes in lockstep)
    StopReason wish_ = StopReason::none;
    StopReason wish_of_round_ = StopReason::none;  ///< fixed for one exchange
    bool broken_ = false;
    std::string not_finite_;  ///< what of this peer's is not, for people; nothing of it is sent
    mutable double progress_ = 0;
    float loss_ = 0;
    std::optional<Verdict> verdict_;
    std::optional<Time> finish_since_;
    bool digest_posted_ = false;
    Status status_;
    bool timed_out_ = false;
};

}  // namespace ako
