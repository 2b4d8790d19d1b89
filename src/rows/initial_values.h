// The parameters that the rows are counted from. Usually all peers bring the same ones, and each
// says so in its Hello. Or they bring their own and all take over those of the lowest peer of the
// file: then whoever has those says so in its Status, by their digest, and everybody else pulls
// their blocks from who does, before its own row begins. On the wire they are one more row,
// `initial_row`, which nobody ever changes.
//
// Which values are the run's is decided once: by the lowest peer, at a moment when nobody whom it
// can reach has any. Later it takes them over itself, like anybody who returns.
//
// No clock, no sockets; `step` is called after events and at least every 50 ms. Compute thread only.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ako/blocks.h"
#include "ako/frame.h"
#include "ako/types.h"
#include "src/group/roster.h"
#include "src/rows/ledger.h"
#include "src/rows/puller.h"

namespace ako {

class InitialValues {
  public:
    /// Of all their blocks.
    static constexpr Version version{1, 1};

    /// `values` [parameter_count] are this peer's own, and the run's unless `of_lowest`. All
    /// outlive this.
    InitialValues(std::span<float> values, const Blocks& blocks, const Roster& roster,
                  bool of_lowest);

    /// The values are the run's.
    bool known() const { return known_; }
    /// What a Status says of them: nothing if they are not known, or the same for all anyway.
    const std::optional<Digest>& said() const { return said_; }
    /// Those that this peer brought are the run's.
    void keep_own();
    /// Peers that can be reached and say that they have them.
    PeerSet holders() const;
    /// The digest that `status` says and that is not that of the values known here.
    bool differ(const Status& status) const;

    /// Asks for what is due, of values that are not known. Nothing is expected before the first
    /// call.
    std::vector<Puller::Ask> step(Time now);
    /// When they came nearer last.
    Time moved_at() const { return moved_at_; }
    /// How many blocks are still to come.
    BlockIndex lacking() const { return lacking_; }

    /// Blocks of `initial_row` came. Those that are damaged are `damaged`, and none is taken of
    /// values that are known; so is none beyond the bounds of a row.
    BlockCheck take(PeerIndex from, const Partial& partial, std::span<const float> values, Time at);
    void lacks(PeerIndex from, const Lack& lack, Time now) { puller_.lacks(from, lack, now); }
    /// A new session of `holder`: what was asked in the last one does not come.
    void forget_asked(PeerIndex holder) { puller_.forget_asked(holder); }

    /// For those who ask; empty while they are not known.
    HeldBlock block(BlockIndex block) const;

  private:
    void aim(Time now);
    void complete();

    const std::span<float> values_;
    const Blocks blocks_;
    const Roster& roster_;
    bool known_;
    std::optional<Digest> said_;

    Puller puller_;
    std::optional<Digest> target_;  ///< of what is pulled
    std::vector<bool> held_;        ///< [block count], of that
    BlockIndex lacking_;
    std::optional<Time> began_at_;
    Time moved_at_{};
};

}  // namespace ako
