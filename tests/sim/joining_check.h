// What a process must have before it goes on from what others hold (src/README.md, "Joining"): its
// own row as new as anybody whom it reaches has said, and every other row as new as its owner said
// when their session began. Judged by what was said to it.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "tests/sim/ako_peer.h"
#include "tests/sim/coverage.h"
#include "tests/sim/invariants.h"

namespace ako::sim {

class JoiningCheck {
  public:
    /// All outlive this.
    JoiningCheck(const SimCluster& cluster, const History& history, Coverage& coverage)
        : cluster_(cluster), history_(history), coverage_(coverage) {}

    /// A frame was handed to `to`.
    void arrived(const AkoPeer& from, const AkoPeer& to, const Header& header);
    /// It has taken in what had arrived.
    void drained(const AkoPeer& peer);
    /// It has claimed a row that is made of these.
    void claimed(const AkoPeer& peer, const Invariants::Sources& sources);
    /// It begins the computation of a round.
    void trains(const AkoPeer& peer);

  private:
    /// What another process has said in the session that stands.
    struct Word {
        std::uint64_t session = 0;
        PerRow<RowHeld> first;                     ///< Status
        PerRow<std::vector<VersionRun>> versions;  ///< once it was asked for them
        bool trained_before = false;               ///< it had made rounds when the two first met
    };
    struct State {
        std::map<const AkoPeer*, Word> words;  ///< from
        std::optional<Time> joining_since;
        std::optional<Time> joined_at;
        bool out_of_patience = false;  ///< it went on without what did not come
        bool trained = false;          ///< since then
        bool joined = false;           ///< ever
    };

    /// Of the session that stands, if there is one and it has said something.
    const Word* word(const AkoPeer& peer, const AkoPeer& from) const;
    std::vector<const AkoPeer*> reached(const AkoPeer& peer) const;
    bool ran_out_of_patience(const AkoPeer& peer) const;
    void check_claim(const AkoPeer& peer, const AkoPeer& holder,
                     const Invariants::Sources& sources) const;
    void check_holds(const AkoPeer& peer, const AkoPeer& holder, RowIndex row) const;

    const SimCluster& cluster_;
    const History& history_;
    Coverage& coverage_;
    std::map<const AkoPeer*, State> states_;
};

}  // namespace ako::sim
