// Numbers that cannot be meant were believed. A Status with 2^63 samples ended a run as finished;
// one huge round in a Partial made every later update of its blocks late; a Prepare of the highest
// ballot ended all agreement; a CutRow of runs of no block took what memory there was; and a row of
// 3e38 led healthy peers to what is not finite. Now each is refused by its name, or dropped.
#include <doctest/doctest.h>

#include <vector>

#include "src/agreement/agreement.h"
#include "src/exchange/roster.h"
#include "src/numbers/checksum.h"
#include "src/numbers/finite.h"
#include "src/rows/ledger.h"
#include "src/rows/refusal.h"
#include "tests/contains.h"

namespace ako::hostile_numbers_test {

using ako::test::contains;

namespace {

constexpr std::size_t peer_count = 3;

ModeSettings settings() {
    ModeSettings settings;
    settings.peer_names = {"a", "b", "c"};
    settings.training.batch.local = 64;
    settings.sample_budget = 6400;  // 100 rounds
    return settings;
}

std::string complaint(const Header& header, std::size_t payload_bytes = 0) {
    const Blocks blocks(8, 4);
    return refusal(header, payload_bytes, 1, peer_count, blocks, RunBounds::of(settings()))
        .value_or("");
}

Status status() {
    Status status;
    status.standing.progress.resize(peer_count);
    status.rows.resize(peer_count);
    return status;
}

}  // namespace

TEST_CASE("samples that no rounds of this run give are refused") {
    Status said = status();
    said.standing.progress[2] = {60, 60 * 64};
    CHECK(complaint(said) == "");
    said.standing.progress[2].samples = std::uint64_t{1} << 63;
    CHECK(
        contains(complaint(said), "Status.progress has 9223372036854775808 samples in 60 rounds"));
    said.standing.progress[2] = {std::uint64_t{1} << 58, std::uint64_t{1} << 63};
    CHECK(contains(complaint(said), "Status.progress is round"));
}

TEST_CASE("a round that no peer of this run can make is refused wherever it stands") {
    const Round far = Round{1} << 40;
    Partial partial;
    partial.origin = 1;
    partial.version = {1, 102};
    partial.run = {0, 1};
    partial.checksums = {0};
    CHECK(complaint(partial, 16) == "");
    partial.version.round = far;
    CHECK(contains(complaint(partial, 16), "Partial.version is round"));
    partial.version = {0, 7};
    CHECK(contains(complaint(partial, 16), "Partial.version {0, 7}"));
    Status said = status();
    said.rows[0].highest = {1, far};
    CHECK(contains(complaint(said), "Status.rows.highest is round"));
    said = status();
    said.standing.final_round = far;
    CHECK(contains(complaint(said), "Status.final_round is round"));
    CHECK(contains(complaint(Bye{far}), "Bye.final_round is round"));
    CHECK(contains(complaint(Want{0, true, {{{0, 1}, {1, far}}}}), "Want.runs is round"));
    CHECK(contains(complaint(CutRow{{1, 1}, 0, {{2, {1, far}}}}), "CutRow.runs is round"));
}

TEST_CASE("runs of no block are refused") {
    CutRow row{{1, 1}, 0, std::vector<VersionRun>(1000)};
    row.runs.push_back({2, {1, 5}});
    CHECK(contains(complaint(row), "CutRow.runs has a run of no block"));
}

TEST_CASE("what others say of a peer counts only while it cannot be reached") {
    Roster roster(0, peer_count);
    Status said = status();
    said.standing.progress[2] = {100, 6400};
    roster.set_presence(1, Presence::up);
    roster.set_presence(2, Presence::up);
    roster.heard_status(1, said, Time{0}, 1);
    CHECK(roster.samples() == 0);
    roster.set_presence(2, Presence::lost);
    roster.heard_status(1, said, Time{0}, 1);
    CHECK(roster.samples() == 6400);
    // And what is passed on fits together, so that the next peer does not refuse it.
    said.standing.progress = roster.progress();
    CHECK(said.standing.progress[2] == Progress{100, 6400});
    CHECK(complaint(said) == "");
}

TEST_CASE("a ballot out of all proportion does not end agreement") {
    const Prepare hostile{{UINT32_MAX, 2}};
    std::vector<Agreement> peers;
    for (PeerIndex peer = 0; peer < peer_count; ++peer) peers.emplace_back(peer, peer_count, 0);
    for (Agreement& peer : peers) {
        CHECK(peer.on_prepare(hostile).ballot.none());
        CHECK(peer.on_accept({hostile.ballot, hostile.ballot}));
        peer.on_promise(2, {hostile.ballot, {}, {}});
        CHECK(peer.highest_seen().none());
    }
    const Ballot ballot = peers[0].propose();
    CHECK(ballot == Ballot{1, 0});
    for (PeerIndex peer = 0; peer < peer_count; ++peer)
        peers[0].on_promise(peer, peers[peer].on_prepare({ballot}));
    for (PeerIndex peer = 0; peer < peer_count; ++peer) {
        REQUIRE(!peers[peer].on_accept({ballot, ballot}));
        peers[0].on_accepted(peer, peers[peer].accept_pending());
    }
    CHECK(peers[0].decided() == ballot);
}

TEST_CASE("a block too large for any row is dropped") {
    const auto checked = [](float value) {
        const std::vector<float> values(4, value);
        return Ledger::inspect(values, crc32c(std::span<const float>(values)));
    };
    CHECK(checked(row_magnitude_max) == BlockCheck::good);
    CHECK(checked(-row_magnitude_max) == BlockCheck::good);
    CHECK(checked(2 * row_magnitude_max) == BlockCheck::diverged);
    CHECK(checked(-3e38F) == BlockCheck::diverged);
}

}  // namespace ako::hostile_numbers_test
