// How the others of an elastic ring get on, as far as this peer sees it: which member hangs, which
// newcomer takes nothing of what waits for it, and which was taken in already since the newest
// round here. What shows that they get on is told to the board, for the compute half waits for
// them. Network thread only. Lives as long as the traffic half.
#pragma once

#include <vector>

#include "ako/threads.h"
#include "src/modes/elastic_parts.h"

namespace ako {

class ElasticPace {
  public:
    /// `parts` outlives this.
    explicit ElasticPace(ElasticParts& parts);

    // ---- what happens
    /// Called all the time, before what the compute half has used since is known.
    void poll(Round own_round, Time now) AKO_NETWORK_THREAD;
    /// Before what it says is that of ElasticPeers.
    void hear(PeerIndex peer, const Membership& said, Time at) AKO_NETWORK_THREAD;
    void hear(PeerIndex peer, Round round, Time at) AKO_NETWORK_THREAD;
    void epoch_changed(Time now) AKO_NETWORK_THREAD;
    /// A new epoch is a sign that the others get on, but not one after the other without a round.
    void sign_of_epoch(Time now) AKO_NETWORK_THREAD;
    /// While all members are ready for the epoch.
    void look_for_the_hung(Time now) AKO_NETWORK_THREAD;

    // ---- what is so
    /// A member that is there goes on no more. `ready`: this peer is, for the epoch.
    bool is_stalled(PeerIndex peer, bool ready, Time now) const AKO_NETWORK_THREAD;
    /// It was in already since the newest round here, so that taking it in again may go on for
    /// ever.
    bool was_tried(PeerIndex peer) const AKO_NETWORK_THREAD;

  private:
    struct Pace {
        Time moved_at{};             ///< when more had come, or nothing waited for it, last
        Round round = 0;             ///< the newest it has announced
        bool hangs = false;          ///< others came further, and wait for it for long
        std::uint64_t taken_in = 0;  ///< the newest process that was taken in,
        Round taken_in_at = 0;       ///< and this peer's round then
    };

    /// Enough are in to make rounds.
    bool members_train() const AKO_NETWORK_THREAD;

    ElasticParts& parts_;
    const Time life_timeout_;
    const Time hang_patience_;  ///< less than that with which all break off
    std::vector<Pace> paces_;   ///< [peer_count]; the entry of this peer is not used
    Round own_round_ = 0;
    PeerSet members_before_ = 0;  ///< of the epoch, once it was looked at
    Round round_of_epoch_ = 0;    ///< this peer's round when it came about
    std::size_t epochs_without_round_ = 0;
};

}  // namespace ako
