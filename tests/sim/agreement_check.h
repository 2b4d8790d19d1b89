// What a cut is (I8): at most one is ever decided, over all lives of all processes; a majority of
// the names accepted it; and what a process has proposed or accepted it holds, block for block,
// until it adopts.
//
// One thing no protocol without a memory on disk can have: a process that begins when nobody it
// reaches knows of the earlier ones of its name is new as far as anybody can tell. Together with
// others who know nothing it may agree on a cut, while elsewhere an earlier process of its name has
// agreed on another. And two processes of one name that both live cut by cut share one vote without
// knowing it. A process that votes like that votes *apart*; a ballot that it has promised is apart,
// for it did not name what it forgot, and so is a vote that was regained by such a ballot. A cut
// that was proposed under such a ballot, or accepted with such a vote, is apart too; of all other
// cuts at most one is decided.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tests/sim/ako_peer.h"
#include "tests/sim/coverage.h"
#include "tests/sim/violation.h"

namespace ako::sim {

class AgreementCheck {
  public:
    /// All outlive this.
    AgreementCheck(const SimCluster& cluster, Coverage& coverage)
        : cluster_(cluster), coverage_(coverage) {}

    /// A frame was handed to `to`.
    void arrived(const AkoPeer& to, const Header& header);
    /// The last byte of a frame left `from`.
    void leaves(const AkoPeer& from, const Header& header);
    /// It has made a step, of its rounds or of the final exchange.
    void stepped(const AkoPeer& peer);
    void adopted(const AkoPeer& peer);
    /// All have ended or died.
    void ended() const;

  private:
    using RowMap = std::vector<Version>;  ///< [block]

    void learn_map(const CutRow& row);
    void learn_of_earlier(const AkoPeer& to, const Status& status);
    void check_holds(const AkoPeer& peer, CutId cut, const char* why) const;
    void note_promised(const AkoPeer& peer, const Promise& promise);
    void note_accepted(const AkoPeer& peer, CutId cut);
    void note_apart(CutId cut);
    bool votes_apart(const AkoPeer& peer) const;
    bool forgot_unknowingly(const AkoPeer& peer) const;
    /// Another process of its name voted while this one was there, or this one while that was.
    bool has_double(const AkoPeer& peer) const;
    std::size_t majority() const { return cluster_.size() / 2 + 1; }

    const SimCluster& cluster_;
    Coverage& coverage_;
    std::map<std::pair<CutId, RowIndex>, RowMap> maps_;  ///< as said
    std::map<const AkoPeer*, CutId> proposed_;           ///< the newest by each
    std::map<CutId, PeerSet> accepted_by_;               ///< names
    std::set<CutId> decided_;
    std::set<CutId> apart_;
    std::map<const AkoPeer*, Ballot> asked_for_vote_;  ///< the newest by each
    std::set<Ballot> apart_ballots_;                   ///< promised by one that votes apart
    std::map<const AkoPeer*, CutId> accepted_;  ///< the newest by each
    std::set<const AkoPeer*> told_;             ///< that an earlier process of its name was there
    std::map<const SimPeer*, Time> voted_;      ///< has promised or accepted: the last time
    std::map<const SimPeer*, Time> began_;      ///< made its first step
};

}  // namespace ako::sim
