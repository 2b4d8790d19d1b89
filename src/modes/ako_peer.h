// The compute half of the mode `ako`: everything that decides about rows, replica, stop and cut. A
// state machine that is told the time and never waits, so that the simulator runs the very same
// code; the waiting is in AkoExchange. Compute thread only; speaks to the network half through
// Inbox and Outbox.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ako/exchange.h"
#include "src/finish.h"
#include "src/inbox.h"
#include "src/ledger.h"
#include "src/membership.h"
#include "src/modes/mode_settings.h"
#include "src/optimizer.h"
#include "src/outbox.h"
#include "src/own_row.h"
#include "src/recent_ages.h"
#include "src/relay.h"
#include "src/replica.h"
#include "src/snapshots.h"
#include "src/staleness_bound.h"

namespace ako {

class AkoPeer {
  public:
    /// `initial` is [parameter_count] and must outlive this, as all references.
    AkoPeer(const ModeSettings& settings, std::span<const float> initial, Inbox& inbox,
            Outbox& outbox, Snapshots& snapshots);

    struct Begin {
        enum class Kind { train, stop, wait, failed };
        Kind kind = Kind::wait;
        std::string why;
    };
    /// Takes in what has arrived and says whether to train now; `wait`: ask again after the next
    /// event.
    Begin begin_round(Time now);
    std::span<const float> replica() const { return replica_.values(); }
    Result<void> end_round(std::span<const float> gradient, const RoundResult& result, Time now);

    void request_stop(StopReason reason) { hear_stop(reason); }
    /// The others ended without this peer (Departures): it stops after this round. It does not say
    /// so, for should it be wrong, the others are to go on.
    void leave_off() { left_behind_ = true; }

    /// Goes on with the final exchange; true when it is over. `hurried`: somebody waits for this
    /// process to end, so it waits neither for a majority that is not there nor for the lost.
    bool step_finish(Time now, bool hurried = false);
    /// After the final exchange. `out` [parameter_count] gets the anchor.
    FinishReport report(std::span<float> out, Time now) const;

    double progress() const;
    Round round() const { return round_; }
    void copy_anchor(std::span<float> out) const;
    bool evaluates() const { return membership_.lowest_live() == settings_.self; }
    void announce(const Verdict& verdict);
    const std::optional<Verdict>& newest_verdict() const { return verdict_; }
    LinkView link(PeerIndex peer, Time now) const;
    /// Peers without a session, while this one waits for the start.
    std::vector<PeerIndex> missing() const;

    const Ledger& ledger() const { return ledger_; }
    const Replica& replica_state() const { return replica_; }
    const Finish& finish() const { return finish_; }
    const Membership& membership() const { return membership_; }
    /// It waits for nothing any more but for what `staleness_rounds_max` asks.
    bool started() const { return started_; }
    std::uint64_t peers_given_up() const { return peers_given_up_; }
    std::uint64_t blocks_refused() const { return blocks_refused_; }

  private:
    void drain(Time now);
    void handle(Arrival& arrival, Time now);
    void begin_session(PeerIndex peer);
    void handle_partial(const Arrival& arrival, Time now);
    /// `sealed_at`: when the block was, if that may move a mark.
    void take_block(PeerIndex from, const Partial& partial, BlockIndex block,
                    std::span<const float> values, const std::optional<Time>& sealed_at, Time now);
    void refuse_block(PeerIndex from, const Partial& partial, BlockVerdict verdict);
    void update_standing_in(Time now);
    bool may_start(Time now, std::string& why_not);
    bool too_stale(Time now);
    void hear_stop(StopReason reason);
    void post_status(bool urgent);
    void adopt(Time now);
    std::string name(PeerIndex peer) const { return settings_.peer_names[peer]; }

    const ModeSettings settings_;  // constant after construction
    const Blocks blocks_;
    const std::span<const float> initial_;
    Inbox& inbox_;
    Outbox& outbox_;
    Snapshots& snapshots_;

    Ledger ledger_;
    Membership membership_;
    Replica replica_;
    OwnRow own_row_;
    Sgd optimizer_;
    Finish finish_;
    Relaying relaying_;
    StalenessBound bound_;

    SnapshotIndex current_;        ///< the own row
    bool current_posted_ = false;  ///< the network half knows it (and will give it back)
    Round round_ = 0;
    std::uint64_t samples_ = 0;
    float loss_ = 0;
    std::vector<float> update_;                 ///< one block
    std::vector<float> difference_;             ///< one block
    std::vector<std::vector<Time>> sealed_at_;  ///< [peer][block], our clock; of what is held
    std::vector<RecentAges> ages_;              ///< [peer], of what came over its link

    std::optional<Time> waiting_since_;
    bool started_ = false;
    bool held_back_ = false;            ///< by the bound on staleness
    std::vector<Round> lowest_told_;    ///< [peer]: of each row, in the newest Status
    std::uint64_t peers_given_up_ = 0;  ///< waits for a peer that ended without it
    StopReason stop_ = StopReason::none;
    bool left_behind_ = false;
    std::optional<Status> posted_;  ///< the newest
    std::optional<Verdict> verdict_;
    std::optional<Time> finish_began_;
    std::optional<Time> finish_ended_;
    std::uint64_t blocks_refused_ = 0;
};

}  // namespace ako
