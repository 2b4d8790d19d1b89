// Which peers are there, which ones advance, and what is merged.
#include "src/exchange/roster.h"

#include <doctest/doctest.h>

#include "ako/exchange.h"

namespace ako::roster_test {

namespace {

Status status_of(std::vector<Progress> progress) {
    Status status;
    status.standing.progress = std::move(progress);
    status.rows.resize(status.standing.progress.size());
    return status;
}

}  // namespace

TEST_CASE("who is there: absent, up, down, lost, left") {
    Roster members(1, 4);
    CHECK(members.live_count() == 1);
    CHECK(members.lowest_live() == 1);
    CHECK(members.reached() == 0);
    members.set_presence(2, Presence::up);
    members.set_presence(3, Presence::up);
    CHECK(members.live_count() == 3);
    CHECK(members.reached() == (peer_bit(2) | peer_bit(3)));
    members.set_presence(3, Presence::down);
    CHECK(members[3].live());  // within the life time-out
    CHECK(members.reached() == peer_bit(2));
    CHECK(!members.reachable(3));
    members.set_presence(3, Presence::lost);
    CHECK(!members[3].live());
    CHECK(members[3].ever_lost);
    CHECK(!members[2].ever_lost);
    members.set_presence(0, Presence::up);
    CHECK(members.lowest_live() == 0);
    members.set_presence(3, Presence::up);
    CHECK(members[3].live());
    CHECK(members[3].ever_lost);  // it was, and it came back
}

TEST_CASE("a Bye stands: what the transport says afterwards makes nobody lost") {
    Roster members(0, 2);
    members.set_presence(1, Presence::up);
    members.heard_bye(1, Bye{30});
    CHECK(members[1].presence == Presence::left);
    CHECK(members[1].final_round == 30);
    members.set_presence(1, Presence::down);
    members.set_presence(1, Presence::lost);
    CHECK(members[1].presence == Presence::left);
    CHECK(!members[1].ever_lost);
    members.set_presence(1, Presence::up);
    CHECK(members[1].presence == Presence::up);
}

TEST_CASE("that nobody listens where a peer was stands beside its loss") {
    Roster members(0, 2);
    members.set_presence(1, Presence::up);
    members.set_presence(1, Presence::down);
    members.set_presence(1, Presence::gone);
    members.set_presence(1, Presence::lost);
    CHECK(members[1].presence == Presence::gone);
    CHECK(members[1].ever_lost);
    members.set_presence(1, Presence::up);
    CHECK(members[1].presence == Presence::up);
}

TEST_CASE("a peer advances from its first round on, as long as its rounds move") {
    Roster members(0, 2);
    members.set_presence(1, Presence::up);
    CHECK(!members.advancing(1, 0));
    CHECK(!members.advancing(0, 0));  // nobody stands in for itself
    members.heard_round(1, 1, 10);
    CHECK(members.advancing(1, 10));
    CHECK(members.advancing(1, 14));
    CHECK(!members.advancing(1, 15));  // gap_min is 4
    members.heard_round(1, 1, 15);     // the same round is no move
    CHECK(!members.advancing(1, 15));
    members.heard_round(1, 2, 15);
    CHECK(members.advancing(1, 15));
}

TEST_CASE("a peer that usually takes long is given twice its usual gap") {
    Roster members(0, 2);
    members.set_presence(1, Presence::up);
    Round own = 0;
    for (Round round = 1; round <= 40; ++round) members.heard_round(1, round, own += 10);
    CHECK(members[1].usual_gap == doctest::Approx(10).epsilon(0.01));
    CHECK(members.advancing(1, own + 19));
    CHECK(!members.advancing(1, own + 21));
    // It became fast: after a few moves it is given no more than the least.
    for (Round round = 41; round <= 60; ++round) members.heard_round(1, round, ++own);
    CHECK(members.advancing(1, own + 4));
    CHECK(!members.advancing(1, own + 5));
}

TEST_CASE("who is lost or has stopped does not advance, and begins anew when it is back") {
    Roster members(0, 3);
    members.set_presence(1, Presence::up);
    members.heard_round(1, 5, 5);
    members.set_presence(1, Presence::down);
    CHECK(members.advancing(1, 5));
    members.set_presence(1, Presence::lost);
    CHECK(!members.advancing(1, 5));
    members.set_presence(1, Presence::up);
    CHECK(!members.advancing(1, 5));  // not before it has moved
    members.heard_round(1, 6, 100);
    CHECK(members.advancing(1, 100));
    CHECK(members[1].usual_gap < 4);  // the time it was away is no gap of its rounds
    Status stopped = status_of({{100, 0}, {6, 0}, {0, 0}});
    stopped.standing.final_round = 6;
    members.heard_status(1, stopped, Time(1), 100);
    CHECK(!members.advancing(1, 100));
}

TEST_CASE("rounds and samples are merged by maximum; of itself a peer knows best") {
    Roster members(0, 3);
    members.set_presence(1, Presence::up);
    members.set_own(7, 70);
    members.heard_status(1, status_of({{9, 999}, {4, 40}, {8, 80}}), Time(1), 7);
    CHECK(members.samples() == 70 + 40 + 80);
    CHECK(members[1].announced == 4);
    CHECK(members[2].announced == 0);  // not from itself, so it does not count as a move
    CHECK(!members.advancing(2, 7));
    members.heard_status(1, status_of({{9, 999}, {3, 30}, {2, 20}}), Time(2), 7);
    CHECK(members.samples() == 70 + 40 + 80);
    CHECK(members[1].announced == 4);
    CHECK(members.progress() == std::vector<Progress>{{7, 70}, {4, 40}, {8, 80}});
    CHECK(members[1].status->standing.progress[1].round == 3);  // the newest Status as it was
}

TEST_CASE("a report tells how far a peer is, also where only others have heard of it") {
    Roster members(0, 3);
    CHECK(members.link_view(1).presence == Presence::absent);
    CHECK(members.link_view(1).round == 0);
    CHECK(!members.link_view(1).loss);
    members.set_presence(1, Presence::up);
    Status status = status_of({{0, 0}, {7, 700}, {5, 500}});
    status.standing.loss = 0.25f;
    members.heard_status(1, status, std::chrono::seconds(1), 3);
    CHECK(members.link_view(1).live);
    CHECK(members.link_view(1).round == 7);
    CHECK(members.link_view(1).samples == 700);
    CHECK(members.link_view(1).loss == 0.25f);
    CHECK(members.link_view(2).peer == 2);
    CHECK(members.link_view(2).presence == Presence::absent);
    CHECK(members.link_view(2).round == 5);
    CHECK(members.link_view(2).samples == 500);
    CHECK(!members.link_view(2).loss);  // which nobody passes on
}

TEST_CASE("a Status tells the clock of its sender") {
    Roster members(0, 2);
    Status status = status_of({{0, 0}, {0, 0}});
    status.heartbeat.sent_at = std::chrono::seconds(100);
    status.heartbeat.echo_sent_at = std::chrono::seconds(4);
    status.heartbeat.echo_held = std::chrono::milliseconds(980);
    members.heard_status(1, status, std::chrono::seconds(5), 0);
    // 20 ms there and back: it was sent at 4.99 s of the own clock.
    CHECK(members[1].clock.round_trip() == std::chrono::milliseconds(20));
    CHECK(members[1].clock.to_local(std::chrono::seconds(100)) == std::chrono::milliseconds(4990));
}

TEST_CASE("what a peer has done outlives its process, and what is of the process does not") {
    Roster members(0, 2);
    members.set_presence(1, Presence::up);
    Status status = status_of({{0, 0}, {6, 60}});
    status.rows[1] = {{5, 6}, {5, 6}, 1};
    status.heartbeat.sent_at = std::chrono::seconds(100);
    status.standing.final_round = 6;
    members.begin_session(1, false);
    CHECK(!members[1].heard);
    members.heard_status(1, status, std::chrono::seconds(1), 3);
    CHECK(members[1].heard);
    CHECK(members[1].final_version() == Version{5, 6});
    SUBCASE("another session of it") {
        members.begin_session(1, false);
        CHECK(!members[1].heard);
        CHECK(members[1].status);
        CHECK(members[1].final_round == 6);
        CHECK(!members[1].joins());
    }
    SUBCASE("another process") {
        members.begin_session(1, true);
        CHECK(!members[1].heard);
        CHECK(!members[1].status);
        CHECK(!members[1].final_round);
        CHECK(!members[1].final_version());
        CHECK(members[1].joins());  // until it says that it does not
    }
    CHECK(!members[1].clock.to_local(std::chrono::seconds(100)));
    CHECK(members[1].announced == 6);
    CHECK(members.samples() == 60);
    // Its newest word counts for its end, too.
    status.standing.final_round.reset();
    members.heard_status(1, status, std::chrono::seconds(2), 3);
    CHECK(!members[1].final_round);
    CHECK(!members[1].joins());
}

TEST_CASE("who joins takes no part yet: it neither advances nor comes first") {
    Roster members(1, 3);
    members.set_own(9, 90);
    members.set_presence(0, Presence::up);
    Status status = status_of({{4, 40}, {}, {}});
    members.heard_status(0, status, Time(1), 9);
    CHECK(members.lowest_live() == 0);
    status.start.joining = true;
    members.heard_status(0, status, Time(2), 9);
    CHECK(members[0].joins());
    CHECK(members.lowest_live() == 1);
    CHECK(members.live_count() == 2);
}

TEST_CASE("of the own progress others know until this process has made it its own") {
    Roster members(0, 3);
    members.set_presence(1, Presence::up);
    members.heard_status(1, status_of({{5, 50}, {}, {}}), Time(1), 0);
    members.heard_status(1, status_of({{4, 40}, {}, {}}), Time(2), 0);
    CHECK(members[0].relayed_round == 5);
    CHECK(members.samples() == 50);
    members.set_own(5, 50);
    members.heard_status(1, status_of({{8, 80}, {}, {}}), Time(3), 5);
    CHECK(members.samples() == 50);
    members.forget_own();
    members.heard_status(1, status_of({{8, 80}, {}, {}}), Time(4), 5);
    CHECK(members.samples() == 80);
}

TEST_CASE("who said that it leaves has left, also if its Bye does not come") {
    Roster members(1, 3);
    for (const PeerIndex peer : {0, 2}) members.set_presence(peer, Presence::up);
    Status leaving = status_of({{4, 30}, {0, 0}, {0, 0}});
    leaving.standing.leaving = true;
    leaving.standing.final_round = 4;
    members.heard_status(0, leaving, Time(1), 5);
    members.set_presence(0, Presence::down);
    CHECK(members[0].live());
    members.set_presence(0, Presence::lost);
    CHECK(members[0].presence == Presence::left);
    CHECK(!members[0].ever_lost);
    const std::vector<EarlyLeave> left = members.left_early(60);
    REQUIRE(left.size() == 1);
    CHECK(left[0].round == 4);
    CHECK(left[0].progress == 0.5);
    members.set_presence(2, Presence::lost);
    CHECK(members[2].presence == Presence::lost);
    CHECK(members.left_early(60).size() == 1);
}

TEST_CASE("how a peer ended that failed is known until it is back") {
    Roster members(1, 3);
    for (const PeerIndex peer : {0, 2}) members.set_presence(peer, Presence::up);
    const Farewell failed{EndCause::numbers, 31, "the loss is not finite"};
    members.heard_bye(0, Bye{30, {}, true, failed});
    members.set_presence(0, Presence::lost);
    CHECK(members.link_view(0).presence == Presence::left);
    CHECK(members.link_view(0).farewell == failed);
    REQUIRE(members.left_early(60).size() == 1);
    CHECK(members.left_early(60)[0].farewell == failed);
    // Another's numbers are no failure of who passes them on.
    members.heard_bye(2, Bye{30, PeerIndex{0}, false, failed});
    REQUIRE(members.link_view(2).farewell);
    CHECK(members.link_view(2).farewell->cause == EndCause::broken);
    members.set_presence(0, Presence::up);
    CHECK(!members.link_view(0).farewell);
}

TEST_CASE("who leaves before the end is told from who has finished, until it is back") {
    Roster members(1, 4);
    for (const PeerIndex peer : {0, 2, 3}) members.set_presence(peer, Presence::up);
    members.set_own(5, 50);
    Status leaving = status_of({{4, 30}, {0, 0}, {0, 0}, {0, 0}});
    leaving.standing.leaving = true;
    leaving.standing.final_round = 4;
    members.heard_status(0, leaving, Time(1), 5);
    CHECK(members[0].leaving());
    CHECK(members.lowest_live() == 1);  // who evaluates from now on
    CHECK(members.left_early(160).empty());
    members.heard_bye(0, Bye{4, {}, true});
    members.heard_bye(2, Bye{7});
    CHECK(!members[0].leaving());
    const std::vector<EarlyLeave> left = members.left_early(160);
    REQUIRE(left.size() == 1);
    CHECK(left[0].peer == 0);
    CHECK(left[0].round == 4);
    CHECK(left[0].progress == 0.5);  // 30 of its samples and 50 of this peer's
    members.set_presence(0, Presence::up);
    CHECK(members.left_early(160).empty());
}

}  // namespace ako::roster_test
