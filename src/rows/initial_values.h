// The parameters that the rows are counted from. Usually all peers bring the same ones, and each
// says so in its Hello. Or they bring their own and all take over those of the lowest peer of the
// file: then whoever has those says so in its Status, by their digest, and everybody else pulls
// their blocks from who does, before its own row begins. On the wire they are one more row,
// `initial_row`, which nobody ever changes.
//
// Which values are the run's is decided once: by the lowest peer, at a moment when nobody whom it
// can reach has any. Later it takes them over itself, like anybody who returns.
//
// No clock, no sockets; `step` is called after events and at least every 50 ms. Compute thread
// only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ako/blocks.h"
#include "ako/frame.h"
#include "ako/types.h"
#include "src/exchange/roster.h"
#include "src/rows/ledger.h"
#include "src/rows/puller.h"

namespace ako {

class InitialValues {
  public:
    /// The version of all their blocks.
    static constexpr Version version{1, 1};

    /// `values` [parameter_count] are this peer's own, and the run's unless `of_lowest`. All
    /// outlive this.
    InitialValues(std::span<float> values, const Blocks& blocks, const Roster& roster,
                  bool of_lowest);

    /// The values are the run's.
    bool known() const { return known_; }
    /// What a Status says of them: nothing if they are not known, or the same for all anyway.
    const std::optional<Digest>& said() const { return said_; }
    /// Those that this peer brought are the run's; not once some of another were aimed at.
    void keep_own() { complete(); }
    bool untouched() const { return !target_; }
    /// Peers that can be reached and say that they have them.
    PeerSet holders() const;
    /// The digest that `status` says and that is not that of the values known here.
    bool differ(const Status& status) const;

    /// Asks for what is due, while they are not known. Nothing is expected before the first call.
    std::vector<Puller::Ask> step(Time now);
    /// When they came nearer last.
    Time moved_at() const { return moved_at_; }
    /// How many blocks are still to come, and how many are there.
    BlockIndex lacking() const { return lacking_; }
    BlockIndex held() const { return blocks_.count() - lacking_; }

    /// Takes blocks of `initial_row` while they are not known, from a peer that says it has them.
    /// `damaged`: not as they were sent. `diverged`: not finite; or all are there, and they are not
    /// what was said.
    BlockCheck take(PeerIndex from, const Partial& partial, std::span<const float> values, Time at);
    void lacks(PeerIndex from, const Lack& lack, Time now);
    /// A new session of `holder`: what was asked in the last one does not come.
    void forget_asked(PeerIndex holder) { puller_.forget_asked(holder); }

    /// Somebody asks for some.
    void asked(Time at) { asked_at_ = std::max(asked_at_, at); }
    Time asked_at() const { return asked_at_; }
    /// For those who ask; empty unless `said`.
    HeldBlock block(BlockIndex block) const;

  private:
    void aim(Time now);
    void forget();
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
    bool again_ = false;  ///< what came was not what was said, and that is no movement any more
    std::optional<Time> began_at_;
    Time moved_at_{};

    std::vector<std::uint32_t> checksums_;  ///< [block count], once known, for those who ask
    Time asked_at_{};
};

}  // namespace ako
