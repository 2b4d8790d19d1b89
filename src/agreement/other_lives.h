// Whether this process is a later life of its peer: whether anybody has heard of rounds, of a row
// or of a vote of its name that are not its own. Such a process has no vote, for it does not know
// what the earlier one has promised (agreement.h). Compute thread only.
#pragma once

#include <vector>

#include "ako/frame.h"
#include "ako/types.h"
#include "src/exchange/roster.h"

namespace ako {

class OtherLives {
  public:
    /// So many other lives of the own row are remembered; hearing again of one that is
    /// forgotten costs the vote again, which is safe.
    static constexpr std::size_t lives_kept = 64;

    /// `roster` outlives this. `process_id`: of this life of the peer.
    OtherLives(const Roster& roster, std::uint64_t process_id)
        : roster_(roster), process_id_(process_id), beside_(roster.peer_count()) {}

    /// This process goes on with an earlier run, with its own row of this incarnation (0: without
    /// it). All who were part of that are over. So what others know of it from their disks shows no
    /// other life; what somebody knows who did not begin beside this process does.
    void resume(Incarnation own_row);

    /// `peer` has said this, which Roster knows already. True if it shows another life for the
    /// first time: more rounds of this peer than this process has made, a row of another process,
    /// or that the peer may have voted before this process could (`may_vote`).
    bool heard(PeerIndex peer, const Status& status, bool may_vote);

    /// Peers that may have voted, as others say.
    PeerSet may_have_voted() const { return may_have_voted_; }

  private:
    /// The row is of another process that is heard of for the first time.
    bool is_new(Incarnation own_row);
    /// Does this process of `peer` go on with an earlier run, as this one does, or wait whether
    /// anybody does, and had neither begun when they met?
    bool resumes_beside(PeerIndex peer, const Status& status, bool may_vote);

    const Roster& roster_;
    const std::uint64_t process_id_;
    PeerSet may_have_voted_ = 0;
    Round rounds_of_earlier_ = 0;  ///< the most that others have heard of and this process not made
    std::vector<Incarnation> others_;  ///< of the own row, heard of; oldest first
    bool resumes_ = false;
    std::vector<std::uint64_t> beside_;  ///< [peer]: its process that resumes beside this one
    std::vector<Incarnation> on_disks_;  ///< of the own row, oldest first
};

}  // namespace ako
