// The core of every mode that goes in lockstep, whatever it sums and whoever is in: who is there
// and what each has said, what this peer says of itself, which results are awaited, why training
// ends, and what is said of the end. All end together and come to the same parameters, so that
// their digests agree. The modes add what a round gives (BucketCompute, ElasticCompute). Never
// waits itself. Compute thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ako/threads.h"
#include "src/buckets/bucket_board.h"
#include "src/buckets/buckets.h"
#include "src/buckets/syncs.h"
#include "src/exchange/halves.h"
#include "src/exchange/mailbox.h"
#include "src/exchange/mode_settings.h"
#include "src/exchange/roster.h"
#include "src/numbers/finite_watch.h"

namespace ako {

class LockstepCompute : public ComputeHalf {
  public:
    bool started() const override AKO_COMPUTE_THREAD { return started_; }
    void announce(const Verdict& verdict) override AKO_COMPUTE_THREAD;
    /// The strongest wish stands.
    void request_stop(StopReason reason) override AKO_COMPUTE_THREAD {
        wish_ = stronger(wish_, reason);
    }
    bool leaves() const override AKO_COMPUTE_THREAD { return leaving_; }
    void copy_parameters(std::span<float> out) const override AKO_COMPUTE_THREAD;
    Standing standing() const override AKO_COMPUTE_THREAD;
    LinkView link(PeerIndex peer, Time now) const override AKO_COMPUTE_THREAD;
    const Roster* peers() const override AKO_COMPUTE_THREAD { return &roster_; }
    bool waits_for_others() const override AKO_COMPUTE_THREAD { return true; }
    Time newest_sign_at() const override AKO_COMPUTE_THREAD { return board_.newest_sign_at(); }
    FinishReport report(std::span<float> out, Time now) override AKO_COMPUTE_THREAD;

  protected:
    /// All references outlive this. `those_in`: what people call the members.
    LockstepCompute(const ModeSettings& settings, const Buckets& buckets, Mailbox& mailbox,
                    BucketBoard& board, const char* those_in);

    // What the modes say, beside `members_`.
    /// Is this peer one of them?
    virtual bool is_in() const AKO_COMPUTE_THREAD = 0;
    /// The round counts for nothing: no more of this peer's goes out.
    virtual bool is_void() const AKO_COMPUTE_THREAD { return broken_ || !numbers_.good(); }
    /// The parameters to evaluate and to save; empty at a peer that only serves.
    virtual std::span<const float> parameters() const AKO_COMPUTE_THREAD = 0;
    virtual double progress() const AKO_COMPUTE_THREAD = 0;
    virtual std::uint64_t own_samples() const AKO_COMPUTE_THREAD = 0;
    /// [peer_count], at the end.
    virtual std::vector<std::uint64_t> samples_of_all() const AKO_COMPUTE_THREAD = 0;
    /// What the digests of the others are held against at the end.
    virtual std::optional<Digest> digest_of_run() const AKO_COMPUTE_THREAD {
        return status_.standing.digest;
    }
    /// The peers that hold all that this one has given, when it leaves.
    virtual PeerSet heirs() const AKO_COMPUTE_THREAD = 0;

    // What they all do.
    /// Takes in who came and went, and what each has said since the last time.
    void take_in() AKO_COMPUTE_THREAD;
    void post_status(bool urgent) AKO_COMPUTE_THREAD;
    /// Takes the gradients that no layer has said to be ready: all of them are here now.
    void take_the_rest(std::span<const float> gradient) AKO_COMPUTE_THREAD;
    /// Breaks the exchange off for what is not finite in the round under way, and returns that as
    /// an error.
    Result<void> break_off_by_numbers() AKO_COMPUTE_THREAD;
    void made_round(const RoundResult& result) AKO_COMPUTE_THREAD;
    /// Does another of those who are in go on without this peer?
    bool somebody_stays() const AKO_COMPUTE_THREAD;
    Next leave() AKO_COMPUTE_THREAD;
    /// True once, when this peer's last round is made: its Status is to be posted.
    bool begins_to_finish(Time now) AKO_COMPUTE_THREAD;
    bool finish_is_late(Time now) const AKO_COMPUTE_THREAD;
    /// Has everybody who is in told a digest? Peers out of reach are waited for only if so asked.
    bool all_told(bool waits_for_unreachable) const AKO_COMPUTE_THREAD;

    const ModeSettings& settings_;
    const Buckets& buckets_;
    Mailbox& mailbox_;
    BucketBoard& board_;
    Roster roster_;
    Syncs syncs_;
    Status status_;        ///< the newest of this peer
    PeerSet members_ = 0;  ///< who train together, as the mode knows

    bool started_ = false;
    Round round_ = 0;
    StopReason wish_ = StopReason::none;
    StopReason stopped_for_ = StopReason::none;  ///< why training is over, once it is
    bool asked_to_leave_ = false;
    bool broken_ = false;  ///< the exchange cannot go on, as was seen last
    bool timed_out_ = false;
    FiniteWatch numbers_;  ///< of what this peer gives

  private:
    bool evaluates() const AKO_COMPUTE_THREAD;
    void report_digests(FinishReport& report) const AKO_COMPUTE_THREAD;
    void report_stop(FinishReport& report) const AKO_COMPUTE_THREAD;
    std::string why_not_agreed() const AKO_COMPUTE_THREAD;

    const char* const those_in_;
    bool leaving_ = false;  ///< all that this peer has given is taken in
    std::optional<Time> finish_since_;
};

}  // namespace ako
