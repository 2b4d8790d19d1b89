// Joining a run that is under way: what a peer takes in before it makes a round of its own. Every
// peer that it can reach says which version of every block it holds (WantVersions, Versions); the
// newest of each block is what is to come, the own row's among them, which an earlier process made.
// The owners stream their rows anyway, with their grants lifted; the rest is asked for of whoever
// holds it, and so is what a slow link would bring late. It is over when
//
//   - every peer that it can reach has said how it is and what it holds in this session,
//   - so has, or does not come for `meet`, every peer that those can reach, and
//   - every block is as new as any live peer has said to hold it.
//
// What does not come any nearer for `timeout` it goes on without. Nothing here follows what others
// learn meanwhile, so it ends however fast they are. A session that begins counts as coming nearer,
// for somebody is there who may hold what is lacking; but of one peer only so often, or a link that
// comes and goes would hold up the joining for ever.
//
// The own row may be there several times, begun at zero by processes that did not know of each
// other (`another`): then one is taken in after the other and `put_aside`, and their sum is the
// row.
//
// No clock, no sockets; `step` is called after events and at least every 50 ms. Compute thread
// only.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "ako/frame.h"
#include "ako/row_index.h"
#include "ako/types.h"
#include "src/exchange/roster.h"
#include "src/rows/ledger.h"
#include "src/rows/puller.h"

namespace ako {

class Joining {
  public:
    using Send = std::function<void(PeerIndex, Header)>;
    /// So many sessions of a peer put the time-out off: the first, and again after a process was
    /// replaced and a network was cut. What a further one brings, blocks, does so by itself.
    static constexpr unsigned sessions_counted = 3;
    struct Times {
        Time meet;     ///< within which a peer that others can reach comes here as well
        Time timeout;  ///< how long it waits while nothing moves
    };

    /// Both outlive this.
    Joining(const Ledger& ledger, const Roster& roster, Send send, Times times);

    /// There is a run to join. May be called again: then nothing is known of what others hold.
    void begin(Time now);

    /// The first frame of a session of `peer`.
    void begin_session(PeerIndex peer, bool new_process, Time now);
    void heard(PeerIndex from, const Versions& versions, Time now);
    /// The highest incarnation that anybody has named of the own row; 0 = none.
    Incarnation highest() const { return highest_; }
    void heard_of(Incarnation incarnation) { highest_ = std::max(highest_, incarnation); }
    /// A Partial came, whatever became of its blocks.
    void arrived(PeerIndex from, const Partial& partial, Time at) {
        puller_.arrived(from, partial, at);
    }
    void lacks(PeerIndex from, const Lack& lack, Time now) { puller_.lacks(from, lack, now); }
    /// The ledger has taken a block.
    void ledger_changed() { count_again_ = true; }
    /// Was this incarnation of the own row put aside? Then no more is taken of it.
    bool is_aside(Incarnation incarnation) const;
    bool has_put_aside() const { return !aside_.empty(); }

    /// Asks for what is due. True when there is nothing more to wait for.
    bool step(Time now);

    /// Once it is over: there is one more row of the own name that was begun at zero.
    bool another() const;
    /// Then: the blocks that are held of the one that came last.
    std::vector<BlockIndex> to_add() const;
    /// They were put aside (Rows::set_aside): the next row is to come.
    void put_aside(Time now);

    /// Everybody that it can reach has said what it holds.
    bool informed() const;
    /// Blocks that are still to come, of all that are known of.
    std::size_t lacking() const { return lacking_sum_; }
    /// Peers that it can reach and that have not said what they hold.
    PeerSet silent() const;
    Time began_at() const { return began_at_; }

  private:
    /// What one peer holds.
    struct Source {
        PerRow<std::vector<VersionRun>> rows;  ///< empty: it has not said so yet
        std::optional<Time> asked_at;
        bool counts = false;    ///< it is live
        unsigned sessions = 0;  ///< since the joining began

        /// See sessions_counted.
        bool puts_off() const { return sessions <= sessions_counted; }

        bool complete() const;
    };

    bool met(Time now) const;
    /// May somebody still come back who may hold what nobody here does?
    bool holders_may_come() const;
    bool nobody_comes() const;
    void look();
    void ask_for_versions(Time now);
    void aim();
    void aim(RowIndex row);
    /// What is held may have told which of several rows is taken.
    void count(Time now);
    void pull(Time now);
    /// The peers in reach that have something of the row that is to come.
    PeerSet holders(RowIndex row) const;
    /// Blocks of the row that were begun at zero are taken of this incarnation only; 0: there is
    /// none.
    Incarnation begun(RowIndex row) const;
    bool may_take(RowIndex row, Incarnation incarnation, Incarnation begun) const;

    const Ledger& ledger_;
    const Roster& roster_;
    const Send send_;
    const Times times_;

    Puller puller_;
    std::vector<Source> sources_;          ///< [peer]
    PerRow<std::vector<Version>> target_;  ///< [row][block]: what is to come, or newer
    PerRow<Incarnation> begun_;            ///< [row], when `aim` last looked
    PerRow<BlockIndex> lacking_;           ///< [row]
    std::size_t lacking_sum_ = 0;
    bool aim_again_ = true;
    bool count_again_ = true;

    Incarnation highest_ = 0;
    std::vector<Incarnation> aside_;
    Time began_at_{};
    Time moved_at_{};
};

}  // namespace ako
