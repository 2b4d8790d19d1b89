// The final exchange of one peer: from its last round to a cut that all who finish together hold.
//
//   propose   the lowest live peer, once it holds every live peer's final round (or after a while,
//   then
//             others too), proposes the version map it holds
//   accept    a peer accepts a cut only once it holds exactly its blocks, so a decided cut outlives
//   its proposer adopt     whoever hears of the decision pulls exactly that map; its blocks
//   override newer ones
//
// From the first cut that a peer proposes or accepts, its ledger is *frozen*: what it holds must
// stay held, so only blocks that a cut names are still taken, and kept beside it. No clock, no
// sockets; `step` is called after events and at least every 50 ms. Compute thread only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "ako/frame.h"
#include "ako/types.h"
#include "src/agreement.h"
#include "src/cut.h"
#include "src/ledger.h"
#include "src/membership.h"
#include "src/puller.h"

namespace ako {

struct FinishTimes {
    Time exchange;  ///< how long the proposer waits for rows that do not come
    Time linger;    ///< how long a peer that has adopted serves others
    Time ask;       ///< for an answer to a Want and between two tries of any question
};

class Finish {
  public:
    using Send = std::function<void(PeerIndex, Header)>;
    /// What came beside the ledger counts as held only here: version maps that may be known at
    /// once. Each proposer has one at a time, so more than peers_max means somebody makes them up.
    static constexpr std::size_t maps_max = peers_max;

    /// All three outlive this.
    Finish(Ledger& ledger, const Membership& membership, Send send, FinishTimes times);

    /// This peer has made its last round.
    void begin(Time now);
    bool begun() const { return begun_at_.has_value(); }

    /// Messages of the agreement (Prepare, Promise, Accept, Accepted, WantCut, CutRow).
    void handle(PeerIndex from, const Header& header, Time now);

    /// From now on only `take` may change the ledger.
    bool frozen() const { return frozen_; }
    /// Keeps the block beside the ledger if a cut under way names exactly it and neither holds it
    /// nor, not being frozen, will take it. True if it was kept.
    bool take(PeerIndex row, BlockIndex block, Version version, std::span<const float> values,
              std::uint32_t checksum, Time now);
    struct HeldBlock {
        std::span<const float> values;
        std::uint32_t checksum = 0;
    };
    /// A block of exactly this version, from the ledger or from beside it; empty if it is not held.
    HeldBlock find(PeerIndex row, BlockIndex block, Version version) const;

    void step(Time now);

    CutId accepted() const { return agreement_.accepted(); }
    CutId decided() const { return agreement_.decided(); }
    /// The decided cut is in the ledger.
    bool adopted() const { return digest_.has_value(); }
    /// Of all rows in order; the caller adds the anchor's. Set once adopted.
    void set_digest(const Digest& digest) { digest_ = digest; }
    const std::optional<Digest>& digest() const { return digest_; }
    /// The cut is complete here and waits to be adopted by the caller with `adopt_cut`.
    bool ready_to_adopt() const { return ready_to_adopt_; }
    void adopt_cut(Time now);
    /// Adopted, and nobody needs this peer any more: everyone who took part has adopted the cut or
    /// left, or the linger time is over. Hurried, it does not wait for the lost.
    bool done(Time now, bool hurried) const;

  private:
    bool holds(PeerIndex row, BlockIndex block, Version version) const;
    /// The map of `cut`, asking for it where it is not known; null until it has come.
    const CutMap* map_of(CutId cut, Time now);
    PeerSet holders_of(CutId cut) const;
    /// True once every block of the cut is held; asks for those that are not.
    bool pull(CutId cut, Time now);

    bool may_propose(Time now) const;
    /// Is every row here that can still come?
    bool complete() const;
    bool settled(PeerIndex row) const;
    void propose(Time now);
    void push_agreement(Time now);
    void try_accept(Time now);
    void handle_message(PeerIndex from, const Header& header, Time now);
    void deliver(PeerIndex to, Header header, Time now);

    Ledger& ledger_;
    const Membership& membership_;
    const Send send_;
    const FinishTimes times_;

    Agreement agreement_;
    std::map<CutId, CutMap> maps_;
    CutStore store_;
    std::vector<Puller> pullers_;  ///< [peer_count]
    bool frozen_ = false;
    bool ready_to_adopt_ = false;
    std::optional<Digest> digest_;

    std::optional<Time> begun_at_;
    Time adopted_at_{};
    unsigned proposals_ = 0;  ///< each waits twice as long before the next
    Time heard_at_{};         ///< of the agreement, or a block of a cut: something still moves
    Time block_at_{};         ///< a block of a cut, or its map, came
    std::optional<Time> asked_at_;  ///< the outstanding question was last sent
    std::optional<Header> asked_;
    std::optional<Time> map_asked_at_;
    PeerSet map_asked_ = 0;
};

}  // namespace ako
