// See puller.h.
#include "src/puller.h"

#include <algorithm>
#include <bit>

namespace ako {

std::optional<PeerIndex> Puller::choose(PeerSet holders) {
    if (holders == 0) return std::nullopt;
    if ((holders & ~silent_) == 0) silent_ = 0;
    return static_cast<PeerIndex>(std::countr_zero(holders & ~silent_));
}

std::optional<Puller::Ask> Puller::step(Time now, PeerSet holders, bool exact,
                                        const Lacking& lacking) {
    if (outstanding_ > 0 && now < *patience_until_) return std::nullopt;
    if (outstanding_ > 0 && holder_) silent_ |= peer_bit(*holder_);
    outstanding_ = 0;
    holder_ = choose(holders);
    if (!holder_) return std::nullopt;

    Ask ask{*holder_, {row_, exact, {}}};
    BlockIndex block = cursor_;
    for (BlockIndex seen = 0; seen < block_count_ && outstanding_ < blocks_max; ++seen) {
        if (const std::optional<Version> version = lacking(block)) {
            auto& runs = ask.want.runs;
            if (!runs.empty() && runs.back().version == *version &&
                runs.back().blocks.first + runs.back().blocks.count == block) {
                ++runs.back().blocks.count;
            } else {
                runs.push_back({{block, 1}, *version});
            }
            ++outstanding_;
        }
        block = (block + 1) % block_count_;
    }
    if (outstanding_ == 0) return std::nullopt;
    cursor_ = block;
    patience_until_ = now + timeout_;
    return ask;
}

void Puller::arrived(BlockIndex count, Time now) {
    outstanding_ -= std::min(outstanding_, count);
    patience_until_ = now + timeout_;
}

}  // namespace ako
