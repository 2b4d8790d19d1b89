// How an epoch of an elastic ring begins at this process: what every member holds, whether all know
// that, and what those that come in are told; and where it stands with that, as the compute half
// hears it (EpochBoard). Network thread only. Lives as long as the traffic half.
#pragma once

#include <optional>
#include <vector>

#include "ako/threads.h"
#include "src/modes/elastic_pace.h"
#include "src/modes/elastic_parts.h"

namespace ako {

class ElasticBeginning {
  public:
    /// Both outlive this.
    ElasticBeginning(ElasticParts& parts, ElasticPace& pace)
        : parts_(parts), pace_(pace), states_(parts.settings.peer_count()) {}

    // ---- what happens
    void session_up(PeerIndex peer) AKO_NETWORK_THREAD;
    void hear(PeerIndex peer, const MemberState& state) AKO_NETWORK_THREAD;
    /// Another epoch is known: what this process holds is said in it, if it is in.
    void epoch_changed() AKO_NETWORK_THREAD;
    /// Begins, once all members have said what they hold, and goes, once all know that. False:
    /// nobody is left who holds the parameters.
    bool begin(Time now) AKO_NETWORK_THREAD;
    /// A newcomer is as any other, once it has the state and has heard what is known of it.
    void come_in() AKO_NETWORK_THREAD;
    /// Newcomers are told what the compute half knows, once it has said it.
    void tell_newcomers() AKO_NETWORK_THREAD;
    /// At a process that is not in: tells the compute half once all others are over.
    void look_whether_all_ended(Time now) AKO_NETWORK_THREAD;
    void post_place() AKO_NETWORK_THREAD;

    // ---- what is so
    const Holding& holding() const AKO_NETWORK_THREAD { return holding_; }
    /// It has begun here.
    bool ready() const AKO_NETWORK_THREAD { return ready_; }
    bool all_ready() const AKO_NETWORK_THREAD;
    /// What this peer is to be told, one time.
    std::optional<OutFrame> next(PeerIndex peer) AKO_NETWORK_THREAD;

  private:
    ElasticParts& parts_;
    ElasticPace& pace_;

    Holding holding_;  ///< when this process came into the epoch
    bool ready_ = false;
    std::optional<MemberState> told_;                 ///< what this peer knows, for newcomers
    PeerSet untold_ = 0;                              ///< who needs to hear it
    std::vector<std::optional<MemberState>> states_;  ///< [peer], what it told this newcomer
    bool run_is_over_ = false;                        ///< without this peer
};

}  // namespace ako
