// See invariants.h.
#include "tests/sim/invariants.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "ako/norm.h"
#include "src/exchange/growth_watch.h"
#include "src/exchange/incarnation.h"
#include "src/rows/grid.h"

namespace ako::sim {
namespace {

std::string place(const AkoPeer& at, RowIndex row, BlockIndex block) {
    return "at peer " + std::to_string(at.settings.self) + ", row " + std::to_string(row.place()) +
           ", block " + std::to_string(block);
}

}  // namespace

Invariants::Invariants(std::size_t peer_count, const Blocks& blocks,
                       const TrainingSettings& training)
    : peer_count_(peer_count),
      blocks_(blocks),
      training_(training),
      history_(peer_count, blocks),
      ended_at_(peer_count, {Time{0}}),
      row_max_(peer_count, 0.0) {}

Invariants::Seen& Invariants::seen(const AkoPeer& peer) {
    Seen& seen = seen_[&peer];
    if (!seen.versions.empty()) return seen;
    seen.versions.assign(peer_count_, std::vector<Version>(blocks_.count()));
    seen.own_sum.assign(blocks_.element_count(), 0.0);
    seen.velocity.assign(blocks_.element_count(), 0.0);
    return seen;
}

Invariants::Sources Invariants::claimed(const AkoPeer& peer) {
    const PeerIndex self = peer.settings.self;
    const RowIndex own = row_of(self);
    const std::span<const float> row = peer.half.rows().ledger().values(own);
    const Incarnation incarnation = peer.incarnation();
    Sources sources;
    for (BlockIndex block = 0; block < blocks_.count(); ++block) {
        const auto found =
            history_.sources(self, block, incarnation, peer.half.rows().ledger().block(own, block));
        // What it held before it may have been of a row begun apart, which goes into a sum.
        const Version before = seen(peer).versions[self][block];
        if (!found) {
            throw Violation("I1: a claimed row never was " + place(peer, own, block) +
                            ", where round " + std::to_string(before.round) + " of life " +
                            std::to_string(lives_before(before.incarnation)) + "/" +
                            std::to_string(process_of(before.incarnation) % 1000) +
                            " was held; claimed is " +
                            std::to_string(process_of(incarnation) % 1000) + " with life " +
                            std::to_string(lives_before(incarnation)) + ", round " +
                            std::to_string(peer.half.round()) + "; lives: " + history_.text(self));
        }
        const bool kept = std::any_of(found->begin(), found->end(),
                                      [&](Version version) { return version >= before; });
        if (!kept && !begins(before.incarnation)) {
            throw Violation("I5: a claimed row is older than what was held " +
                            place(peer, own, block));
        }
        sources.push_back(*found);
    }
    if (!history_.claim(self, incarnation, peer.half.round(), row)) {
        throw Violation("I1: an incarnation was claimed twice at peer " + std::to_string(self) +
                        "; lives: " + history_.text(self));
    }
    seen(peer).round = peer.half.round();
    const std::span<const float> carry = peer.half.rows().carry();
    seen(peer).own_sum.assign(row.begin(), row.end());
    for (std::size_t k = 0; k < row.size(); ++k) seen(peer).own_sum[k] += carry[k];
    std::fill(seen(peer).velocity.begin(), seen(peer).velocity.end(), 0.0);
    for (const float value : row) {
        row_max_[self] = std::max(row_max_[self], std::abs(static_cast<double>(value)));
    }
    return sources;
}

bool Invariants::gave_part(const AkoPeer& peer) {
    const Snapshot* const growing = peer.half.rows().growing();
    if (growing == nullptr) return false;
    for (BlockIndex block = peer.half.rows().left_to_add(); block < blocks_.count(); ++block) {
        const Range range = blocks_.range(block);
        history_.begin(peer.settings.self, peer.incarnation(), block,
                       std::span(growing->values).subspan(range.first, range.count));
    }
    return true;
}

void Invariants::gave(const AkoPeer& peer, std::span<const float> values) {
    double usual = seen(peer).largest;
    const bool first = usual == 0;  // nothing that it could be held against, as far as it knows
    for (const auto& [process, seen] : seen_) usual = std::max(usual, seen.largest);
    const double given = norm(values);
    // At first what is no larger than the parameters is harmless, however little came before it.
    const bool begins = seen(peer).given++ < GrowthWatch::few_rounds;
    const bool harmless = begins && given <= 1.001 * norm(peer.half.replica());
    if (!first && !harmless && given > 1.001 * training_.growth_max * usual) {
        throw Violation("I9: peer " + std::to_string(peer.settings.self) + " gave what is " +
                        std::to_string(given / usual) + " times as large as all before");
    }
    seen(peer).largest = std::max(seen(peer).largest, given);
}

void Invariants::round_ended(const AkoPeer& peer, std::span<const float> gradient,
                             std::span<const float> replica_before, double rate, Time now) {
    add_past(peer, now);
    Seen& mine = seen(peer);
    const double step = rate * peer.half.meetings().scale();
    for (std::size_t k = 0; k < gradient.size(); ++k) {
        double& velocity = mine.velocity[k];
        const double decayed = gradient[k] + training_.weight_decay * replica_before[k];
        velocity = training_.momentum * velocity + decayed;
        mine.own_sum[k] -=
            step * (training_.nesterov ? decayed + training_.momentum * velocity : velocity);
    }
    give_way(peer);
    check_own_row(peer);
    check_replica(peer);
}

bool Invariants::finishes(const AkoPeer& peer, Time now) {
    if (!peer.half.rows().claimed() || peer.half.round() == seen(peer).round) return false;
    add_past(peer, now);
    give_way(peer);
    check_own_row(peer);
    return true;
}

void Invariants::add_past(const AkoPeer& peer, Time now) {
    const PeerIndex self = peer.settings.self;
    ended_at_[self].push_back(now);
    const std::span<const float> row = peer.half.rows().ledger().values(row_of(self));
    if (!history_.add(self, peer.incarnation(), peer.half.round(), row)) {
        throw Violation("I1: round " + std::to_string(peer.half.round()) + " of peer " +
                        std::to_string(self) + "/" +
                        std::to_string(process_of(peer.incarnation()) % 1000) + ", life " +
                        std::to_string(lives_before(peer.incarnation())) +
                        ", does not follow; lives: " + history_.text(self));
    }
    seen(peer).round = peer.half.round();
}

void Invariants::give_way(const AkoPeer& peer) {
    if (peer.half.rows().gave_way().empty()) return;
    const PeerIndex self = peer.settings.self;
    const std::vector<std::vector<float>>& past = history_.rows(self, peer.incarnation());
    const std::span<const float> carry = peer.half.rows().carry();
    std::vector<double>& own_sum = seen(peer).own_sum;
    for (std::size_t k = 0; k < own_sum.size(); ++k) {
        const double sum = double{past.back()[k]} + carry[k];
        const double before = past[past.size() - 2][k];
        double rose = 0, fell = 0;  // since any of its rounds
        for (const std::vector<float>& row : past) {
            rose = std::max(rose, before - row[k]);
            fell = std::max(fell, row[k] - before);
        }
        const double gave = own_sum[k] - sum;
        // A row that is rounded does not fall by quite what gives way, and marks count from there.
        const bool rounded = peer.half.rows().precision() == Precision::adaptive;
        const auto grid = Grid::of(static_cast<float>(row_max_[self]), 1);
        const double slack =
            1e-4 * (1 + row_max_[self]) + (rounded && grid ? double{grid->step()} : 0);
        if (gave > rose + slack || gave < -fell - slack) {
            throw Violation("I1: of row " + std::to_string(self) + ", element " +
                            std::to_string(k) + ", " + std::to_string(gave) +
                            " gave way, and it had grown by " + std::to_string(rose) +
                            " or fallen by " + std::to_string(fell));
        }
        own_sum[k] = sum;
    }
}

void Invariants::check_own_row(const AkoPeer& peer) {
    const PeerIndex self = peer.settings.self;
    const std::span<const float> row = peer.half.rows().ledger().values(row_of(self));
    const std::span<const float> carry = peer.half.rows().carry();
    const std::vector<double>& own_sum = seen(peer).own_sum;
    for (std::size_t k = 0; k < row.size(); ++k) {
        const double sum = double{row[k]} + carry[k];  // what rounding cut off comes later
        row_max_[self] = std::max(row_max_[self], std::abs(own_sum[k]));
        if (std::abs(own_sum[k] - sum) > 1e-4 * (1 + row_max_[self])) {
            throw Violation("I1: row " + std::to_string(self) +
                            " is not the sum of its owner's updates: " + std::to_string(sum) +
                            " for " + std::to_string(own_sum[k]));
        }
    }
    check_carry(row, carry);
}

void Invariants::check_carry(std::span<const float> row, std::span<const float> carry) const {
    for (BlockIndex block = 0; block < blocks_.count(); ++block) {
        const Range range = blocks_.range(block);
        const auto grid = Grid::of(largest_of(row.subspan(range.first, range.count)), 1);
        if (!grid) continue;
        for (const float left : carry.subspan(range.first, range.count)) {
            if (std::abs(left) <= 0.51f * grid->step()) continue;
            throw Violation("I1: " + std::to_string(left) + " was rounded off in steps of " +
                            std::to_string(grid->step()));
        }
    }
}

void Invariants::drained(const AkoPeer& peer) {
    check_rows(peer, false);
    check_replica(peer);
}

void Invariants::steady(const AkoPeer& peer, std::span<const unsigned> partitions, Time transit,
                        Time now) const {
    for (PeerIndex owner = 0; owner < partitions.size(); ++owner) {
        if (owner == peer.settings.self) continue;
        const RowIndex row = row_of(owner);
        const std::vector<Time>& ended = ended_at_[owner];
        const auto past = std::upper_bound(ended.begin(), ended.end(), now - transit);
        const auto round =
            static_cast<Round>(std::max<std::ptrdiff_t>(past - ended.begin(), 1) - 1);
        for (BlockIndex block = 0; block < blocks_.count(); ++block) {
            const Round held = peer.half.rows().ledger().version(row, block).round;
            // Sent in one round and again P rounds later, so P - 1 rounds old at most when sent
            // anew.
            if (held + partitions[owner] - 1 >= round) continue;
            throw Violation("I4: round " + std::to_string(held) + " is held of what round " +
                            std::to_string(round) + " sent with P = " +
                            std::to_string(partitions[owner]) + " " + place(peer, row, block));
        }
    }
}

void Invariants::adopted(const AkoPeer& peer) {
    if (std::exchange(seen(peer).adopted, true)) return;
    check_rows(peer, true);
}

void Invariants::check_rows(const AkoPeer& peer, bool may_fall) {
    const Ledger& ledger = peer.half.rows().ledger();
    const PeerIndex self = peer.settings.self;
    Seen& mine = seen(peer);
    for (const RowIndex row : ledger.all()) {
        const bool own = row == row_of(self);
        if (own && peer.half.rows().claimed() && !may_fall) continue;
        for (BlockIndex block = 0; block < blocks_.count(); ++block) {
            const Version version = ledger.version(row, block);
            Version& before = mine.versions[owner_of(row)][block];
            if (version == before) continue;
            // A row that was begun apart is set aside until it is added.
            const bool aside = own && begins(before.incarnation) && version < before;
            if (version < before && !may_fall && !aside) {
                throw Violation("I5: a version fell from " + std::to_string(before.round) + " to " +
                                std::to_string(version.round) + " " + place(peer, row, block));
            }
            if (begins(version.incarnation) && before.incarnation != 0 && !may_fall && !own &&
                before.incarnation != version.incarnation) {
                throw Violation("I5: a row that was begun at zero takes the place of another " +
                                place(peer, row, block));
            }
            before = version;
            ++blocks_checked_;
            check_block(peer, row, block);
        }
    }
}

void Invariants::check_block(const AkoPeer& peer, RowIndex row, BlockIndex block) {
    const Version version = peer.half.rows().ledger().version(row, block);
    if (!history_.happened(owner_of(row), version)) {
        throw Violation("I1: a version of the future " + place(peer, row, block));
    }
    if (!history_.was(owner_of(row), block, version, peer.half.rows().ledger().block(row, block))) {
        throw Violation("I1: not the value of round " + std::to_string(version.round) + " " +
                        place(peer, row, block));
    }
}

void Invariants::check_replica(const AkoPeer& peer) {
    if (seen(peer).adopted) return;
    const Replica& replica = peer.half.rows().replica();
    std::vector<float> afresh(blocks_.element_count());
    replica.compute({0, afresh.size()}, afresh);
    double largest = 1;
    for (const double max : row_max_) largest = std::max(largest, max);
    // Operations on one element since its last rebuild: a round adds, absorbs and gives up once per
    // peer.
    const double operations =
        3.0 * static_cast<double>(row_max_.size()) * (Replica::rebuild_parts + 1);
    const double allowed =
        static_cast<double>(std::numeric_limits<float>::epsilon()) * largest * operations;
    for (std::size_t k = 0; k < afresh.size(); ++k) {
        const double error = std::abs(static_cast<double>(replica.values()[k]) - afresh[k]);
        if (!(error <= allowed)) {
            throw Violation("I3: the replica of peer " + std::to_string(peer.settings.self) +
                            " is off by " + std::to_string(error) + " at element " +
                            std::to_string(k) + ", allowed " + std::to_string(allowed));
        }
    }
}

void Invariants::ended(const SimCluster& cluster) const {
    std::map<CutId, const AkoPeer*> first;
    bool all_see_the_same = true;
    for (const auto& process : cluster.processes()) {
        const auto& peer = static_cast<const AkoPeer&>(*process);
        if (!peer.report || !peer.report->agreed) continue;
        all_see_the_same = all_see_the_same && peer.report->identical;
        const auto [same, is_first] = first.emplace(peer.half.agreement().decided(), &peer);
        if (!is_first) check_same_end(*same->second, peer);
        for (const PeerIndex with : peer.report->finished_with) {
            check_finished_with(cluster, peer, with);
        }
    }
    if (first.size() == 1 && !all_see_the_same) throw Violation("I2: a peer saw another digest");
}

void Invariants::check_finished_with(const SimCluster& cluster, const AkoPeer& peer,
                                     PeerIndex with) {
    for (const auto& process : cluster.processes()) {
        const auto& other = static_cast<const AkoPeer&>(*process);
        const Finish& finish = other.half.agreement();
        if (other.settings.self == with && finish.adopted() &&
            finish.digest() == peer.half.agreement().digest()) {
            return;
        }
    }
    throw Violation("I2: peer " + std::to_string(peer.settings.self) +
                    " says that it finished with peer " + std::to_string(with) +
                    ", which has not adopted the same");
}

void Invariants::check_same_end(const AkoPeer& first, const AkoPeer& peer) {
    for (const RowIndex row : first.half.rows().ledger().all()) {
        const auto mine = peer.half.rows().ledger().values(row);
        const auto theirs = first.half.rows().ledger().values(row);
        if (std::memcmp(mine.data(), theirs.data(), mine.size_bytes()) != 0) {
            throw Violation("I2: row " + std::to_string(row.place()) + " differs between peers " +
                            std::to_string(first.settings.self) + " and " +
                            std::to_string(peer.settings.self));
        }
    }
    if (std::memcmp(peer.parameters.data(), first.parameters.data(),
                    first.parameters.size() * sizeof(float)) != 0 ||
        peer.report->digest != first.report->digest) {
        throw Violation("I2: the anchors differ");
    }
}

}  // namespace ako::sim
