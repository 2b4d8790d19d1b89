// See history.h.
#include "tests/sim/history.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <utility>

#include "src/exchange/incarnation.h"

namespace ako::sim {
namespace {

bool same(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

bool is_zero(std::span<const float> values) {
    return std::all_of(values.begin(), values.end(), [](float value) { return value == 0; });
}

}  // namespace

bool History::claim(PeerIndex owner, Incarnation incarnation, Round round,
                    std::span<const float> row) {
    const std::vector<float> values(row.begin(), row.end());
    const auto [place, is_new] = lives_[owner].emplace(incarnation, Life{round, {values}, {}});
    if (is_new) return true;
    // Begun at zero, with nothing made since, it may be begun at zero again.
    if (place->second.rows.size() != 1 || !is_zero(place->second.rows[0])) return false;
    place->second = {round, {values}, {}};
    return is_zero(row);
}

bool History::add(PeerIndex owner, Incarnation incarnation, Round round,
                  std::span<const float> row) {
    const auto found = lives_[owner].find(incarnation);
    if (found == lives_[owner].end()) return false;
    Life& life = found->second;
    if (round != life.first + life.rows.size()) return false;
    life.rows.emplace_back(row.begin(), row.end());
    return std::ranges::all_of(std::exchange(life.begun, {}), [&](const auto& begun) {
        return same(begun.second, block_of(life.rows.back(), begun.first));
    });
}

void History::begin(PeerIndex owner, Incarnation incarnation, BlockIndex block,
                    std::span<const float> values) {
    lives_[owner].at(incarnation).begun[block].assign(values.begin(), values.end());
}

std::vector<std::span<const float>> History::all_of(const Life& life, BlockIndex block) const {
    std::vector<std::span<const float>> all;
    for (const std::vector<float>& row : life.rows) all.push_back(block_of(row, block));
    if (const auto begun = life.begun.find(block); begun != life.begun.end())
        all.emplace_back(begun->second);
    return all;
}

std::span<const float> History::block_of(const std::vector<float>& row, BlockIndex block) const {
    const Range range = blocks_.range(block);
    return std::span(row).subspan(range.first, range.count);
}

bool History::happened(PeerIndex owner, Version version) const {
    if (version == Version{}) return true;
    const auto found = lives_[owner].find(version.incarnation);
    if (found == lives_[owner].end()) return false;
    const Life& life = found->second;
    const std::size_t begun = life.begun.empty() ? 0 : 1;
    return version.round >= life.first && version.round - life.first < life.rows.size() + begun;
}

bool History::was(PeerIndex owner, BlockIndex block, Version version,
                  std::span<const float> values) const {
    if (version == Version{}) return is_zero(values);
    if (!happened(owner, version)) return false;
    const Life& life = lives_[owner].at(version.incarnation);
    const auto all = all_of(life, block);
    const Round round = version.round - life.first;
    return round < all.size() && same(all[round], values);
}

std::optional<std::vector<Version>> History::sources(PeerIndex owner, BlockIndex block,
                                                     Incarnation claimed,
                                                     std::span<const float> values) const {
    std::vector<Version> found;
    for (auto it = lives_[owner].rbegin(); it != lives_[owner].rend(); ++it) {
        const auto& [incarnation, life] = *it;
        if (incarnation == claimed) continue;
        const auto all = all_of(life, block);
        for (std::size_t k = all.size(); k-- > 0;) {
            if (!same(all[k], values)) continue;
            found.push_back(version_of(life.first + k, incarnation));
            break;
        }
    }
    if (found.empty() && is_zero(values)) return std::vector<Version>{Version{}};
    sum_up(owner, block, claimed, values, found);
    if (found.empty()) return std::nullopt;
    return found;
}

// Two lives, which is all that ever come together at once.
void History::sum_up(PeerIndex owner, BlockIndex block, Incarnation claimed,
                     std::span<const float> values, std::vector<Version>& found) const {
    std::vector<float> sum(values.size());
    const auto& lives = lives_[owner];
    for (auto one = lives.begin(); one != lives.end(); ++one) {
        for (auto other = std::next(one); other != lives.end(); ++other) {
            if (one->first == claimed || other->first == claimed) continue;
            if (!begins(one->first) || !begins(other->first)) continue;
            const auto of_one = all_of(one->second, block), of_other = all_of(other->second, block);
            for (std::size_t k = 0; k < of_one.size(); ++k) {
                const auto mine = of_one[k];
                for (std::size_t l = 0; l < of_other.size(); ++l) {
                    const auto theirs = of_other[l];
                    std::transform(mine.begin(), mine.end(), theirs.begin(), sum.begin(),
                                   std::plus<>());
                    if (!std::equal(sum.begin(), sum.end(), values.begin())) continue;
                    found.push_back(version_of(one->second.first + k, one->first));
                    found.push_back(version_of(other->second.first + l, other->first));
                }
            }
        }
    }
}

std::string History::text(PeerIndex owner) const {
    std::string text;
    for (const auto& [incarnation, life] : lives_[owner]) {
        text += (text.empty() ? "" : ", ") + std::to_string(lives_before(incarnation)) + "/" +
                std::to_string(process_of(incarnation) % 1000) + " rounds " +
                std::to_string(life.first) + " to " +
                std::to_string(life.first + life.rows.size() - 1);
    }
    return text;
}

bool History::made_rounds(PeerIndex owner) const {
    return std::any_of(lives_[owner].begin(), lives_[owner].end(), [](const auto& entry) {
        return entry.second.first + entry.second.rows.size() > 1;
    });
}

}  // namespace ako::sim
