// The compute half of the mode `ako`: a state machine that is told the time and never waits. It
// begins (AkoBeginning), trains, in step with the others or not (AkoStep), and leaves or finishes
// (Finish); see "Peers that come and return" in src/exchange/README.md. What arrives AkoArrivals
// takes in, what is said AkoWord says. Compute thread only; speaks to the traffic half through
// Mailbox and Outbox.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ako/exchange.h"
#include "ako/threads.h"
#include "src/agreement/end_times.h"
#include "src/exchange/halves.h"
#include "src/modes/ako_arrivals.h"
#include "src/modes/ako_meetings.h"
#include "src/modes/ako_parts.h"
#include "src/modes/ako_step.h"
#include "src/modes/ako_word.h"
#include "src/numbers/optimizer.h"
#include "src/rows/leaving.h"
#include "src/rows/ready_end.h"

namespace ako {

class AkoCompute final : public ComputeHalf {
  public:
    /// `initial` is [parameter_count] and must outlive this, as all references; it is overwritten
    /// where those of another peer are taken over. Throws StartupError if the checkpoint to go on
    /// from cannot be read.
    AkoCompute(const ModeSettings& settings, std::span<float> initial, Mailbox& mailbox,
               Outbox& outbox, Snapshots& snapshots);

    std::optional<Next> begin_round(Time now) override AKO_COMPUTE_THREAD;
    /// It waits for nobody any more but for what it lacks of a run that is under way, and for what
    /// `staleness_rounds_max` asks.
    bool started() const override AKO_COMPUTE_THREAD {
        return state() != AkoBeginning::State::waiting || parts_.beginning.passes_initial();
    }
    /// Peers without a session, while this one waits for the start.
    std::vector<PeerIndex> missing() const override AKO_COMPUTE_THREAD;
    std::span<const float> replica() const override AKO_COMPUTE_THREAD {
        return parts_.rows.replica().values();
    }
    /// Where others wait for the round.
    bool gives_by_layers() const override AKO_COMPUTE_THREAD {
        return parts_.staleness.waits().rounds_max > 0;
    }
    /// Blocks whose gradient is ready may travel before the rest of the round is made.
    bool gradient_ready(Range range, std::span<const float> gradient,
                        Time now) override AKO_COMPUTE_THREAD;
    Result<void> end_round(const Learned& learned, const RoundResult& result,
                           Time now) override AKO_COMPUTE_THREAD;

    void announce(const Verdict& verdict) override AKO_COMPUTE_THREAD;
    void request_stop(StopReason reason) override AKO_COMPUTE_THREAD {
        parts_.stop.request(reason);
    }
    void request_leave() override AKO_COMPUTE_THREAD { asked_to_leave_ = true; }
    /// It gives what it holds to those who stay, and ends then.
    bool leaves() const override AKO_COMPUTE_THREAD { return leaving_.has_value(); }

    /// The anchor.
    void copy_parameters(std::span<float> out) const override AKO_COMPUTE_THREAD;
    Standing standing() const override AKO_COMPUTE_THREAD;
    LinkView link(PeerIndex peer, Time now) const override AKO_COMPUTE_THREAD;
    const Roster* peers() const override AKO_COMPUTE_THREAD { return &parts_.roster; }
    bool save(Checkpoint& out) override AKO_COMPUTE_THREAD;

    /// Leaves, as a peer that is asked to.
    bool step_hand_over(Time now) override AKO_COMPUTE_THREAD;
    /// Hurried, it waits neither for a majority that is not there nor for the lost.
    bool step_finish(Time now, bool hurried = false) override AKO_COMPUTE_THREAD;
    /// `out` gets the anchor.
    FinishReport report(std::span<float> out, Time now) override AKO_COMPUTE_THREAD;

    // For tests.
    Round round() const { return parts_.budget.round(); }
    const Rows& rows() const { return parts_.rows; }
    const Finish& agreement() const { return parts_.finish; }
    const AkoMeetings& meetings() const { return meetings_; }
    const AkoArrivals& arrivals() const { return arrivals_; }
    AkoBeginning::State state() const { return parts_.beginning.state(); }

  private:
    Result<void> restore(const Checkpoint& from) AKO_COMPUTE_THREAD;
    /// The way to the first round. Nothing: it is there (then the own row is claimed), or goes on.
    std::optional<Next> begin(Time now) AKO_COMPUTE_THREAD;
    /// A stop, or the wish to leave, has come before this peer has begun.
    std::optional<Next> end_before_begun(Time now) AKO_COMPUTE_THREAD;
    void post_status(bool urgent) AKO_COMPUTE_THREAD {
        word_.post(urgent, {finish_began_.has_value(), leaving_.has_value()});
    }
    /// This peer was asked to leave: it does, or stops for all where nobody stays.
    Next leave(Time now) AKO_COMPUTE_THREAD;
    /// True: it may go. False, and it does not leave any more: the run ends for all.
    bool step_leave(Time now) AKO_COMPUTE_THREAD;
    void begin_leaving(Time now) AKO_COMPUTE_THREAD;
    /// True if it has closed its row, by a round of its own.
    bool begin_finish(Time now) AKO_COMPUTE_THREAD;
    void adopt(Time now) AKO_COMPUTE_THREAD;

    AkoParts parts_;
    AkoMeetings meetings_;
    AkoWord word_;
    AkoArrivals arrivals_;
    AkoStep step_;
    Sgd optimizer_;
    bool keeps_velocity_ = false;  ///< of a checkpoint, into the first life of the row
    ReadyEnd ready_end_;           ///< of the gradient of the round under way
    bool diverged_ = false;        ///< nothing can be added any more

    bool asked_to_leave_ = false;
    std::optional<Leaving> leaving_;  ///< from its last round on, while the others go on
    /// The others ended without this peer (Departures): it stops after this round. It does not say
    /// so, for should it be wrong, the others are to go on.
    bool left_behind_ = false;
    std::optional<Time> finish_began_;
    EndTimes end_times_;
};

}  // namespace ako
