// Behind a slow link a peer pulled zeros: where a cut named blocks of a row that its proposer had
// never received, everybody who held something newer asked for them, 16 KiB of zeros each. They are
// known without being sent. Now they are made where they are lacking.
#include <doctest/doctest.h>

#include <algorithm>

#include "src/agreement/finish.h"
#include "src/numbers/checksum.h"
#include "src/rows/snapshots.h"

namespace ako::zero_blocks_of_a_cut_test {

namespace {

using std::chrono::seconds;
constexpr FinishTimes times{seconds(30), seconds(10), seconds(120)};

}  // namespace

TEST_CASE("blocks of a cut that nobody trained are made, not pulled") {
    constexpr PeerIndex proposer = 0, self = 1;
    const Blocks blocks{7, 4};  // the last block is shorter
    Snapshots own(blocks);
    own[0].version = {1, 3};
    std::fill(own[0].values.begin(), own[0].values.end(), 2.0F);
    Ledger ledger{self, 3, blocks};
    ledger.set_own(own[0]);
    for (BlockIndex block = 0; block < blocks.count(); ++block) {
        const std::vector<float> values(blocks.range(block).count, 1.0F);
        ledger.replace(2, block, {1, 5}, values, crc32c(std::span<const float>(values)));
    }
    Roster roster{self, 3};
    roster.set_presence(proposer, Presence::up);
    std::vector<Header> sent;
    Finish finish{ledger, roster, [&](PeerIndex, Header header) { sent.push_back(header); }, times,
                  1};
    Time now = seconds(100);
    roster.set_own(3, 3);
    finish.begin(now);
    Status status;
    status.standing.progress.resize(3);
    status.rows.resize(3);
    roster.heard_status(proposer, status, now, 1);

    const CutId cut{1, proposer};
    finish.handle(proposer, Prepare{cut}, now);
    finish.handle(proposer, Accept{cut, cut}, now);
    for (const RowIndex row : AllRows(3)) {
        finish.handle(proposer, CutRow{cut, row, {{2, Version{}}}}, now);
    }
    finish.step(now);
    CHECK(finish.accepted() == cut);
    CHECK(std::none_of(sent.begin(), sent.end(),
                       [](const Header& header) { return std::holds_alternative<Want>(header); }));

    status.vote.decided = cut;
    roster.heard_status(proposer, status, now, 1);
    finish.step(now);
    REQUIRE(finish.ready_to_adopt());
    ledger.detach_own();
    finish.adopt_cut(ledger, now);
    for (const RowIndex row : AllRows(3)) {
        const std::span<const float> values = ledger.values(row);
        CHECK(std::all_of(values.begin(), values.end(), [](float value) { return value == 0; }));
        for (BlockIndex block = 0; block < blocks.count(); ++block) {
            CHECK(ledger.checksum(row, block) == crc32c(ledger.block(row, block)));
        }
    }
}

}  // namespace ako::zero_blocks_of_a_cut_test
