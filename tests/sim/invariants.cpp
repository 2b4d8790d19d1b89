// See invariants.h.
#include "tests/sim/invariants.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ako::sim {
namespace {

std::string place(const AkoPeer& at, RowIndex row, BlockIndex block) {
    return "at peer " + std::to_string(at.settings.self) + ", row " + std::to_string(row.place()) +
           ", block " + std::to_string(block);
}

}  // namespace

Invariants::Invariants(std::size_t peer_count, const Blocks& blocks,
                       const TrainingSettings& training)
    : blocks_(blocks),
      training_(training),
      past_(peer_count, {Past{std::vector<float>(blocks.element_count(), 0.0f)}}),
      life_held_(peer_count, std::vector<std::optional<std::size_t>>(peer_count)),
      ended_at_(peer_count, {Time{0}}),
      own_sum_(peer_count, std::vector<double>(blocks.element_count(), 0.0)),
      velocity_(peer_count, std::vector<double>(blocks.element_count(), 0.0)),
      seen_(peer_count, {peer_count, std::vector<Version>(blocks.count())}),
      adopted_(peer_count, false),
      row_max_(peer_count, 0.0) {}

void Invariants::round_ended(const AkoPeer& peer, std::span<const float> gradient,
                             std::span<const float> replica_before, double rate, Time now) {
    const PeerIndex self = peer.settings.self;
    add_past(peer, now);
    const double step = rate * peer.half.update_scale();
    for (std::size_t k = 0; k < gradient.size(); ++k) {
        double& velocity = velocity_[self][k];
        const double decayed = gradient[k] + training_.weight_decay * replica_before[k];
        velocity = training_.momentum * velocity + decayed;
        own_sum_[self][k] -=
            step * (training_.nesterov ? decayed + training_.momentum * velocity : velocity);
    }
    give_way(peer);
    check_own_row(peer);
    check_replica(peer);
}

bool Invariants::finishes(const AkoPeer& peer, Time now) {
    if (peer.half.round() + 1 == past_[peer.settings.self].back().size()) return false;
    add_past(peer, now);
    give_way(peer);
    check_own_row(peer);
    return true;
}

void Invariants::add_past(const AkoPeer& peer, Time now) {
    const PeerIndex self = peer.settings.self;
    ended_at_[self].push_back(now);
    const std::span<const float> row = peer.half.ledger().values(row_of(self));
    Past& past = past_[self].back();
    past.emplace_back(row.begin(), row.end());
    if (past.size() != peer.half.round() + 1) throw Violation("I1: a round was skipped");
}

void Invariants::give_way(const AkoPeer& peer) {
    if (peer.half.rows().gave_way().empty()) return;
    const PeerIndex self = peer.settings.self;
    const Past& past = past_[self].back();
    for (std::size_t k = 0; k < blocks_.element_count(); ++k) {
        const double before = past[past.size() - 2][k];
        double rose = 0, fell = 0;  // since any of its rounds
        for (const std::vector<float>& row : past) {
            rose = std::max(rose, before - row[k]);
            fell = std::max(fell, row[k] - before);
        }
        const double gave = own_sum_[self][k] - past.back()[k];
        const double slack = 1e-4 * (1 + row_max_[self]);
        if (gave > rose + slack || gave < -fell - slack) {
            throw Violation("I1: of row " + std::to_string(self) + ", element " +
                            std::to_string(k) + ", " + std::to_string(gave) +
                            " gave way, and it had grown by " + std::to_string(rose) +
                            " or fallen by " + std::to_string(fell));
        }
        own_sum_[self][k] = past.back()[k];
    }
}

void Invariants::check_own_row(const AkoPeer& peer) {
    const PeerIndex self = peer.settings.self;
    const std::span<const float> row = peer.half.ledger().values(row_of(self));
    for (std::size_t k = 0; k < row.size(); ++k) {
        row_max_[self] = std::max(row_max_[self], std::abs(own_sum_[self][k]));
        if (std::abs(own_sum_[self][k] - row[k]) > 1e-4 * (1 + row_max_[self])) {
            throw Violation("I1: row " + std::to_string(self) +
                            " is not the sum of its owner's updates: " + std::to_string(row[k]) +
                            " for " + std::to_string(own_sum_[self][k]));
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
            const Round held = peer.half.ledger().version(row, block).round;
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
    if (adopted_[peer.settings.self]) return;
    adopted_[peer.settings.self] = true;
    check_rows(peer, true);
}

void Invariants::check_rows(const AkoPeer& peer, bool may_fall) {
    const Ledger& ledger = peer.half.ledger();
    const PeerIndex self = peer.settings.self;
    for (const RowIndex row : ledger.all()) {
        if (row == row_of(self) && !may_fall) continue;
        for (BlockIndex block = 0; block < blocks_.count(); ++block) {
            const Version version = ledger.version(row, block);
            Version& seen = seen_[self][owner_of(row)][block];
            if (version == seen) continue;
            if (version < seen && !may_fall) {
                throw Violation("I5: a version fell from " + std::to_string(seen.round) + " to " +
                                std::to_string(version.round) + " " + place(peer, row, block));
            }
            seen = version;
            ++blocks_checked_;
            check_block(peer, row, block);
        }
    }
}

void Invariants::check_block(const AkoPeer& peer, RowIndex row, BlockIndex block) {
    const auto& past = past_[owner_of(row)];
    const Round round = peer.half.ledger().version(row, block).round;
    const float* values = peer.half.ledger().block(row, block).data();
    const Range range = blocks_.range(block);
    std::vector<std::size_t> lives;
    bool happened = false;
    for (std::size_t life = 0; life < past.size(); ++life) {
        if (round >= past[life].size()) continue;
        happened = true;
        const float* then = past[life][round].data() + range.first;
        if (std::memcmp(then, values, range.count * sizeof(float)) == 0) lives.push_back(life);
    }
    if (!happened) throw Violation("I1: a version of the future " + place(peer, row, block));
    if (lives.empty()) {
        throw Violation("I1: not the value of round " + std::to_string(round) + " " +
                        place(peer, row, block));
    }
    if (round == 0) return;  // of which all lives are the same
    std::optional<std::size_t>& held = life_held_[peer.settings.self][owner_of(row)];
    if (!held) held = lives.front();
    if (std::find(lives.begin(), lives.end(), *held) == lives.end()) {
        throw Violation("I1: of another process than the rest of its row " +
                        place(peer, row, block));
    }
}

void Invariants::begins_anew(PeerIndex peer) {
    past_[peer].push_back({past_[peer][0][0]});
    std::fill(life_held_[peer].begin(), life_held_[peer].end(), std::nullopt);
    for (auto& row : seen_[peer]) std::fill(row.begin(), row.end(), Version{});
    std::fill(own_sum_[peer].begin(), own_sum_[peer].end(), 0.0);
    std::fill(velocity_[peer].begin(), velocity_[peer].end(), 0.0);
    adopted_[peer] = false;
    ended_at_[peer] = {Time{0}};
}

void Invariants::check_replica(const AkoPeer& peer) {
    if (adopted_[peer.settings.self]) return;
    const Replica& replica = peer.half.replica_state();
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

void Invariants::ended(const AkoPeers& peers, const std::function<bool(PeerIndex)>& on_one_side) {
    const AkoPeer* first = nullptr;
    for (PeerIndex index = 0; index < peers.size(); ++index) {
        const AkoPeer* peer = peers[index];
        if (!peer->report || !peer->report->agreed) continue;
        if (!peer->report->identical) throw Violation("I2: a peer saw another digest");
        if (!on_one_side(index)) continue;
        if (first == nullptr) {
            first = peer;
            continue;
        }
        for (const RowIndex row : AllRows(peers.size())) {
            const auto mine = peer->half.ledger().values(row);
            const auto theirs = first->half.ledger().values(row);
            if (std::memcmp(mine.data(), theirs.data(), mine.size_bytes()) != 0) {
                throw Violation("I2: row " + std::to_string(row.place()) +
                                " differs between peers " + std::to_string(first->settings.self) +
                                " and " + std::to_string(index));
            }
        }
        if (std::memcmp(peer->parameters.data(), first->parameters.data(),
                        first->parameters.size() * sizeof(float)) != 0 ||
            peer->report->digest != first->report->digest) {
            throw Violation("I2: the anchors differ");
        }
    }
}

}  // namespace ako::sim
