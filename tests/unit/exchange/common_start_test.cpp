// How peers that wait for each other begin together: anew, from one checkpoint that all have, or
// not at all.
#include "src/exchange/common_start.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/contains.h"

namespace ako::common_start_test {

using ako::test::contains;

namespace {

/// What peer a, b or c of three knows before the first round.
struct Before {
    explicit Before(PeerIndex self, std::vector<CheckpointId> own = {}) : roster(self, 3) {
        settings.self = self;
        settings.process_id = 100 + self;
        settings.peer_names = {"a", "b", "c"};
        settings.checkpoints = std::move(own);
    }
    void hear(PeerIndex peer, std::vector<CheckpointId> checkpoints = {}) {
        roster.set_presence(peer, Presence::up);
        Status status;
        status.standing.progress.resize(3);
        status.heartbeat.process_id = 100 + peer;
        status.start.checkpoints = std::move(checkpoints);
        roster.heard_status(peer, status, Time{1}, 0);
    }

    ModeSettings settings;
    Roster roster;
    CommonStart start{settings, roster};
};

constexpr std::uint64_t one = 0x3f2a000000000000, other = 0x81c5000000000000;

/// What each of the three comes to, where these have so many checkpoints.
std::vector<std::optional<CheckpointId>> choices(
    const std::vector<std::vector<CheckpointId>>& all) {
    std::vector<std::optional<CheckpointId>> chosen;
    for (PeerIndex self = 0; self < 3; ++self) {
        Before peer(self, all[self]);
        for (PeerIndex from = 0; from < 3; ++from)
            if (from != self) peer.hear(from, all[from]);
        CHECK(peer.start.silent().empty());
        CHECK(peer.start.why_not().empty() != (!peer.start.checkpoint() && !all[0].empty()));
        chosen.push_back(peer.start.checkpoint());
    }
    return chosen;
}

}  // namespace

TEST_CASE("who has not said how it begins is waited for") {
    Before peer(0);
    CHECK(peer.start.silent() == std::vector<PeerIndex>{1, 2});
    peer.roster.set_presence(1, Presence::up);
    CHECK(peer.start.silent() == std::vector<PeerIndex>{1, 2});
    peer.hear(1);
    peer.hear(2);
    CHECK(peer.start.silent().empty());
    peer.roster.set_presence(2, Presence::down);
    CHECK(peer.start.silent() == std::vector<PeerIndex>{2});
    peer.roster.set_presence(2, Presence::up);
    peer.roster.begin_session(2, false);
    CHECK(peer.start.silent() == std::vector<PeerIndex>{2});
}

TEST_CASE("all begin anew where nobody has a checkpoint, each start under an id of its own") {
    CHECK(choices({{}, {}, {}}) == std::vector<std::optional<CheckpointId>>(3));
    std::vector<std::uint64_t> ids;
    for (PeerIndex self = 0; self < 3; ++self) {
        Before peer(self);
        for (PeerIndex from = 0; from < 3; ++from)
            if (from != self) peer.hear(from);
        ids.push_back(peer.start.id());
    }
    CHECK(ids[0] == ids[1]);
    CHECK(ids[0] == ids[2]);
    Before again(0);
    again.settings.process_id = 7;  // another process
    again.hear(1);
    again.hear(2);
    CHECK(again.start.id() != ids[0]);
}

TEST_CASE("all come to the newest that everybody has") {
    using Choices = std::vector<std::optional<CheckpointId>>;
    CHECK(choices({{{one, 40}, {one, 20}}, {{one, 20}, {one, 40}}, {{one, 40}, {one, 30}}}) ==
          Choices(3, CheckpointId{one, 40}));
    CHECK(choices({{{one, 40}, {one, 20}}, {{one, 30}, {one, 20}}, {{one, 20}, {one, 10}}}) ==
          Choices(3, CheckpointId{one, 20}));
    // A checkpoint of the same round, but of another start of the run, is another one.
    CHECK(choices({{{other, 40}, {one, 20}}, {{one, 40}, {one, 20}}, {{one, 40}, {one, 20}}}) ==
          Choices(3, CheckpointId{one, 20}));
    CHECK(choices({{{other, 40}}, {{one, 40}}, {{one, 40}}}) == Choices(3));
}

TEST_CASE("why they cannot begin together") {
    Before peer(1, {{one, 40}, {one, 20}});
    peer.hear(0, {{one, 60}});
    peer.hear(2);
    CHECK(peer.start.why_not() ==
          "a and b go on from a checkpoint, c begins anew: start all of "
          "them with --resume, or none");
    peer.hear(2, {{other, 40}});
    CHECK(
        contains(peer.start.why_not(),
                 "no checkpoint is on the disks of all peers: a has round 60 of start 3f2a; b has "
                 "round 40 of start 3f2a and round 20 of start 3f2a; c has round 40 of start "
                 "81c5; "));
    Before alone(0);
    alone.hear(1, {{one, 40}});
    alone.hear(2, {{one, 40}});
    CHECK(alone.start.why_not() ==
          "b and c go on from a checkpoint, a begins anew: start all of "
          "them with --resume, or none");
}

TEST_CASE("while training, the newest of this peer's that the others say to have") {
    Before peer(0);
    const std::vector<CheckpointId> own = {{one, 40}, {one, 30}, {one, 20}};
    peer.hear(1, {{one, 30}, {one, 20}});
    CHECK_FALSE(peer.start.newest_of(own));
    peer.hear(2, {{one, 20}});
    CHECK(peer.start.newest_of(own) == CheckpointId{one, 20});
    peer.hear(2, {{one, 40}, {one, 30}});
    CHECK(peer.start.newest_of(own) == CheckpointId{one, 30});
}

}  // namespace ako::common_start_test
