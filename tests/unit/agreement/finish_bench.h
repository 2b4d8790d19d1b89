// One peer in its final exchange, and what a test lets it hear: two others that exist only in their
// messages.
#pragma once

#include <utility>
#include <vector>

#include "src/agreement/finish.h"
#include "src/numbers/checksum.h"
#include "src/rows/snapshots.h"

namespace ako::test {

using std::chrono::seconds;
inline constexpr FinishTimes times{seconds(30), seconds(10), seconds(120)};
inline constexpr Time ask = AnswerTime::first;

inline Status status_of_a_peer() {
    Status status;
    status.standing.progress.assign(3, {1, 1});
    status.rows.resize(3);
    status.vote.may_have_voted = 0b101;
    return status;
}

/// Peer 1 of three: it does not propose first.
struct Bench {
    explicit Bench(Time answers_within = ask, bool begins = true, Round made = 1)
        : own(blocks), roster(1, 3, answers_within) {
        ledger.set_own(own[0]);
        roster.set_own(made, made);
        for (const PeerIndex peer : {0u, 2u}) {
            roster.set_presence(peer, Presence::up);
            roster.heard_status(peer, status_of_a_peer(), now, 1);
            finish.heard(peer, status_of_a_peer(), now);
        }
        if (begins) finish.begin(now);
    }
    template <class Message>
    std::vector<Message> sent(PeerIndex to) {
        std::vector<Message> found;
        for (const auto& [peer, header] : messages) {
            if (peer == to && std::holds_alternative<Message>(header))
                found.push_back(std::get<Message>(header));
        }
        return found;
    }
    void status(PeerIndex from, std::uint32_t cut_blocks, CutId decided = {}, bool digest = false) {
        Status status = status_of_a_peer();
        status.vote.cut_blocks = cut_blocks;
        status.vote.decided = decided;
        if (digest) status.standing.digest = Digest{};
        roster.heard_status(from, status, now, 1);
        finish.heard(from, status, now);
    }
    /// The map of a cut in which row 0 is of this round, and the others nothing.
    void map(CutId cut, Round round) {
        for (const RowIndex row : AllRows(3)) {
            finish.handle(0, CutRow{cut, row, {{2, row == 0 ? version_of(round, 1) : Version{}}}},
                          now);
        }
    }
    void block(BlockIndex block, Round round) {
        const std::vector<float> values(4, 1.0F);
        finish.take(0, block, {1, round}, values, crc32c(std::span<const float>(values)), now);
    }

    const Blocks blocks{8, 4};
    Snapshots own;
    Ledger ledger{1, 3, blocks};
    Roster roster;
    std::vector<std::pair<PeerIndex, Header>> messages;
    Finish finish{ledger, roster,
                  [this](PeerIndex to, Header header) { messages.emplace_back(to, header); }, times,
                  1};
    Time now = seconds(100);
};

}  // namespace ako::test
