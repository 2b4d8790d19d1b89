// The final exchange behind slow links took many times as long as the bytes needed: a peer that had
// proposed or accepted a cut threw away what the owners of the rows streamed meanwhile, and they
// stream each block once. When a later cut named those blocks, they had to be asked for one by one,
// and until it was clear that they came no more, nothing was asked. Now a frozen peer keeps the
// blocks of their owners' last rounds beside its ledger.
#include <doctest/doctest.h>

#include "src/agreement/finish.h"
#include "src/numbers/checksum.h"
#include "src/rows/snapshots.h"

namespace ako::final_blocks_for_a_frozen_peer_test {

namespace {

using std::chrono::seconds;
constexpr FinishTimes times{seconds(30), seconds(10), seconds(120)};
constexpr PeerIndex self = 0, other = 1, streaming = 2;

/// Peer 0 of three, which has proposed what it holds: nothing.
struct Bench {
    Bench() : own(blocks) {
        ledger.set_own(own[0]);
        for (const PeerIndex peer : {other, streaming}) {
            roster.set_presence(peer, Presence::up);
            Status status;
            status.standing.progress.resize(3);
            status.rows.resize(3);
            status.rows[row_of(peer)] = {{1, 7}, {1, 7}, 1};
            status.standing.final_round = 7;
            roster.heard_status(peer, status, now, 1);
            finish.heard(peer, status, now);
        }
        roster.set_own(1, 1);
        finish.begin(now);
        now += times.exchange + seconds(1);
        finish.step(now);
    }
    bool take(BlockIndex block, Round round) {
        const std::vector<float> values(4, static_cast<float>(round));
        return finish.take(row_of(streaming), block, {1, round}, values,
                           crc32c(std::span<const float>(values)), now);
    }
    template <class Message>
    bool sent() const {
        for (const auto& message : messages) {
            if (std::holds_alternative<Message>(message.second)) return true;
        }
        return false;
    }

    const Blocks blocks{8, 4};
    Snapshots own;
    Ledger ledger{self, 3, blocks};
    Roster roster{self, 3};
    std::vector<std::pair<PeerIndex, Header>> messages;
    Finish finish{ledger, roster,
                  [this](PeerIndex to, Header header) { messages.emplace_back(to, header); }, times,
                  1};
    Time now = seconds(100);
};

}  // namespace

TEST_CASE("a frozen peer keeps what is streamed to it once, and accepts a later cut with it") {
    Bench bench;
    REQUIRE(bench.finish.frozen());
    REQUIRE(bench.sent<Prepare>());
    CHECK_FALSE(bench.take(0, 6));  // there will be a newer one
    CHECK(bench.take(0, 7));
    CHECK(bench.take(1, 7));
    CHECK_FALSE(bench.take(1, 7));  // it is held
    CHECK(bench.finish.find(row_of(streaming), 0, {1, 7}).values.size() == 4);
    CHECK(bench.ledger.version(row_of(streaming), 0) == Version{});

    const CutId cut{9, other};
    bench.finish.handle(other, Prepare{cut}, bench.now);
    bench.finish.handle(other, Accept{cut, cut}, bench.now);
    for (const RowIndex row : AllRows(3)) {
        const Version version = row == row_of(streaming) ? Version{1, 7} : Version{};
        bench.finish.handle(other, CutRow{cut, row, {{2, version}}}, bench.now);
    }
    bench.finish.step(bench.now);
    CHECK(bench.finish.accepted() == cut);
    CHECK_FALSE(bench.sent<Want>());
}

TEST_CASE("once a cut is decided, only its blocks are kept") {
    Bench bench;
    Status status;
    status.standing.progress.resize(3);
    status.rows.resize(3);
    status.vote.decided = {9, other};
    bench.roster.heard_status(other, status, bench.now, 1);
    bench.finish.step(bench.now);
    CHECK_FALSE(bench.take(0, 7));
}

}  // namespace ako::final_blocks_for_a_frozen_peer_test
