// A user saw: after a machine had been suspended and was back, its peers took what it sealed for
// seconds older or newer than it was, and gave up the wrong share of their own progress. The clock
// of a process stands still in suspend, and what was learned of it outlived the session. Since then
// the first frame of a session begins it anew.
#include <doctest/doctest.h>

#include "src/exchange/links.h"
#include "src/modes/ako_compute.h"
#include "src/modes/ako_traffic.h"
#include "tests/fakes/hand_clock.h"
#include "tests/fakes/no_transport.h"

namespace ako::clock_of_a_new_session {

using namespace std::chrono_literals;

TEST_CASE("the clock of a peer is learned anew in a new session") {
    ModeSettings settings;
    settings.peer_names = {"a", "b"};
    settings.block_elements = 4;
    settings.log = [](const std::string&) {};
    settings.exchange.start_wait_s = 1;
    settings.sample_budget = 1000;
    settings.training.batch.local = 1;
    std::vector<float> initial(10, 0.5F);
    const Blocks blocks(initial.size(), 4);
    Mailbox mailbox{2, 1 << 16};
    Outbox outbox{2};
    Snapshots snapshots{blocks};
    test::NoTransport transport;
    test::HandClock clock{100s};
    AkoCompute peer(settings, initial, mailbox, outbox, snapshots);
    AkoTraffic traffic(settings, blocks, mailbox, outbox, snapshots, transport, clock);
    Links links(settings, mailbox, traffic, transport, clock);
    Hello hello;
    hello.process_id = 7;

    const auto hear = [&](Time sent_at) {
        Status status;
        status.heartbeat.sent_at = sent_at;
        status.standing.progress.resize(2);
        status.rows.resize(2);
        const auto destination = links.reserve(1, status, 0);
        REQUIRE(destination.has_value());
        links.arrived(1, status, *destination, clock.now());
    };
    const auto in_own_time = [&](Time theirs) {
        peer.begin_round(clock.now());
        return (*peer.peers())[1].clock.to_local(theirs);
    };

    links.session_up(1, hello);
    hear(40s);
    CHECK(in_own_time(40s) == 100s);
    clock.advance(1s);
    hear(41s);  // one that is still unread when the session ends
    links.session_down(1, "suspended", Time{0});
    clock.advance(10s);
    links.session_up(1, hello);
    hear(41s);  // its clock stood still for 10 s
    CHECK(in_own_time(41s) == clock.now());
    clock.advance(1s);
    hear(43s);  // and within a session the quickest way counts
    CHECK(in_own_time(43s) == clock.now());
    clock.advance(1s);
    hear(43s);
    CHECK(in_own_time(43s) == clock.now() - 1s);
}

}  // namespace ako::clock_of_a_new_session
