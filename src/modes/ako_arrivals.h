// What a peer of the mode `ako` does with what arrives: each frame goes to the part that waits for
// it, each block into the ledger. It counts the blocks that are refused, and how old those are that
// come. Compute thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ako/threads.h"
#include "src/modes/ako_parts.h"
#include "src/modes/ako_word.h"
#include "src/numbers/recent_times.h"

namespace ako {

class AkoArrivals {
  public:
    /// Both outlive this.
    AkoArrivals(AkoParts& parts, AkoWord& word)
        : parts_(parts),
          word_(word),
          ages_(parts.settings.peer_count()),
          refused_(parts.settings.peer_count()) {}

    /// Takes in all that is there.
    void take_in(Time now) AKO_COMPUTE_THREAD;
    /// Lets the own row go to those whose first word in their session was heard.
    void answer() AKO_COMPUTE_THREAD;

    std::uint64_t blocks_refused() const {
        std::uint64_t sum = 0;
        for (const RefusedBlocks& row : refused_) sum += row.damaged + row.diverged;
        return sum;
    }
    /// What came over this link, for reports.
    void describe(PeerIndex peer, LinkView& out) const;

  private:
    void handle(Arrival& arrival, Time now) AKO_COMPUTE_THREAD;
    void begin_session(const Arrival& arrival, Time now) AKO_COMPUTE_THREAD;
    void handle_status(const Arrival& arrival, const Status& status, Time now) AKO_COMPUTE_THREAD;
    void hear_status(const Arrival& arrival, const Status& status, Time now) AKO_COMPUTE_THREAD;
    void handle_bye(PeerIndex from, const Bye& bye) AKO_COMPUTE_THREAD;
    void handle_partial(const Arrival& arrival, Time now) AKO_COMPUTE_THREAD;
    /// May a peer pass this on? An answer to an earlier process of this name is dropped as well.
    bool may_say(PeerIndex from, const Partial& partial) const AKO_COMPUTE_THREAD;
    /// The payload of a partial as float32; empty if it is not as it should be.
    std::span<const float> elements_of(const Arrival& arrival,
                                       const Partial& partial) AKO_COMPUTE_THREAD;
    void take_initial(const Arrival& arrival, const Partial& partial) AKO_COMPUTE_THREAD;
    void serve(const Arrival& arrival, const Want& want) AKO_COMPUTE_THREAD;
    /// `sealed_at`: when the block was, if that may move a mark.
    void take_block(PeerIndex from, const Partial& partial, BlockIndex block,
                    std::span<const float> values, const std::optional<Time>& sealed_at,
                    Time now) AKO_COMPUTE_THREAD;
    void refuse_block(PeerIndex from, const Partial& partial, BlockCheck check) AKO_COMPUTE_THREAD;

    struct RefusedBlocks {
        std::uint64_t damaged = 0;
        std::uint64_t diverged = 0;
    };

    AkoParts& parts_;
    AkoWord& word_;
    PeerSet answered_ = 0;                ///< see Outbox::answer
    PeerSet unanswered_ = 0;              ///< not yet
    PeerSet versions_wanted_ = 0;         ///< by these peers: often asked, answered once
    std::vector<RecentAges> ages_;        ///< [peer], of what came over its link
    std::vector<RefusedBlocks> refused_;  ///< [peer] whose row they were of
    std::vector<float> decoded_;          ///< of a payload, the elements of a run of blocks
};

}  // namespace ako
