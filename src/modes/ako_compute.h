// The compute half of the mode `ako`: everything that decides about rows, replica, stop and cut. A
// state machine that is told the time and never waits: it begins (AkoBeginning), trains, and
// finishes (Finish); see "The states of a peer" in src/README.md. Compute thread only; speaks to
// the traffic half through Mailbox and Outbox.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ako/exchange.h"
#include "ako/threads.h"
#include "src/agreement/end_times.h"
#include "src/agreement/finish.h"
#include "src/group/halves.h"
#include "src/group/mailbox.h"
#include "src/group/mode_settings.h"
#include "src/group/roster.h"
#include "src/modes/ako_beginning.h"
#include "src/numbers/batch_growth.h"
#include "src/numbers/batch_plan.h"
#include "src/numbers/optimizer.h"
#include "src/numbers/recent_times.h"
#include "src/rows/attendance.h"
#include "src/rows/initial_values.h"
#include "src/rows/leaving.h"
#include "src/rows/outbox.h"
#include "src/rows/relay.h"
#include "src/rows/rows.h"
#include "src/rows/snapshots.h"
#include "src/rows/staleness_bound.h"

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
        return beginning_.state() != AkoBeginning::State::waiting || beginning_.passes_initial();
    }
    /// Peers without a session, while this one waits for the start.
    std::vector<PeerIndex> missing() const override AKO_COMPUTE_THREAD;
    std::span<const float> replica() const override AKO_COMPUTE_THREAD {
        return rows_.replica().values();
    }
    Result<void> end_round(const Learned& learned, const RoundResult& result,
                           Time now) override AKO_COMPUTE_THREAD;

    void announce(const Verdict& verdict) override AKO_COMPUTE_THREAD;
    void request_stop(StopReason reason) override AKO_COMPUTE_THREAD {
        hear_stop(reason, peer_bit(settings_.self));
    }
    void request_leave() override AKO_COMPUTE_THREAD { asked_to_leave_ = true; }
    /// It gives what it holds to those who stay, and ends then.
    bool leaving() const AKO_COMPUTE_THREAD { return leaving_.has_value(); }

    /// The anchor.
    void copy_parameters(std::span<float> out) const override AKO_COMPUTE_THREAD;
    Standing standing() const override AKO_COMPUTE_THREAD;
    LinkView link(PeerIndex peer, Time now) const override AKO_COMPUTE_THREAD;
    bool save(Checkpoint& out) override AKO_COMPUTE_THREAD;

    /// Hurried, it waits neither for a majority that is not there nor for the lost.
    bool step_finish(Time now, bool hurried = false) override AKO_COMPUTE_THREAD;
    /// `out` gets the anchor.
    FinishReport report(std::span<float> out, Time now) override AKO_COMPUTE_THREAD;

    Round round() const { return round_; }
    const Ledger& ledger() const { return rows_.ledger(); }
    const Replica& replica_state() const { return rows_.replica(); }
    const Rows& rows() const { return rows_; }
    /// What the updates of the newest round were multiplied by.
    double update_scale() const { return update_scale_; }
    const Finish& finish() const { return finish_; }
    const Roster& roster() const { return roster_; }
    bool claimed() const { return rows_.claimed(); }
    /// In which it makes its row; 0 before the first claim.
    Incarnation incarnation() const { return rows_.incarnation(); }
    AkoBeginning::State state() const { return beginning_.state(); }
    std::uint64_t peers_given_up() const { return peers_given_up_; }
    std::uint64_t blocks_refused() const {
        std::uint64_t sum = 0;
        for (const RefusedBlocks& row : refused_) sum += row.damaged + row.diverged;
        return sum;
    }

  private:
    static constexpr const char* left_behind_text =
        "the others ended while this peer stood still or was cut off";

    Result<void> restore(const Checkpoint& from) AKO_COMPUTE_THREAD;
    void drain(Time now) AKO_COMPUTE_THREAD;
    void handle(Arrival& arrival, Time now) AKO_COMPUTE_THREAD;
    void begin_session(const Arrival& arrival, Time now) AKO_COMPUTE_THREAD;
    void handle_status(const Arrival& arrival, const Status& status, Time now) AKO_COMPUTE_THREAD;
    /// Lets the own row go to those whose first word in their session was heard.
    void answer() AKO_COMPUTE_THREAD;
    void hear_status(const Arrival& arrival, const Status& status, Time now) AKO_COMPUTE_THREAD;
    void handle_partial(const Arrival& arrival, Time now) AKO_COMPUTE_THREAD;
    /// The payload of a partial as float32; empty if it is not as it should be.
    std::span<const float> elements_of(const Arrival& arrival,
                                       const Partial& partial) AKO_COMPUTE_THREAD;
    void take_initial(const Arrival& arrival, const Partial& partial) AKO_COMPUTE_THREAD;
    void serve(const Arrival& arrival, const Want& want) AKO_COMPUTE_THREAD;
    /// `sealed_at`: when the block was, if that may move a mark.
    void take_block(PeerIndex from, const Partial& partial, BlockIndex block,
                    std::span<const float> values, const std::optional<Time>& sealed_at,
                    Time now) AKO_COMPUTE_THREAD;
    void refuse_block(PeerIndex from, const Partial& partial, BlockCheck check) AKO_COMPUTE_THREAD;
    /// What an own round adds: the optimizer's step for a gradient, an update as it is.
    Rows::MakeUpdate update_of(const Learned& learned) AKO_COMPUTE_THREAD;
    /// The way to the first round. Nothing: it is there (then the own row is claimed), or goes on.
    std::optional<Next> begin(Time now) AKO_COMPUTE_THREAD;
    bool joins() const { return beginning_.state() == AkoBeginning::State::joining; }
    /// Looks who takes part and who is back, to whom own growth gives way with the next change of
    /// the own row.
    void meet(Time now) AKO_COMPUTE_THREAD;
    /// In the final exchange the own row may still give way, to rows that must not count twice.
    void meet_at_the_end(Time now) AKO_COMPUTE_THREAD;
    /// One more round adds nothing but what rounding has cut off so far. False if that cannot be.
    bool close_row(Time now) AKO_COMPUTE_THREAD;
    bool may_add_nothing() const AKO_COMPUTE_THREAD;
    bool add_nothing(Time now) AKO_COMPUTE_THREAD;
    void update_standing_in(Time now) AKO_COMPUTE_THREAD;
    /// Of the next round: this peer's share among those that take part.
    std::size_t images() const AKO_COMPUTE_THREAD;
    bool too_stale(Time now) AKO_COMPUTE_THREAD;
    /// `asked`: at whom, of `requested`.
    void hear_stop(StopReason reason, PeerSet asked = 0) AKO_COMPUTE_THREAD;
    Next stopped() const AKO_COMPUTE_THREAD;
    /// This peer was asked to leave: it does, or stops for all where nobody stays.
    Next leave(Time now) AKO_COMPUTE_THREAD;
    /// True: it may go. False, and it does not leave any more: the run ends for all.
    bool step_leave(Time now) AKO_COMPUTE_THREAD;
    void say_left(FinishReport& report, Time now) const AKO_COMPUTE_THREAD;
    std::vector<PeerIndex> asked() const AKO_COMPUTE_THREAD;
    double progress() const AKO_COMPUTE_THREAD;
    void post_status(bool urgent) AKO_COMPUTE_THREAD;
    void adopt(Time now) AKO_COMPUTE_THREAD;
    std::string name(PeerIndex peer) const { return settings_.peer_names[peer]; }

    const ModeSettings settings_;  // constant after construction
    const Blocks blocks_;
    const BatchPlan plan_;
    Mailbox& mailbox_;
    Outbox& outbox_;

    Rows rows_;
    Roster roster_;
    Sgd optimizer_;
    Finish finish_;
    Relaying relaying_;
    InitialValues initial_;
    AkoBeginning beginning_;
    StalenessBound bound_;
    Attendance attendance_;
    double update_scale_ = 1;
    double kept_share_ = 1;  ///< of what was learned apart, once that has given way
    PeerSet answered_ = 0;         ///< see Outbox::answer
    PeerSet unanswered_ = 0;       ///< not yet
    PeerSet versions_wanted_ = 0;  ///< by these peers: often asked, answered once

    Round round_ = 0;
    std::uint64_t samples_ = 0;
    BatchGrowth growth_;
    std::optional<float> loss_;
    std::vector<RecentAges> ages_;  ///< [peer], of what came over its link

    bool held_back_ = false;            ///< by the bound on staleness
    PerRow<Round> lowest_told_;         ///< of each row, in the newest Status
    std::uint64_t peers_given_up_ = 0;  ///< waits for a peer that ended without it
    StopReason stop_ = StopReason::none;
    PeerSet asked_ = 0;  ///< who was asked for a stop that is `requested`
    bool asked_to_leave_ = false;
    std::optional<Leaving> leaving_;  ///< from its last round on, while the others go on
    /// The others ended without this peer (Departures): it stops after this round. It does not say
    /// so, for should it be wrong, the others are to go on.
    bool left_behind_ = false;
    std::optional<Status> posted_;  ///< the newest
    std::optional<Verdict> verdict_;
    std::optional<Time> finish_began_;
    EndTimes end_times_;
    struct RefusedBlocks {
        std::uint64_t damaged = 0;
        std::uint64_t diverged = 0;
    };
    std::vector<RefusedBlocks> refused_;  ///< [peer] whose row they were of
    std::vector<float> decoded_;  ///< of a payload, the elements of a run of blocks
    bool keeps_velocity_ = false;  ///< of a checkpoint, into the first life of the row
};

}  // namespace ako
