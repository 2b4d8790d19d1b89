// See coverage.h.
#include "src/exchange/coverage.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ako/assert.h"
#include "ako/exchange.h"

namespace ako {
namespace {

constexpr std::size_t word_bits = 64;

/// A bijection of 64 bits that mixes well: one output of SplitMix64 (Steele, Lea, Flood, 2014).
constexpr std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/// A hash of a peer and a portion; the same everywhere.
std::uint64_t hash(PeerIndex peer, const Portion& portion) {
    return mixed(mixed((std::uint64_t{portion.pass} << 32) | portion.place) ^ peer);
}

bool bit(const std::vector<std::uint64_t>& bits, std::uint32_t place) {
    return ((bits[place / word_bits] >> (place % word_bits)) & 1) != 0;
}

}  // namespace

Coverage::Coverage(PeerIndex self, std::size_t peer_count, const Sizes& sizes)
    : self_(self), sizes_(sizes), others_(peer_count) {
    AKO_ASSERT(sizes.portions >= 1 && sizes.portions <= std::min(portions_max, sizes.items),
               std::to_string(sizes.portions) + " portions");
    for (Bits& bits : done_) bits.assign((sizes.portions + word_bits - 1) / word_bits, 0);
}

// ---- what is done

bool Coverage::full(const Bits& bits) const {
    std::size_t count = 0;
    for (const std::uint64_t word : bits) count += static_cast<std::size_t>(std::popcount(word));
    return count == sizes_.portions;
}

bool Coverage::done(const Portion& portion) const {
    if (portion.pass < pass_) return true;
    if (portion.pass > pass_ + 1) return false;
    return bit(done_[portion.pass - pass_], portion.place);
}

void Coverage::set_done(const Portion& portion) {
    if (portion.pass < pass_ || portion.pass > pass_ + 1) return;
    done_[portion.pass - pass_][portion.place / word_bits] |= std::uint64_t{1}
                                                              << (portion.place % word_bits);
    end_full_passes();
}

void Coverage::begin_pass(std::uint32_t pass) {
    for (; pass_ < pass; ++pass_) {
        done_[0] = std::exchange(done_[1], Bits(done_[1].size(), 0));
    }
    begun_.erase(begun_.begin(), begun_.lower_bound({pass_, 0}));
}

void Coverage::end_full_passes() {
    while (full(done_[0])) begin_pass(pass_ + 1);
}

// ---- what is next

bool Coverage::own(const Portion& portion) const {
    return in_hand_ == portion || std::find(given_.begin(), given_.end(), portion) != given_.end();
}

bool Coverage::in_others_hands(const Portion& portion) const {
    return std::any_of(others_.begin(), others_.end(), [&](const Other& other) {
        return other.advances && other.in_hand == portion;
    });
}

bool Coverage::falls_here(const Portion& portion) const {
    const std::uint64_t here = hash(self_, portion);
    for (PeerIndex peer = 0; peer < others_.size(); ++peer) {
        if (others_[peer].takes_part && hash(peer, portion) > here) return false;
    }
    return true;
}

std::optional<Portion> Coverage::choose(std::uint32_t pass, bool from_others) const {
    std::optional<Portion> best;
    std::pair<bool, std::uint64_t> best_order;
    for (std::uint32_t place = 0; place < sizes_.portions; ++place) {
        const Portion portion{pass, place};
        if (done(portion) || own(portion) || (!from_others && in_others_hands(portion))) continue;
        const std::pair<bool, std::uint64_t> order{!falls_here(portion), hash(self_, portion)};
        if (best && best_order <= order) continue;
        best = portion;
        best_order = order;
    }
    return best;
}

std::optional<Portion> Coverage::choose() const {
    for (const std::uint32_t pass : {pass_, pass_ + 1}) {
        if (auto portion = choose(pass, false)) return portion;
    }
    return choose(pass_, true);
}

PortionSource::Taken Coverage::take() {
    std::optional<Portion> next = choose();
    if (!next) {  // a batch of more than two passes
        round_ended();
        next = choose();
    }
    AKO_ASSERT(next.has_value(), "no portion is left, although no pass is the last");
    in_hand_ = next;
    const auto begun = begun_.find(*next);
    items_ = items_ended_ = begun == begun_.end() ? 0 : begun->second;
    return {*next, items_};
}

void Coverage::given(const Portion& portion, std::size_t items, bool all) {
    AKO_ASSERT(in_hand_ == portion, "given out of a portion that is not in hand");
    items_ = items;
    if (!all) return;
    given_.push_back(portion);
    in_hand_.reset();
    items_ = items_ended_ = 0;
}

void Coverage::round_ended() {
    for (const Portion& portion : std::exchange(given_, {})) set_done(portion);
    items_ended_ = items_;
}

// ---- the others

void Coverage::follow(const Roster& roster, Round own_round) {
    for (PeerIndex peer = 0; peer < others_.size(); ++peer) {
        if (peer == self_) continue;
        const PeerView& view = roster[peer];
        others_[peer].takes_part = view.live() && !view.leaving() && !view.final_round;
        // One that hangs keeps what it has in hand from nobody. One that leaves makes no rounds,
        // but hands over what it has made of that.
        others_[peer].advances = (others_[peer].takes_part && roster.advancing(peer, own_round)) ||
                                 (view.live() && view.leaving());
    }
}

bool Coverage::plausible(const Covered& said) const {
    const auto fits = [this](const Bits& bits) {
        const std::size_t rest = sizes_.portions % word_bits;
        return bits.size() == done_[0].size() && (rest == 0 || (bits.back() >> rest) == 0);
    };
    const bool hand = !said.in_hand || (said.in_hand->place < sizes_.portions &&
                                        said.in_hand->pass <= sizes_.pass_max + 1 &&
                                        said.items <= size_of(said.in_hand->place));
    return said.pass <= sizes_.pass_max && fits(said.done) && fits(said.done_next) && hand;
}

void Coverage::hear(PeerIndex from, const Covered& said) {
    if (!plausible(said)) return;
    if (said.pass > pass_) begin_pass(said.pass);
    const auto merge = [this](const Bits& bits, std::uint32_t pass) {
        if (pass < pass_ || pass > pass_ + 1) return;
        Bits& into = done_[pass - pass_];
        for (std::size_t word = 0; word < bits.size(); ++word) into[word] |= bits[word];
    };
    merge(said.done, said.pass);
    merge(said.done_next, said.pass + 1);
    end_full_passes();
    others_[from].in_hand = said.in_hand;
    others_[from].items = said.items;
}

void Coverage::left(PeerIndex peer, bool row_is_whole) {
    Other& other = others_[peer];
    const std::optional<Portion> portion = std::exchange(other.in_hand, std::nullopt);
    if (!portion || done(*portion) || !row_is_whole) return;
    std::uint64_t& items = begun_[*portion];
    items = std::max(items, other.items);
}

Covered Coverage::said() const { return {pass_, done_[0], done_[1], in_hand_, items_ended_}; }

// ---- reports

std::uint64_t Coverage::seen_of(std::uint32_t pass) const {
    std::map<std::uint32_t, std::uint64_t> parts;  // items seen in portions not done
    const auto add = [&](const std::optional<Portion>& portion, std::uint64_t items) {
        if (!portion || portion->pass != pass || done(*portion)) return;
        std::uint64_t& part = parts[portion->place];
        part = std::max(part, items);
    };
    add(in_hand_, items_ended_);
    for (const Other& other : others_) add(other.in_hand, other.items);
    for (const auto& [portion, items] : begun_) add(portion, items);
    std::uint64_t seen = 0;
    for (const auto& [place, items] : parts) seen += items;
    for (std::uint32_t place = 0; place < sizes_.portions; ++place) {
        if (done({pass, place})) seen += size_of(place);
    }
    return seen;
}

Seen Coverage::seen() const { return {sizes_.items, pass_, seen_of(pass_), seen_of(pass_ + 1)}; }

}  // namespace ako
