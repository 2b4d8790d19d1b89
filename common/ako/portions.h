// The seam between the data and the exchange where data shards follow the live peers
// (`data.sharding: elastic`). The order of a pass over the data, which all peers derive alike, is
// cut into portions of (nearly) one size; what a peer trains on next is one of them. Compute thread
// only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ako {

/// A run of items of one pass.
struct Portion {
    std::uint32_t pass = 0;   ///< from 0
    std::uint32_t place = 0;  ///< in the order of that pass

    auto operator<=>(const Portion&) const = default;

    static void fields(auto& it, auto&& each) {
        each("pass", it.pass);
        each("place", it.place);
    }
};

/// How many a pass has. What a peer that is lost has in hand is trained on again, and a bit for
/// each of them travels with every Status: so not few, and not many. At least a batch each, where
/// that leaves some for every peer.
constexpr std::size_t portions_max = 512;
constexpr std::size_t portions_of(std::size_t item_count, std::size_t batch,
                                  std::size_t peer_count) {
    const std::size_t wanted = std::max(item_count / batch, 16 * peer_count);
    return std::clamp<std::size_t>(wanted, 1, std::min(item_count, portions_max));
}

/// Says which portions this peer trains on.
class PortionSource {
  public:
    virtual ~PortionSource() = default;

    /// Portions in one pass.
    virtual std::size_t portion_count() const = 0;
    struct Taken {
        Portion portion;
        std::size_t first = 0;  ///< items of it that another peer has trained on
    };
    /// The next for this peer.
    virtual Taken take() = 0;
    /// So many items of it, with those of others, are given out for rounds that have ended or are
    /// under way; all of them: it is over with the round.
    virtual void given(const Portion& portion, std::size_t items, bool all) = 0;
};

}  // namespace ako
