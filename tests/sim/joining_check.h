// What a process must have before it goes on from what others hold ("Peers that come and return" in
// src/exchange/README.md): its own row as new as anybody whom it reaches has said, and every other
// row as new as its owner said when their session began. Judged by what was said to it.
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
    /// It has claimed a row that is made of these, to train, or to stop at once.
    void claimed(const AkoPeer& peer, const Invariants::Sources& sources, bool stops);
    /// It begins the computation of a round.
    void trains(const AkoPeer& peer);

  private:
    /// What another process has said: in the session that stands, and of its versions since this
    /// one asked for them.
    struct Word {
        std::uint64_t session = 0;
        PerRow<RowHeld> first;                     ///< Status
        PerRow<std::vector<VersionRun>> versions;  ///< once it was asked for them
        bool trained_before = false;               ///< it had made rounds when the two first met
    };
    struct State {
        std::map<const AkoPeer*, Word> words;  ///< from
        std::optional<Time> joining_since;
        bool trained = false;  ///< ever
        bool joined = false;   ///< ever
    };

    /// What `from` has said in the session that stands; nullptr without one, or if it said nothing.
    const Word* word(const AkoPeer& peer, const AkoPeer& from) const;
    std::vector<const AkoPeer*> reached(const AkoPeer& peer) const;
    /// What it has said to hold: its first Status, where it was not asked.
    static std::vector<Version> expected_of(const Word& said, RowIndex row, bool also_first,
                                            std::size_t block_count);
    /// Somebody, anywhere, who lives and has something of the row of this name.
    const AkoPeer* some_holder(const AkoPeer& peer) const;
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
