// The replica against its definition in double precision, and I6.
#include "src/rows/replica.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <random>

#include "src/numbers/checksum.h"

namespace ako::replica_test {

namespace {

constexpr PeerIndex self = 0;
constexpr Time second = std::chrono::seconds(1);

/// A replica with its ledger; and beside it the same after its definition, in double precision.
struct Bench {
    explicit Bench(std::size_t peer_count, std::size_t element_count, std::uint64_t seed = 1)
        : blocks(element_count, 4),
          random(seed),
          initial(draw(element_count)),
          ledger(self, peer_count, blocks),
          rows(peer_count, std::vector<double>(element_count)),
          marks(peer_count, std::vector<double>(element_count)),
          counted(peer_count, false) {
        for (Snapshot& snapshot : own) {
            snapshot.values.assign(element_count, 0.0F);
            snapshot.checksums.assign(blocks.count(), 0);
        }
        ledger.set_own(own[0]);
        replica.emplace(ledger, initial);
    }

    std::vector<float> draw(std::size_t count) {
        std::vector<float> values;
        for (std::size_t k = 0; k < count; ++k) {
            values.push_back(static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 1000);
        }
        return values;
    }

    void grow() {
        const std::vector<float> difference = draw(blocks.element_count());
        Snapshot& next = own[1 - newest];
        next.version = {1, own[newest].version.round + 1};
        for (std::size_t k = 0; k < difference.size(); ++k) {
            next.values[k] = own[newest].values[k] + difference[k];
            rows[self][k] = next.values[k];
        }
        std::vector<float> really(difference.size());
        for (std::size_t k = 0; k < really.size(); ++k)
            really[k] = next.values[k] - own[newest].values[k];
        for (BlockIndex block = 0; block < blocks.count(); ++block) {
            const Range range = blocks.range(block);
            replica->add_own(range, std::span(really).subspan(range.first, range.count));
        }
        for (PeerIndex peer = 1; peer < rows.size(); ++peer) {
            if (!fading.contains(peer)) continue;
            for (std::size_t k = 0; k < really.size(); ++k) marks[peer][k] += really[k];
        }
        newest = 1 - newest;
        ledger.set_own(own[newest]);
    }

    struct GivesWay {
        PeerIndex peer;
        double share;
        bool advances;
        Round before = 0;
    };
    /// A round in which the own row grows by `progress` everywhere, and parts of it give way.
    void grow_and_give_way(float progress, const std::vector<GivesWay>& to) {
        Snapshot& next = own[1 - newest];
        next.version = {1, own[newest].version.round + 1};
        for (BlockIndex block = 0; block < blocks.count(); ++block) {
            const Range range = blocks.range(block);
            std::vector<float> gave(range.count, 0.0F), really(range.count);
            for (const GivesWay& it : to) {
                replica->give_way(it.peer, block, it.share, it.before, gave);
            }
            for (std::size_t k = 0; k < range.count; ++k) {
                const std::size_t at = range.first + k;
                next.values[at] = own[newest].values[at] + progress - gave[k];
                really[k] = next.values[at] - own[newest].values[at];
                rows[self][at] = next.values[at];
            }
            replica->add_own(range, really, gave);
        }
        newest = 1 - newest;
        ledger.set_own(own[newest]);
        for (const GivesWay& it : to) replica->end_giving_way(it.peer, it.advances);
    }
    /// Stood in for once, and then apart.
    void part(PeerIndex peer) {
        begin(peer, second);
        apart_row = rows[self];
        grow();
        stop(peer);
        for (unsigned k = 0; k < Replica::fade_rounds; ++k) fade();
    }

    void hear(PeerIndex peer, BlockIndex block, const double* share) {
        const Range range = blocks.range(block);
        const std::vector<float> values = draw(range.count);
        replica->absorb(peer, block, values, share);
        const RowIndex row = row_of(peer);
        ledger.replace(row, block, {1, ledger.version(row, block).round + 1}, values, 0);
        for (std::size_t k = 0; k < range.count; ++k) {
            const std::size_t at = range.first + k;
            rows[peer][at] = values[k];
            if (share) marks[peer][at] += *share * (rows[self][at] - marks[peer][at]);
        }
    }

    void begin(PeerIndex peer, Time now) {
        replica->begin_standing_in(peer, now);
        if (!counted[peer]) marks[peer] = rows[self];
        counted[peer] = true;
        fading.erase(peer);
    }
    void stop(PeerIndex peer) {
        replica->stop_standing_in(peer);
        fading[peer] = Replica::fade_rounds;
    }
    void fade() {
        replica->fade();
        for (auto at = fading.begin(); at != fading.end();) {
            auto& [peer, left] = *at;
            for (std::size_t k = 0; k < rows[self].size(); ++k) {
                marks[peer][k] += (rows[self][k] - marks[peer][k]) / left;
            }
            if (--left == 0) {
                counted[peer] = false;
                at = fading.erase(at);
            } else {
                ++at;
            }
        }
    }

    /// The largest difference between the replica and its definition.
    double error() const {
        double largest = 0;
        for (std::size_t k = 0; k < initial.size(); ++k) {
            double sum = 0;
            for (PeerIndex peer = 0; peer < rows.size(); ++peer) {
                sum += rows[peer][k];
                if (counted[peer]) sum += rows[self][k] - marks[peer][k];
            }
            const double defined = initial[k] + sum / static_cast<double>(rows.size());
            largest = std::max(largest, std::abs(replica->values()[k] - defined));
        }
        return largest;
    }

    /// What the replica has beyond the anchor: the lead of the own row.
    std::vector<double> lead() const {
        std::vector<double> lead;
        for (std::size_t k = 0; k < initial.size(); ++k) {
            double sum = 0;
            for (const auto& row : rows) sum += row[k];
            lead.push_back(replica->values()[k] - initial[k] -
                           sum / static_cast<double>(rows.size()));
        }
        return lead;
    }

    const Blocks blocks;
    std::mt19937_64 random;
    const std::vector<float> initial;
    Snapshot own[2];
    int newest = 0;
    Ledger ledger;
    std::optional<Replica> replica;
    std::vector<std::vector<double>> rows;
    std::vector<std::vector<double>> marks;
    std::vector<bool> counted;  ///< stands in or fades
    std::map<PeerIndex, unsigned> fading;
    std::vector<double> apart_row;  ///< the own one, when a peer was last heard of
};

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

bool same_bits(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace

TEST_CASE("the replica is what its definition says, after any sequence of changes") {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        Bench bench(2 + seed % 4, 5 + 3 * seed, seed);
        const auto peer_count = static_cast<PeerIndex>(bench.rows.size());
        for (int event = 0; event < 300; ++event) {
            const auto peer = static_cast<PeerIndex>(1 + bench.random() % (peer_count - 1));
            const auto block = static_cast<BlockIndex>(bench.random() % bench.blocks.count());
            const double share = static_cast<double>(bench.random() % 101) / 100;
            const bool stands_in = bench.replica->stands_in(peer);
            switch (bench.random() % 8) {
                case 0:
                    stands_in ? bench.stop(peer) : bench.begin(peer, second * event);
                    break;
                case 1:
                case 2:
                    bench.grow();
                    bench.fade();
                    bench.replica->rebuild_next();
                    break;
                case 3:
                    bench.hear(peer, block, nullptr);
                    break;
                default:
                    bench.hear(peer, block, stands_in ? &share : nullptr);
                    break;
            }
            REQUIRE(bench.error() < 2e-4);
            std::vector<float> afresh(bench.initial.size());
            bench.replica->compute({0, afresh.size()}, afresh);
            for (std::size_t k = 0; k < afresh.size(); ++k) {
                REQUIRE(std::abs(afresh[k] - bench.replica->values()[k]) < 2e-4);
            }
        }
    }
}

TEST_CASE("own progress counts once for itself and once for each peer it stands in for") {
    Bench bench(4, 8);
    bench.begin(1, second);
    bench.begin(3, second);
    bench.grow();
    const std::vector<double> lead = bench.lead();
    for (std::size_t k = 0; k < 8; ++k) {
        CHECK(lead[k] == doctest::Approx(bench.rows[self][k] * 2 / 4).epsilon(1e-5));
    }
}

TEST_CASE("to begin to stand in leaves the replica bitwise unchanged (I6)") {
    Bench bench(3, 50);
    for (int round = 0; round < 20; ++round) {
        bench.grow();
        bench.hear(1, static_cast<BlockIndex>(round % 13), nullptr);
    }
    const std::vector<float> before = copy(bench.replica->values());
    bench.begin(1, second);
    CHECK(same_bits(bench.replica->values(), before));
    CHECK(bench.error() < 1e-5);

    SUBCASE("for the second time, when the first stand-in has faded") {
        bench.grow();
        bench.stop(1);
        for (unsigned k = 0; k < Replica::fade_rounds; ++k) bench.fade();
        for (int round = 0; round < 5; ++round) bench.grow();
        const std::vector<float> again = copy(bench.replica->values());
        bench.begin(1, 2 * second);
        CHECK(same_bits(bench.replica->values(), again));
        std::vector<float> afresh(50);
        bench.replica->compute({0, 50}, afresh);
        for (std::size_t k = 0; k < 50; ++k)
            CHECK(afresh[k] == doctest::Approx(again[k]).epsilon(1e-4));
    }
    SUBCASE("while the first stand-in still fades, which then grows again") {
        bench.grow();
        bench.stop(1);
        bench.fade();
        const std::vector<float> again = copy(bench.replica->values());
        bench.begin(1, 2 * second);
        CHECK(same_bits(bench.replica->values(), again));
        bench.grow();
        bench.fade();  // nothing fades any more
        CHECK(bench.error() < 1e-4);
    }
}

TEST_CASE("a relayed block, without a share, moves no mark: the stand-in stays whole") {
    Bench bench(2, 4);
    bench.begin(1, second);
    bench.grow();
    const std::vector<double> lead = bench.lead();
    bench.hear(1, 0, nullptr);
    for (std::size_t k = 0; k < 4; ++k) {
        CHECK(bench.lead()[k] == doctest::Approx(lead[k]).epsilon(1e-5));
    }
    const double half = 0.5;
    bench.hear(1, 0, &half);
    for (std::size_t k = 0; k < 4; ++k) {
        CHECK(bench.lead()[k] == doctest::Approx(lead[k] / 2).epsilon(1e-5));
    }
    const double all = 1;
    bench.hear(1, 0, &all);
    for (std::size_t k = 0; k < 4; ++k) CHECK(std::abs(bench.lead()[k]) < 1e-6);
}

TEST_CASE("the share is the part of the own progress that was made before the seal") {
    Bench bench(2, 8);
    Replica& replica = *bench.replica;
    bench.begin(1, 100 * second);
    CHECK(replica.share(1, 0, 150 * second, 200 * second) == doctest::Approx(0.5));
    CHECK(replica.share(1, 0, 160 * second, 200 * second) == doctest::Approx(0.2));
    SUBCASE("a seal before the last one gives nothing up, and the last one stays") {
        CHECK(replica.share(1, 0, 120 * second, 200 * second) == 0);
        CHECK(replica.share(1, 0, 170 * second, 200 * second) == doctest::Approx(0.25));
    }
    SUBCASE("a seal that seems to be in the future gives up all; after it 0/0 is 1 until then") {
        CHECK(replica.share(1, 0, 300 * second, 200 * second) == 1);
        CHECK(replica.share(1, 0, 310 * second, 250 * second) == 1);
        CHECK(replica.share(1, 0, 320 * second, 330 * second) == doctest::Approx(0.5));
    }
    SUBCASE("0/0 is 1") { CHECK(replica.share(1, 0, 160 * second, 160 * second) == 1); }
    SUBCASE("each block has its own last seal") {
        CHECK(replica.share(1, 1, 175 * second, 200 * second) == doctest::Approx(0.75));
    }
    SUBCASE("to begin anew forgets the old seals") {
        replica.stop_standing_in(1);
        replica.begin_standing_in(1, 400 * second);
        CHECK(replica.share(1, 0, 430 * second, 440 * second) == doctest::Approx(0.75));
    }
}

TEST_CASE("a mark moves to what the own row was at the seal, where that is known") {
    Bench bench(2, 8);
    bench.begin(1, second);
    for (int round = 0; round < 4; ++round) bench.grow();
    Snapshot before = bench.own[bench.newest];
    bench.grow();
    Snapshot after = bench.own[bench.newest];
    bench.grow();
    const OwnPast::Moment then{&before, &after, 0.25F};
    const double share = 0.9;  // another one by the time alone
    const std::vector<float> values = bench.draw(4);
    bench.replica->absorb(1, 1, values, &share, &then);
    bench.ledger.replace(row_of(1), 1, {1, 1}, values, 0);
    for (std::size_t k = 4; k < 8; ++k) {
        bench.rows[1][k] = values[k - 4];
        bench.marks[1][k] = before.values[k] + 0.25 * (after.values[k] - before.values[k]);
    }
    CHECK(bench.error() < 1e-5);
}

TEST_CASE("a stand-in fades by equal parts over exactly fade_rounds rounds") {
    Bench bench(2, 12);
    bench.begin(1, second);
    for (int round = 0; round < 3; ++round) bench.grow();
    const std::vector<double> whole = bench.lead();
    bench.stop(1);
    CHECK(!bench.replica->stands_in(1));
    for (unsigned round = 1; round <= Replica::fade_rounds; ++round) {
        bench.grow();  // does not make the fading stand-in grow
        bench.fade();
        const double left = 1 - static_cast<double>(round) / Replica::fade_rounds;
        const std::vector<double> lead = bench.lead();
        for (std::size_t k = 0; k < lead.size(); ++k) {
            REQUIRE(std::abs(lead[k] - left * whole[k]) < 1e-5);
        }
    }
    const std::vector<float> faded = copy(bench.replica->values());
    bench.fade();
    CHECK(same_bits(bench.replica->values(), faded));
}

TEST_CASE("what gives way leaves the row, and stands in for who is back until its blocks come") {
    Bench bench(4, 10);
    bench.begin(2, second);
    bench.part(1);
    CHECK(bench.replica->apart(1));
    CHECK(bench.replica->apart_since(1) == 1);
    for (int round = 0; round < 5; ++round) bench.grow();
    const std::vector<double> grown = bench.rows[self];
    const std::vector<float> before = copy(bench.replica->values());

    SUBCASE("it advances") {
        bench.grow_and_give_way(0, {{1, 0.25, true}});
        CHECK(bench.replica->stands_in(1));
        for (std::size_t k = 0; k < 10; ++k) {
            const double gave = 0.25 * (grown[k] - bench.apart_row[k]);
            CHECK(bench.rows[self][k] == doctest::Approx(grown[k] - gave).epsilon(1e-5));
            CHECK(bench.replica->values()[k] == doctest::Approx(before[k]).epsilon(1e-5));
        }
        for (std::size_t part = 0; part < Replica::rebuild_parts; ++part)
            bench.replica->rebuild_next();
        for (std::size_t k = 0; k < 10; ++k)
            CHECK(bench.replica->values()[k] == doctest::Approx(before[k]).epsilon(1e-5));

        // The first seal of a block, whenever it was, is later than all that gave way.
        CHECK(bench.replica->share(1, 0, 2 * second, 9 * second) == 1);
        const double all = 1;
        const std::vector<double> lead = bench.lead();
        bench.hear(1, 0, &all);
        for (std::size_t k = 0; k < 4; ++k) {
            const double gave = 0.25 * (grown[k] - bench.apart_row[k]);
            CHECK(bench.lead()[k] == doctest::Approx(lead[k] - gave / 4).epsilon(1e-4));
        }
        CHECK(bench.replica->share(1, 0, 5 * second, 8 * second) == doctest::Approx(0.5));
    }
    SUBCASE("it is heard of only through others, and its stand-in fades") {
        const std::vector<double> lead = bench.lead();
        bench.grow_and_give_way(0, {{1, 0.25, false}});
        CHECK(!bench.replica->stands_in(1));
        CHECK(!bench.replica->apart(1));
        for (unsigned k = 0; k < Replica::fade_rounds; ++k) bench.replica->fade();
        CHECK(bench.replica->apart(1));
        for (std::size_t k = 0; k < 10; ++k)
            CHECK(bench.lead()[k] == doctest::Approx(lead[k]).epsilon(1e-4));
    }
    SUBCASE("of a block that has come already nothing stands in") {
        bench.hear(1, 0, nullptr);
        const std::vector<float> then = copy(bench.replica->values());
        bench.grow_and_give_way(0, {{1, 0.25, true}});
        for (std::size_t k = 0; k < 10; ++k) {
            const double gave = k < 4 ? 0.25 * (grown[k] - bench.apart_row[k]) : 0;
            CHECK(bench.replica->values()[k] == doctest::Approx(then[k] - gave / 4).epsilon(1e-4));
        }
        std::vector<float> afresh(10);
        bench.replica->compute({0, 10}, afresh);
        for (std::size_t k = 0; k < 10; ++k)
            CHECK(afresh[k] == doctest::Approx(bench.replica->values()[k]).epsilon(1e-4));
    }
    SUBCASE("the progress of that round counts as always") {
        bench.grow_and_give_way(0.5F, {{1, 0.25, true}});
        for (std::size_t k = 0; k < 10; ++k) {
            // once for itself and once for peer 2, which was stood in for all along
            const double expected = before[k] + 0.5 * 2 / 4;
            CHECK(bench.replica->values()[k] == doctest::Approx(expected).epsilon(1e-5));
        }
    }
}

TEST_CASE("of several who come back each takes of what the ones before have left") {
    Bench bench(4, 6);
    for (int round = 0; round < 5; ++round) bench.grow();  // nobody was ever there
    const std::vector<double> grown = bench.rows[self];
    bench.grow_and_give_way(0, {{1, 1.0 / 2, true}, {2, 1.0 / 3, true}, {3, 1.0 / 4, false}});
    for (std::size_t k = 0; k < 6; ++k)
        CHECK(bench.rows[self][k] == doctest::Approx(grown[k] / 4).epsilon(1e-5));
    SUBCASE("who parts again does so from the row as it is then") {
        bench.replica->stop_standing_in(1);
        for (unsigned k = 0; k < Replica::fade_rounds; ++k) bench.replica->fade();
        const std::vector<double> then = bench.rows[self];
        bench.grow_and_give_way(1, {{1, 0, true}});
        bench.replica->stop_standing_in(1);
        for (unsigned k = 0; k < Replica::fade_rounds; ++k) bench.replica->fade();
        bench.grow_and_give_way(1, {});
        bench.grow_and_give_way(0, {{1, 1, true}});
        for (std::size_t k = 0; k < 6; ++k)
            CHECK(bench.rows[self][k] == doctest::Approx(then[k] + 1).epsilon(1e-5));
    }
    SUBCASE("who was heard of through others was not apart until then") {
        for (unsigned k = 0; k < Replica::fade_rounds; ++k) bench.replica->fade();
        bench.replica->heard_of(3);
        const std::vector<double> then = bench.rows[self];
        bench.grow_and_give_way(1, {});
        bench.grow_and_give_way(0, {{3, 0.5, true}});
        for (std::size_t k = 0; k < 6; ++k)
            CHECK(bench.rows[self][k] == doctest::Approx(then[k] + 0.5).epsilon(1e-5));
    }
}

TEST_CASE("one turn of rebuilding makes the whole replica afresh, bit for bit") {
    for (const std::size_t block_count : {1u, 7u, 63u, 64u, 65u, 200u}) {
        CAPTURE(block_count);
        Bench bench(3, 4 * block_count - 1);
        bench.begin(1, second);
        for (int round = 0; round < 200; ++round) {
            bench.grow();
            bench.hear(2, static_cast<BlockIndex>(round) % bench.blocks.count(), nullptr);
        }
        std::vector<float> afresh(bench.initial.size());
        bench.replica->compute({0, afresh.size()}, afresh);
        if (block_count >= 63) CHECK(!same_bits(bench.replica->values(), afresh));
        for (std::size_t part = 0; part < Replica::rebuild_parts; ++part)
            bench.replica->rebuild_next();
        CHECK(same_bits(bench.replica->values(), afresh));
    }
}

}  // namespace ako::replica_test
