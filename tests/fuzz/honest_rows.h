// What must hold in the mode `ako` beside a peer that lies: what an honest peer holds of another
// honest one's row is bitwise what that one made, unless it has asked the liar for that row, whom
// it then has to believe; and nobody computes at what is not finite. One thread; the cluster
// outlives it.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "ako/assert.h"
#include "src/modes/ako_mode.h"
#include "src/numbers/finite.h"
#include "tests/fuzz/small_cluster.h"

namespace ako::test {

class HonestRows {
  public:
    HonestRows(std::size_t peer_count, PeerIndex liar)
        : liar_(liar), made_(peer_count), asked_(peer_count) {}

    /// Called with every frame, before it is judged; notes who asks the liar for whose row.
    void heard(PeerIndex from, PeerIndex to, const Frame& frame) {
        const auto* want = std::get_if<Want>(&frame.header);
        if (want == nullptr || to != liar_ || want->row == initial_row) return;
        asked_[from] |= peer_bit(owner_of(want->row));
    }
    /// Called after every tick.
    void check(SmallCluster& cluster) {
        for (PeerIndex peer = 0; peer < cluster.size(); ++peer)
            if (peer != liar_) remember(compute_of(cluster[peer]));
        for (PeerIndex peer = 0; peer < cluster.size(); ++peer)
            if (peer != liar_) check(compute_of(cluster[peer]));
    }

  private:
    static const AkoCompute& compute_of(FuzzedMember& member) {
        return static_cast<AkoMode&>(member.halves()).compute();
    }

    void remember(const AkoCompute& compute) {
        const Ledger& ledger = compute.rows().ledger();
        if (!compute.rows().claimed() || compute.agreement().adopted()) return;
        const std::span<const float> values = ledger.values(ledger.own());
        made_[owner_of(ledger.own())].try_emplace(ledger.version(ledger.own(), 0), values.begin(),
                                                  values.end());
    }

    void check(const AkoCompute& compute) const {
        const Ledger& ledger = compute.rows().ledger();
        AKO_ASSERT(all_finite(compute.replica()), "a replica is not finite");
        for (const RowIndex row : ledger.all()) {
            const PeerIndex owner = owner_of(row);
            const PeerIndex self = owner_of(ledger.own());
            if (owner == self || owner == liar_ || (asked_[self] & peer_bit(owner)) != 0) continue;
            for (BlockIndex block = 0; block < ledger.blocks().count(); ++block)
                AKO_ASSERT(is_past(ledger, row, block),
                           "peer " + std::to_string(self) + " holds of the row of peer " +
                               std::to_string(owner) + " what that one never made");
        }
    }

    bool is_past(const Ledger& ledger, RowIndex row, BlockIndex block) const {
        const Version version = ledger.version(row, block);
        if (version == Version{}) return true;
        const auto& made = made_[owner_of(row)];
        const auto found = made.find(version);
        if (found == made.end()) return false;
        const Range range = ledger.blocks().range(block);
        const std::span<const float> held = ledger.block(row, block);
        return std::equal(held.begin(), held.end(),
                          found->second.begin() + static_cast<std::ptrdiff_t>(range.first));
    }

    const PeerIndex liar_;
    std::vector<std::map<Version, std::vector<float>>> made_;  ///< [peer]
    std::vector<PeerSet> asked_;  ///< [peer]: rows that it has asked the liar for, by their owners
};

}  // namespace ako::test
