// What of the data has been trained on, and what this peer takes next, where that follows the live
// peers (`data.sharding: elastic`). There is no coordinator: each peer knows the portions that
// are done as far as it has heard (sets that only grow and are merged by union), and chooses by a
// rule that all share:
//
//   1. a portion of the lowest pass that is not over, if it is neither done nor in the hand of a
//      peer that advances: first those that fall to this peer, because its hash of them is the
//      highest of all that take part (Thaler and Ravishankar, 1998), then any, in an order of its
//      own
//   2. if there is none, one of the next pass, by the same rule
//   3. if there is none either, one that is in another's hand: a peer that is a whole pass slower
//      than the others must not hold up a pass
//
// What holds: a pass is over for a peer only when it knows that every portion of it was trained on
// by somebody, whoever joined, left or was lost meanwhile (at least once). Twice is trained on what
// two took before they heard of each other, as at the end of a pass; what a lost peer had in hand;
// and, while the network is cut, what both sides do. A peer that leaves on purpose says how far it
// has come in its portion. The portion stays in its hand while it hands its row over. When it has
// gone, another peer goes on from there if the row is whole here; otherwise that peer begins the
// portion anew. With a peer that is lost goes what of its row had not been sent, as ever.
//
// Compute thread only.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ako/frame.h"
#include "ako/portions.h"
#include "src/exchange/roster.h"

namespace ako {

struct Seen;

class Coverage final : public PortionSource {
  public:
    struct Sizes {
        std::size_t items = 0;  ///< items in the data set
        std::size_t portions = 1;
        std::uint32_t pass_max = 0;  ///< nobody comes further in this run
    };
    Coverage(PeerIndex self, std::size_t peer_count, const Sizes& sizes);

    std::size_t portion_count() const override { return sizes_.portions; }
    Taken take() override;
    void given(const Portion& portion, std::size_t items, bool all) override;

    /// The round for which all this was given has ended.
    void round_ended();
    /// Takes in which peers take part now, and whose portions in hand are not to be touched.
    void follow(const Roster& roster, Round own_round);
    /// `from` says this. What cannot be of this run is not heeded.
    void hear(PeerIndex from, const Covered& said);
    /// It has gone on purpose. What it has in hand begins where it stopped, if its row is whole
    /// here, else at its beginning.
    void left(PeerIndex peer, bool row_is_whole);

    Covered said() const;
    /// As far as heard of.
    Seen seen() const;

  private:
    using Bits = std::vector<std::uint64_t>;
    struct Other {
        std::optional<Portion> in_hand;
        std::uint64_t items = 0;
        bool takes_part = false;
        bool advances = false;
    };

    std::size_t size_of(std::uint32_t place) const {
        return sizes_.items * (place + 1) / sizes_.portions -
               sizes_.items * place / sizes_.portions;
    }
    bool done(const Portion& portion) const;
    void set_done(const Portion& portion);
    /// Every pass before this one is over.
    void begin_pass(std::uint32_t pass);
    void end_full_passes();
    bool full(const Bits& bits) const;
    bool own(const Portion& portion) const;
    bool in_others_hands(const Portion& portion) const;
    bool falls_here(const Portion& portion) const;
    std::optional<Portion> choose(std::uint32_t pass, bool from_others) const;
    std::optional<Portion> choose() const;
    bool plausible(const Covered& said) const;
    std::uint64_t seen_of(std::uint32_t pass) const;

    const PeerIndex self_;
    const Sizes sizes_;

    std::uint32_t pass_ = 0;
    std::array<Bits, 2> done_;                ///< this pass and the next
    std::vector<Other> others_;               ///< [peer_count]; the entry of this peer is not used
    std::map<Portion, std::uint64_t> begun_;  ///< items given by peers that left

    std::optional<Portion> in_hand_;
    std::uint64_t items_ = 0;        ///< items of it that were given out
    std::uint64_t items_ended_ = 0;  ///< and those in rounds that have ended
    std::vector<Portion> given_;     ///< whole, for a round that has not ended
};

}  // namespace ako
