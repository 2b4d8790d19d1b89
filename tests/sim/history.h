// All that ever was: every value of every row, by the incarnation and the round in which it was
// made. What the checkers compare with, because no peer can see it.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ako/blocks.h"
#include "ako/types.h"

namespace ako::sim {

class History {
  public:
    History(std::size_t peer_count, const Blocks& blocks) : blocks_(blocks), lives_(peer_count) {}

    const Blocks& blocks() const { return blocks_; }

    /// A process begins to write the row of this name, as from a round that it names. False if the
    /// incarnation is one that was there before.
    bool claim(PeerIndex owner, Incarnation incarnation, Round round, std::span<const float> row);
    /// It has made this block of the next round of it, the rest of which may never be made.
    void begin(PeerIndex owner, Incarnation incarnation, BlockIndex block,
               std::span<const float> values);
    /// It has made the next round of it. False if that is not the next, or not what was begun.
    bool add(PeerIndex owner, Incarnation incarnation, Round round, std::span<const float> row);

    /// Was this version of the row ever made, or begun?
    bool happened(PeerIndex owner, Version version) const;
    /// Were these, bit for bit, the values of the block?
    bool was(PeerIndex owner, BlockIndex block, Version version,
             std::span<const float> values) const;
    /// All of a life, oldest first, from what it claimed on; [parameter_count] each.
    const std::vector<std::vector<float>>& rows(PeerIndex owner, Incarnation incarnation) const {
        return lives_[owner].at(incarnation).rows;
    }
    /// Where the values of a claimed block may come from: of each life, the newest first, the
    /// newest version that they are bit for bit, and any of two that were begun at zero apart from
    /// each other, of which they are the sum. Where rows are rounded there may be more than one
    /// answer. Nothing if there is none.
    std::optional<std::vector<Version>> sources(PeerIndex owner, BlockIndex block,
                                                Incarnation claimed,
                                                std::span<const float> values) const;
    /// The lives of a name, for people.
    std::string text(PeerIndex owner) const;
    /// Has any process made a round under this name?
    bool made_rounds(PeerIndex owner) const;

  private:
    struct Life {
        Round first = 0;
        std::vector<std::vector<float>> rows;            ///< [round - first]
        std::map<BlockIndex, std::vector<float>> begun;  ///< of the round after these
    };
    std::span<const float> block_of(const std::vector<float>& row, BlockIndex block) const;
    /// What the block ever was in this life, by round, oldest first.
    std::vector<std::span<const float>> all_of(const Life& life, BlockIndex block) const;
    void sum_up(PeerIndex owner, BlockIndex block, Incarnation claimed,
                std::span<const float> values, std::vector<Version>& found) const;

    const Blocks blocks_;
    std::vector<std::map<Incarnation, Life>> lives_;  ///< [owner]
};

}  // namespace ako::sim
