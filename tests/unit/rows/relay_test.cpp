// Serving what others ask for, and asking for rows whose owner this peer cannot reach.
#include "src/rows/relay.h"

#include <doctest/doctest.h>

#include "src/numbers/checksum.h"

namespace ako::relay_test {

namespace {

constexpr Time ms = std::chrono::milliseconds(1);

/// Peer 0 of three, with a row of ten blocks of four floats.
struct Bench {
    Bench() : own(blocks) {
        ledger.set_own(own[0]);
        for (PeerIndex peer = 1; peer < 3; ++peer) roster.set_presence(peer, Presence::up);
    }
    void hold(RowIndex row, BlockIndex block, Round round) {
        const std::vector<float> values(4, static_cast<float>(round));
        ledger.replace(row, block, {1, round}, values, crc32c(std::span<const float>(values)));
    }
    std::vector<Lack> lacks(PeerIndex peer) {
        std::vector<Lack> found;
        unseen = outbox.take();
        for (const Header& header : unseen.control[peer]) {
            if (const auto* lack = std::get_if<Lack>(&header)) found.push_back(*lack);
        }
        return found;
    }
    std::vector<Want> wants(PeerIndex peer) {
        std::vector<Want> found;
        unseen = outbox.take();
        for (const Header& header : unseen.control[peer]) {
            if (const auto* want = std::get_if<Want>(&header)) found.push_back(*want);
        }
        return found;
    }
    /// Peer 2 says that it holds row 1 up to this round.
    void status(Round lowest, Round highest) {
        Status status;
        status.standing.progress.resize(3);
        status.rows.resize(3);
        status.rows[1] = {{1, lowest}, {1, highest}, 77};
        roster.heard_status(2, status, now, 1);
    }

    const Blocks blocks{40, 4};
    Snapshots own;
    Ledger ledger{0, 3, blocks};
    Roster roster{0, 3};
    Outbox outbox{3};
    const FindBlock find = [this](RowIndex row, BlockIndex block, Version version) {
        if (ledger.version(row, block) != version) return HeldBlock{};
        return HeldBlock{ledger.block(row, block), ledger.checksum(row, block)};
    };
    Relaying relaying{ledger, roster, outbox};
    Outbox::Unseen unseen;
    Time now = std::chrono::seconds(3);
};

}  // namespace

TEST_CASE("what is held newer is served, and of the rest it is said that it does not come") {
    Bench bench;
    for (BlockIndex block = 2; block < 6; ++block) bench.hold(1, block, 7);
    bench.relaying.serve(2, {1, false, {{{0, 10}, {1, 3}}}}, bench.find);
    CHECK(bench.lacks(2) == std::vector<Lack>{{1, {{0, 2}, {6, 4}}}});
    REQUIRE(bench.unseen.relays[2].size() == 1);
    const Partial& header = bench.unseen.relays[2][0].header;
    CHECK(header.run == BlockRun{2, 4});
    CHECK(header.version == Version{1, 7});
    CHECK(header.relayed);
    CHECK(header.checksums.size() == 4);
}

TEST_CASE("of exactly the version that is wanted, or not at all") {
    Bench bench;
    bench.hold(1, 0, 7);
    bench.relaying.serve(2, {1, true, {{{0, 1}, {1, 6}}}}, bench.find);
    CHECK(bench.lacks(2) == std::vector<Lack>{{1, {{0, 1}}}});
    CHECK(bench.unseen.relays[2].empty());
    bench.relaying.serve(2, {1, true, {{{0, 1}, {1, 7}}}}, bench.find);
    CHECK(bench.lacks(2).empty());
    CHECK(bench.unseen.relays[2].size() == 1);
}

TEST_CASE("whoever asks for few gets them one by one, so that the first comes early") {
    Bench bench;
    for (BlockIndex block = 0; block < 10; ++block) bench.hold(1, block, 7);
    bench.relaying.serve(2, {1, false, {{{0, 2}, {}}}}, bench.find);
    bench.relaying.serve(2, {1, false, {{{0, 10}, {}}}}, bench.find);
    bench.unseen = bench.outbox.take();
    std::vector<BlockIndex> counts;
    for (const Relay& relay : bench.unseen.relays[2]) counts.push_back(relay.header.run.count);
    CHECK(counts == std::vector<BlockIndex>{1, 1, 4, 4, 2});
}

TEST_CASE("a row whose owner is out of reach is asked of who holds it newer") {
    Bench bench;
    bench.hold(1, 0, 9);
    bench.status(5, 9);
    bench.relaying.step(bench.now);
    CHECK(bench.wants(2).empty());  // its owner sends it
    bench.roster.set_presence(1, Presence::lost);
    bench.relaying.step(bench.now);
    const std::vector<Want> wants = bench.wants(2);
    REQUIRE(wants.size() == 1);
    CHECK(wants[0].row == RowIndex(1));
    CHECK(!wants[0].exact);
    // Not the block that is held as new as anybody holds any.
    CHECK(wants[0].runs[0].blocks.first == 1);
    CHECK(wants[0].runs[0].version == Version{});
}

TEST_CASE("an answer that nothing comes is followed by the next question at once") {
    Bench bench;
    bench.status(5, 9);
    bench.roster.set_presence(1, Presence::lost);
    bench.relaying.step(bench.now);
    const std::vector<Want> first = bench.wants(2);
    REQUIRE(first.size() == 1);
    bench.relaying.lacks(2, {1, {first[0].runs[0].blocks}}, bench.now);
    bench.relaying.step(bench.now);
    const std::vector<Want> second = bench.wants(2);
    REQUIRE(second.size() == 1);
    CHECK(second[0].runs[0].blocks.first ==
          first[0].runs[0].blocks.first + first[0].runs[0].blocks.count);
}

}  // namespace ako::relay_test
