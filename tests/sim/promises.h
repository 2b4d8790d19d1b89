// What a run must come to, beside the ledger's invariants: who stands in for whom, when all stop,
// what the cut holds, how long the end takes. Judged by what really happened in the cluster, which
// no peer can see. Each promise is asked for only where what a scenario does to the cluster leaves
// room for it; the condition stands with it. Where a name had several processes, the newest is
// meant.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/ako_peer.h"
#include "tests/sim/coverage.h"
#include "tests/sim/faults.h"
#include "tests/sim/scenario.h"
#include "tests/sim/violation.h"

namespace ako::sim {

class Promises {
  public:
    /// All outlive this.
    Promises(const Scenario& scenario, const SimCluster& cluster, const Faults& faults,
             Coverage& coverage);

    void started(PeerIndex peer);
    /// Another process is about to begin under its name.
    void begins_anew(PeerIndex peer);
    void died(PeerIndex peer);
    /// It has left on purpose, and its report is there.
    void left(PeerIndex peer);
    /// A frame was handed to `to`.
    void arrived(PeerIndex from, PeerIndex to, const Header& header);
    /// `peer` has taken in what had arrived.
    void drained(PeerIndex peer);
    /// `peer` begins the computation of a round, and ends it.
    void trains(PeerIndex peer);
    void round_ended(PeerIndex peer);
    void stopped(PeerIndex peer);
    void adopted(PeerIndex peer);
    /// All have ended or died.
    void ended() const;

  private:
    using RowMap = std::vector<Version>;  ///< [block]
    /// "peer 3".
    static std::string name(const char* word, PeerIndex peer) {
        return std::string(word) + " " + std::to_string(peer);
    }
    /// The longest that a Status frame of one session took, in one direction.
    struct Way {
        Time session_began{-1};
        Time longest{0};
    };

    void count_protocol(PeerIndex from, PeerIndex to, const Header& header);
    void learn_way(PeerIndex from, PeerIndex to, const Status& status);
    void check_clock(PeerIndex peer, PeerIndex other) const;
    void check_standing_in(PeerIndex peer, PeerIndex other) const;
    /// Has `other` no process, and has it had none for so long that `peer` must know?
    bool is_surely_absent(PeerIndex peer, PeerIndex other) const;
    void check_scale(PeerIndex peer) const;
    void check_stops() const;
    void check_asked() const;
    void check_cut() const;
    void check_times() const;
    void check_known() const;
    void check_agreement() const;
    bool met_majority(PeerIndex peer) const;
    bool met_the_agreed(PeerIndex peer) const;
    /// Was there, and ready to answer, when the others looked for agreement.
    bool took_part(PeerIndex peer) const;
    /// Those of them that no long cut keeps apart from a majority.
    PeerSet can_agree() const;
    /// Its process was there, and had its row, before that moment.
    bool was_settled(PeerIndex peer, Time at) const;
    bool is_first(PeerIndex peer) const { return (begun_anew_ & peer_bit(peer)) == 0; }
    bool hangs_near(PeerIndex peer, Time at) const;
    /// From the moment something is sent to that in which the other side acts on it.
    Time hop() const;
    Time stop_bound() const;
    /// All rows can be where they must be before the proposer loses patience.
    bool rows_come_in_time() const;
    /// And that of one which died.
    bool settles_in_time(PeerIndex owner) const;
    /// All rows of a cut, each block asked for on one usual link.
    Time cut_time() const;
    std::optional<Time> first_stop() const;
    std::vector<PeerIndex> survivors() const;

    const Scenario& scenario_;
    const World& world_;
    const SimNetwork& network_;
    const AkoPeers peers_;
    const Faults& faults_;
    Coverage& coverage_;

    std::vector<Time> started_at_;                 ///< [peer]
    std::vector<Time> heard_at_;                   ///< [peer]: first by anybody
    std::vector<std::optional<Time>> trained_at_;  ///< [peer]: its first round began
    std::vector<Time> died_at_;                    ///< [peer], 0 = not
    std::vector<std::vector<Time>> rounds_at_;     ///< [peer][round - 1]: when it ended
    std::vector<std::optional<Time>> stopped_at_;  ///< [peer]
    std::vector<Round> stopped_in_;                ///< [peer]: its last round with a batch
    std::vector<std::optional<Time>> adopted_at_;
    std::vector<std::optional<Time>> left_;  ///< [at * n + peer]: when a Bye arrived
    std::vector<Way> ways_;                  ///< [to * n + from]
    std::vector<PeerSet> standing_in_;       ///< [peer]: for whom, when last looked at
    std::vector<PerRow<RowMap>> best_;       ///< [at][row][block]: the newest ever held there
    std::optional<Time> first_adopted_at_;
    std::map<PeerIndex, CutId> proposed_;  ///< the newest by each
    PeerSet proposers_ = 0;
    PeerSet begun_anew_ = 0;
};

}  // namespace ako::sim
