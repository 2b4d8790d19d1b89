// The replica: the parameters this peer computes gradients at, kept in step with the ledger.
//
//     replica = anchor + weight * (sum of U_i - K_ij over all j that are stood in for)
//     weight  = 1 / peer_count
//
// U_i is the own row; K_ij, the *mark*, is what U_i was when peer j sealed the newest partial held
// here. U_i - K_ij is the own progress that *stands in* for what j must have learned since. When a
// partial of j arrives, its difference goes in, and of the stand-in what was made before it was
// sealed goes out: the mark moves to what the own row was then. Snapshots tell what that was
// (OwnPast); before the oldest of them, the share of the growth since the last seal does.
//
// A mark stays as it is when j is not stood in for any more, and what stood in fades. Should j have
// trained apart meanwhile, a share of U_i - K_ij *gives way* when it returns: it leaves the own
// row, and stands in for j until j's blocks come, so that the replica does not change. Compute
// thread only.
#pragma once

#include <span>
#include <vector>

#include "ako/blocks.h"
#include "ako/types.h"
#include "src/rows/ledger.h"
#include "src/rows/own_past.h"

namespace ako {

class Replica {
  public:
    /// The stand-in of a peer that stopped advancing fades over this many rounds: at once it would
    /// be a jump in the loss.
    static constexpr unsigned fade_rounds = 8;
    /// The whole replica is computed afresh once in so many rounds, which bounds its rounding
    /// error.
    static constexpr std::size_t rebuild_parts = 64;

    /// `ledger` and `initial` [parameter_count] outlive the replica.
    Replica(const Ledger& ledger, std::span<const float> initial);

    std::span<const float> values() const { return values_; }

    /// The own row grew by `difference` on `range`: once for itself and once for each peer stood in
    /// for. With `gave_way`, that was taken out of the row and is no part of the progress, which is
    /// difference + gave_way.
    void add_own(Range range, std::span<const float> difference,
                 std::span<const float> gave_way = {});

    /// What is held of this block of `peer`, which is stood in for, contains the round that has
    /// just been added already: the mark grows with the own row.
    void keep_up(PeerIndex peer, BlockIndex block, std::span<const float> difference);

    /// Peer `peer`'s block is about to be replaced in the ledger: its difference goes in. With a
    /// `share` (0 .. 1) that part of the stand-in goes out, even if it fades; without one (relayed,
    /// not advancing) none does. `at_seal`, if that is known, is what the own row was then, and
    /// where the mark of a peer that is stood in for moves to instead.
    void absorb(PeerIndex peer, BlockIndex block, std::span<const float> new_values,
                const double* share, const OwnPast::Moment* at_seal = nullptr);

    /// The part phi of the stand-in on a block that was made before `sealed_at`, and from now on
    /// counts from there: (sealed_at - last) / (now - last), within 0 .. 1; 0/0 is 1; `last` never
    /// goes back.
    double share(PeerIndex peer, BlockIndex block, Time sealed_at, Time now);

    /// From now on own progress stands in for `peer`; the replica stays bitwise as it is.
    void begin_standing_in(PeerIndex peer, Time now);
    /// `peer` does not advance any more: its stand-in fades over `fade_rounds` calls of `fade`.
    void stop_standing_in(PeerIndex peer);
    bool stands_in(PeerIndex peer) const { return marks_[peer].state == Marks::State::standing_in; }

    /// Neither stood in for, nor does an earlier stand-in still fade: its mark shows what the own
    /// row grew by since it was heard of.
    bool apart(PeerIndex peer) const { return marks_[peer].state == Marks::State::none; }
    /// `peer`, which is apart, is heard of all the same, through others: until now.
    void heard_of(PeerIndex peer);
    /// The own round since which a peer is not stood in for.
    Round apart_since(PeerIndex peer) const { return marks_[peer].since; }
    /// Adds to `gave_way`, [elements of the block], a `share` of what the own block grew by while
    /// `peer` was apart, less what gave way already. Called for each block, before its `add_own`;
    /// after the last block comes `end_giving_way`. `before`: the round of `peer` beyond which its
    /// blocks were made meanwhile.
    void give_way(PeerIndex peer, BlockIndex block, double share, Round before,
                  std::span<float> gave_way);
    /// What gave way stands in for the blocks of `peer` that have not come yet: until they do if it
    /// advances, else it fades.
    void end_giving_way(PeerIndex peer, bool advances);
    /// Something gave way to this block of `peer`, of which nothing has come since, from anyone.
    bool awaits(PeerIndex peer, BlockIndex block) const {
        const Marks& marks = marks_[peer];
        return marks.state != Marks::State::none && marks.last_seal[block] == before_all;
    }
    /// Once per round.
    void fade();

    /// The own row is another one: nobody is stood in for, all is computed afresh, and what the row
    /// grows by is counted from now on.
    void begin_anew();

    /// Computes the next 1/rebuild_parts of the replica afresh from the ledger.
    void rebuild_next();

    /// The replica as its definition says, on `range`: for the rebuild and for the check of I3.
    void compute(Range range, std::span<float> out) const;

  private:
    /// The last seal of a block to which something gave way: before whatever comes.
    static constexpr Time before_all = Time::min();

    struct Marks {
        enum class State { none, standing_in, fading, giving_way };
        State state = State::none;
        unsigned fade_rounds_left = 0;
        /// K_ij, [parameter_count]; empty: zero, as the own row was at first.
        std::vector<float> values;
        std::vector<float> fading;    ///< what is left of the stand-in, [parameter_count], or empty
        std::vector<Time> last_seal;  ///< [block count]; not of `none`
        Round since = 0;              ///< own round in which it was last stood in for or heard of
    };

    void mark_own_row(Marks& marks);
    void begin_fading(Marks& marks);
    Round own_round() const { return ledger_.version(ledger_.own(), 0).round; }

    const Ledger& ledger_;
    const std::span<const float> initial_;
    const float weight_;
    std::vector<float> values_;  ///< [parameter_count]
    std::vector<Marks> marks_;   ///< [peer_count]
    unsigned standing_in_count_ = 0;
    BlockIndex rebuild_cursor_ = 0;
};

}  // namespace ako
