// The compute half of the mode `ako`, alone: frames are put into its mailbox, what it posts is
// taken from there and from its outbox. What several peers do together is the simulator's.
#include "src/modes/ako_compute.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/unit/modes/ako_compute_bench.h"

namespace ako::ako_compute_test {

using namespace ako::compute_bench;

TEST_CASE("it waits for all peers, then for a majority, and says who is missing if there is none") {
    Bench bench(3);
    CHECK(!bench.begin());
    CHECK(bench.peer->missing() == std::vector<PeerIndex>{1, 2});
    SUBCASE("all are there") {
        bench.come(1);
        CHECK(!bench.begin());
        CHECK(bench.peer->missing() == std::vector<PeerIndex>{2});
        bench.mailbox.set_presence(2, Presence::up);
        CHECK(!bench.begin());  // it may be about to tell of a run
        bench.come(2);
        CHECK(bench.begin().value().kind == Next::Kind::train);
    }
    SUBCASE("a majority is there when the time is over") {
        bench.come(1);
        CHECK(!bench.begin());
        bench.now += std::chrono::seconds(1);
        CHECK(bench.begin().value().kind == Next::Kind::train);
    }
    SUBCASE("nobody came") {
        bench.now += std::chrono::seconds(1);
        const Next next = bench.begin().value();
        CHECK(next.ending == Ending::failed);
        CHECK(next.why.find("only 1 of 3") != std::string::npos);
    }
}

TEST_CASE("the view of a link says what is known of the other peer") {
    Bench bench(3);
    CHECK(bench.peer->link(1, bench.now).presence == Presence::absent);
    bench.come(1);
    bench.begin();
    CHECK(bench.peer->link(1, bench.now).presence == Presence::up);
    CHECK(bench.peer->link(1, bench.now).live);
    CHECK(bench.peer->link(2, bench.now).presence == Presence::absent);
    bench.mailbox.set_presence(1, Presence::down);
    bench.begin();
    CHECK(bench.peer->link(1, bench.now).presence == Presence::down);
    CHECK(bench.peer->link(1, bench.now).live);  // it may come back within the life time-out
    bench.mailbox.set_presence(1, Presence::lost);
    bench.begin();
    CHECK(bench.peer->link(1, bench.now).presence == Presence::lost);
    CHECK(!bench.peer->link(1, bench.now).live);
}

TEST_CASE("who waits for the others says what it holds, so that they can ask for it") {
    Bench bench(3);
    bench.come(1);
    CHECK(!bench.begin());
    bench.mailbox.take_posted();
    bench.hear(1, 2, 4, 0.25F);  // of peer 2, which may be lost by now
    CHECK(!bench.begin());
    const auto posted = bench.mailbox.take_posted();
    REQUIRE(posted.status);
    CHECK(posted.status->rows[2].highest.round == 4);
}

TEST_CASE("a round makes a snapshot of the row, and its update counts by its weight") {
    Bench bench(2);
    bench.come(1);
    REQUIRE(bench.round().has_value());
    const auto snapshot = bench.outbox.take().snapshot;
    REQUIRE(snapshot);
    CHECK(bench.snapshots[*snapshot].version == Version{1, 1});
    CHECK(bench.snapshots[*snapshot].sealed_at == bench.now);
    CHECK(bench.snapshots[*snapshot].values == std::vector<float>(element_count, 1));
    CHECK(bench.peer->replica()[9] == 1.0F);  // 0.5 + 1/2 * 1: nobody is stood in for
    CHECK(bench.lead() == 0);
}

TEST_CASE("who is absent costs no step: updates are scaled by all peers over those who are there") {
    Bench bench(3, 40);
    bench.come(1);
    CHECK(!bench.begin());
    bench.now += std::chrono::seconds(1);
    REQUIRE(bench.round().has_value());
    CHECK(bench.peer->meetings().scale() == 1.5);
    CHECK(bench.peer->rows().ledger().values(0)[0] == 1.5F);
    SUBCASE("an update of the caller's own too") {
        bench.begin();
        const std::vector<float> update(element_count, 2);
        REQUIRE(bench.peer->end_round(Update{update}, {1, 0.5F}, bench.now).has_value());
        CHECK(bench.peer->rows().ledger().values(0)[0] == 4.5F);
    }
    SUBCASE("and no more when it comes") {
        bench.come(2);
        bench.hear(2, 2, 1, 0);
        REQUIRE(bench.round().has_value());
        CHECK(bench.peer->meetings().scale() == 1);
        // Each of the two made one round without the other, and half of it gives way.
        CHECK(bench.peer->rows().ledger().values(0)[0] == 1.5F / 2 + 1);
    }
    SUBCASE("alone, the replica moves by the whole update") {
        bench.mailbox.set_presence(1, Presence::lost);
        for (int round = 0; round < 6; ++round) bench.round();
        const float before = bench.peer->replica()[0];
        bench.round();
        CHECK(bench.peer->meetings().scale() == 3);
        CHECK(bench.peer->replica()[0] == doctest::Approx(before + 1));
    }
}

TEST_CASE("a batch of all together is shared by those who take part") {
    Bench bench(3, 40);
    bench.settings.training.batch.global_target = 12;
    bench.peer.emplace(bench.settings, bench.initial, bench.mailbox, bench.outbox, bench.snapshots);
    bench.come(1);
    bench.begin();
    bench.now += std::chrono::seconds(1);
    CHECK(bench.begin()->samples == 6);
    bench.come(2);
    bench.hear(2, 2, 1, 0);
    REQUIRE(bench.round().has_value());
    CHECK(bench.begin()->samples == 4);
    bench.mailbox.set_presence(1, Presence::lost);
    bench.mailbox.set_presence(2, Presence::lost);
    for (int round = 0; round < 6; ++round) bench.round();
    CHECK(bench.begin()->samples == 12);
}

TEST_CASE("the batch is doubled as soon as anybody says that it is due, and that is passed on") {
    Bench bench(2);
    bench.settings.training.batch.schedule.kind = BatchScheduleKind::automatic;
    bench.settings.training.batch.local = 8;
    bench.peer.emplace(bench.settings, bench.initial, bench.mailbox, bench.outbox, bench.snapshots);
    bench.come(1);
    bench.begin();
    CHECK(bench.begin()->samples == 8);
    Status status;
    status.standing.progress.resize(2);
    status.rows.resize(2);
    status.standing.batch_doublings = 2;
    bench.mailbox.push({1, status, {}, bench.now});
    CHECK(bench.begin()->samples == 32);
    bench.round();
    CHECK(bench.mailbox.take_posted().status->standing.batch_doublings == 2);
}

namespace {

constexpr Round together = 3, apart = 14;

/// A peer of two that trains on without the other, which does so too.
struct Apart : Bench {
    Apart() : Bench(2, 40) {
        come(1);
        for (Round made = 1; made <= together; ++made) {
            hear(1, 1, made, 0);
            round();
        }
        mailbox.set_presence(1, Presence::lost);
        for (Round made = 0; made < apart; ++made) round();
        row = peer->rows().ledger().values(0)[0];
    }
    /// Peer 1, and how many rounds it has made alone.
    void meet(Round rounds) {
        come(1);
        hear(1, 1, together + rounds, 5);
    }

    float row = 0;
    /// What the row grew by beyond the mark, which is what it was after two rounds: peer 1 sealed
    /// then what came of it last.
    float growth() const { return row - 2; }
};

}  // namespace

TEST_CASE("rows that grew apart give way to each other by the rounds of both") {
    Apart bench;
    CHECK(bench.peer->meetings().scale() == 2);
    SUBCASE("as many") {
        bench.meet(apart);
        bench.round();
        CHECK(bench.peer->meetings().scale() == 1);
        const double share = static_cast<double>(apart) / (apart + apart + 1);
        CHECK(bench.peer->rows().ledger().values(0)[0] ==
              doctest::Approx(bench.row + 1 - share * bench.growth()));
        REQUIRE(bench.lines.size() == 1);
        CHECK(bench.lines[0].find("14 rounds apart") != std::string::npos);
        CHECK(bench.lines[0].find("since round 3, 48 % gives way") != std::string::npos);
        bench.hear(1, 1, together + apart + 1, 6);
        bench.round();
        CHECK(bench.peer->rows().gave_way().empty());
        CHECK(bench.lines.size() == 1);
    }
    SUBCASE("the replica goes on from where it was, until the blocks come") {
        const float before = bench.peer->replica()[9];
        bench.meet(apart);  // with its first block only
        bench.round(0);
        CHECK(bench.peer->replica()[9] == doctest::Approx(before));
    }
    SUBCASE("none, for one that stood still") {
        bench.meet(0);
        bench.round();
        CHECK(bench.peer->rows().ledger().values(0)[0] == bench.row + 2);  // it has not moved yet
        bench.meet(1);
        bench.round();
        CHECK(bench.peer->rows().ledger().values(0)[0] ==
              doctest::Approx(bench.row + 3).epsilon(0.06));
        CHECK(bench.peer->rows().ledger().values(0)[0] < bench.row + 3);
    }
}

TEST_CASE("rows that grew apart give way in the final exchange too, before a cut is proposed") {
    Apart bench;
    bench.peer->request_stop(StopReason::requested);
    REQUIRE(bench.begin().value().kind == Next::Kind::finish);
    SUBCASE("to one that has learned something") {
        bench.meet(apart);
        bench.peer->step_finish(bench.now);
        CHECK(bench.peer->round() == together + apart + 1);
        CHECK(bench.peer->standing().round == bench.peer->round());
        CHECK(bench.mailbox.take_posted().status->standing.final_round == together + apart + 1);
        const double share = static_cast<double>(apart) / (apart + apart + 1);
        CHECK(bench.peer->rows().ledger().values(0)[0] ==
              doctest::Approx(bench.row - share * bench.growth()));
        CHECK(!bench.peer->agreement().frozen());
        bench.now += 10 * ms;
        bench.peer->step_finish(bench.now);  // no second time
        CHECK(bench.peer->round() == together + apart + 1);
    }
    SUBCASE("not to one that has not") {
        bench.meet(0);
        bench.peer->step_finish(bench.now);
        CHECK(bench.peer->round() == together + apart);
        CHECK(bench.peer->rows().ledger().values(0)[0] == bench.row);
    }
}

TEST_CASE("what gives way at the end to several is worth it together") {
    Bench bench(4, 40);
    for (const PeerIndex peer : {1u, 2u, 3u}) bench.come(peer);
    bench.round();
    for (const PeerIndex peer : {1u, 2u, 3u}) bench.mailbox.set_presence(peer, Presence::lost);
    for (int made = 0; made < 100; ++made) bench.round();
    bench.peer->request_stop(StopReason::requested);
    REQUIRE(bench.begin().value().kind == Next::Kind::finish);
    for (const PeerIndex peer : {1u, 2u, 3u}) {
        bench.come(peer);
        bench.hear(peer, row_of(peer), 3, 5);  // of 103 rounds or more
        bench.peer->step_finish(bench.now += 10 * ms);
        CHECK(bench.peer->round() == (peer == 1 ? 101 : 102));
    }
}

TEST_CASE("relayed blocks change the row of who made them, and never what stands in for it") {
    Bench bench(3);
    for (const PeerIndex other : {1u, 2u}) bench.come(other);
    bench.round();
    bench.hear(1, 1, 1, 0);  // peer 1 advances from here on
    bench.round();
    bench.round();
    const float lead = bench.lead();
    REQUIRE(lead > 0.3F);  // the own two rounds since, for peer 1
    bench.hear(2, 1, 7, 9);
    bench.begin();
    CHECK(bench.peer->rows().ledger().version(1, 0) == Version{1, 7});
    CHECK(bench.peer->rows().ledger().values(1)[0] == 9);
    CHECK(bench.lead() == doctest::Approx(lead).epsilon(1e-4));
    CHECK((*bench.peer->peers())[1].announced == 1);  // what others say of it is no move of its own

    SUBCASE("the block that comes from itself takes the place of its stand-in") {
        bench.hear(1, 1, 8, 10);
        bench.begin();
        CHECK(std::abs(bench.lead()) < 1e-5F);  // all that stood in was made before the seal
    }
    SUBCASE("an older one is late and changes nothing") {
        bench.hear(1, 1, 6, 10);
        bench.begin();
        CHECK(bench.peer->rows().ledger().values(1)[0] == 9);
        CHECK(bench.lead() == doctest::Approx(lead).epsilon(1e-4));
    }
}

TEST_CASE(
    "a block that is damaged or not finite is dropped, its origin named once, the older kept") {
    Bench bench(2);
    bench.come(1);
    bench.hear(1, 1, 1, 3);
    bench.round();
    bench.hear(1, 1, 2, 4, true);
    bench.hear(1, 1, 3, std::numeric_limits<float>::quiet_NaN());
    bench.round();
    CHECK(bench.peer->rows().ledger().version(1, 0) == Version{1, 1});
    CHECK(bench.peer->rows().ledger().values(1)[0] == 3);
    CHECK(bench.peer->arrivals().blocks_refused() == 2);
    REQUIRE(bench.lines.size() == 1);
    CHECK(bench.lines[0].find("does not match its checksum") != std::string::npos);
    CHECK(bench.pool.bytes_lent() == 0);
}

TEST_CASE("nobody else writes the own row") {
    Bench bench(2);
    bench.come(1);
    bench.round();
    bench.hear(1, 0, 50, 7);
    bench.begin();
    CHECK(bench.peer->rows().ledger().version(0, 0) == Version{1, 1});
    CHECK(bench.peer->rows().ledger().values(0)[0] == 1);
}

TEST_CASE("rule plain stands in for nobody") {
    Bench bench(2);
    bench.settings.exchange.rule = Rule::plain;
    Outbox outbox(2);
    Snapshots snapshots(Blocks(element_count, 4));
    AkoCompute plain(bench.settings, bench.initial, bench.mailbox, outbox, snapshots);
    bench.come(1);
    const std::vector<float> gradient(element_count, -1);
    for (Round round = 1; round <= 3; ++round) {
        bench.hear(1, 1, round, 0);
        bench.now += 10 * ms;
        REQUIRE(plain.begin_round(bench.now).value().kind == Next::Kind::train);
        REQUIRE(plain.end_round(Gradient{gradient}, {1, 0}, bench.now).has_value());
    }
    CHECK(plain.peers()->advancing(1, 3));
    CHECK(plain.replica()[0] == 2.0F);  // 0.5 + 3/2
}

TEST_CASE("all stop when the budget is spent, when one asks for it, or when a Status says so") {
    Bench bench(2);
    bench.come(1);
    bench.round();
    SUBCASE("the budget, counted over all peers") {
        Status status;
        status.standing.progress = {{1, 1}, {5, 999}};
        status.rows.resize(2);
        bench.mailbox.push({1, status, {}, bench.now});
        CHECK(bench.begin().value().why == "the sample budget is spent");
        CHECK(bench.peer->standing().progress == 1);
    }
    SUBCASE("a request") {
        bench.peer->request_stop(StopReason::requested);
        CHECK(bench.begin().value().kind == Next::Kind::finish);
    }
    SUBCASE("another peer") {
        Status status;
        status.standing.progress.resize(2);
        status.rows.resize(2);
        status.standing.stop = StopReason::target_reached;
        bench.mailbox.push({1, status, {}, bench.now});
        CHECK(bench.begin().value().why == "the target accuracy is reached");
    }
}

TEST_CASE("asked to stop before anybody has made a round, it gives up; later it finishes") {
    Bench bench(3);
    CHECK(!bench.begin());
    bench.peer->request_stop(StopReason::requested);
    SUBCASE("nobody has trained") {
        const Next next = bench.begin().value();
        CHECK(next.kind == Next::Kind::give_up);
        CHECK(next.ending == Ending::failed);
        CHECK(next.why == never_began);
        // The others wait for the rest as if it had never come.
        CHECK(bench.mailbox.take_posted().status->standing.stop == StopReason::none);
    }
    SUBCASE("others train already, and there is something to agree on") {
        Status status;
        status.standing.progress = {{}, {4, 4}, {}};
        status.rows.resize(3);
        bench.mailbox.push({1, status, {}, bench.now});
        CHECK(bench.begin().value().kind == Next::Kind::finish);
    }
}

TEST_CASE("who was asked to stop is passed on, and all that are heard of come together") {
    Bench bench(3);
    bench.come(1);
    bench.come(2);
    bench.round();
    const auto hear = [&](PeerIndex from, StopReason stop, PeerSet asked) {
        Status status;
        status.standing.progress.resize(3);
        status.rows.resize(3);
        status.standing.stop = stop;
        status.standing.asked = asked;
        bench.mailbox.push({from, status, {}, bench.now});
    };
    std::vector<float> parameters(element_count);
    hear(1, StopReason::requested, peer_bit(2));  // of peer 2, which has gone since
    CHECK(bench.begin().value().why == "a stop was requested: peer p asked for it");
    CHECK(bench.lines == std::vector<std::string>{"a stop was requested: peer p asked for it"});
    bench.peer->step_finish(bench.now);
    CHECK(bench.mailbox.take_posted().status->standing.asked == peer_bit(2));
    SUBCASE("another was asked as well") {
        hear(1, StopReason::requested, peer_bit(1));
        bench.peer->step_finish(bench.now);
        const FinishReport report = bench.peer->report(parameters, bench.now);
        CHECK(report.asked == std::vector<PeerIndex>{1, 2});
        CHECK(report.stopped_early());
        CHECK(report.progress == doctest::Approx(0.001));
    }
    SUBCASE("what the training came to by itself outweighs what was asked for") {
        hear(1, StopReason::target_reached, 0);
        hear(2, StopReason::requested, peer_bit(2));
        bench.peer->step_finish(bench.now);
        const FinishReport report = bench.peer->report(parameters, bench.now);
        CHECK(report.stop == StopReason::target_reached);
        CHECK(report.asked.empty());
        CHECK(!report.stopped_early());
    }
}

TEST_CASE("an update that leads the row beyond what one can hold is not published") {
    Bench bench(2);
    bench.come(1);
    REQUIRE(bench.round(-1e7F).has_value());
    bench.outbox.take();
    const Result<void> ended = bench.round(-1e7F);
    REQUIRE(!ended.has_value());
    CHECK(ended.error().kind == Error::Kind::numbers);
    CHECK(bench.peer->round() == 1);
    CHECK(!bench.outbox.take().snapshot);
}

}  // namespace ako::ako_compute_test
