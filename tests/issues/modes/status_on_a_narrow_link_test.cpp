// A simulated ring stood still for ever on a link that was too narrow for its heartbeats: as soon
// as one Status had been written the next was due, and went before the chunk that all waited for.
// Since then what the mode sends has its turn between two of them.
#include <doctest/doctest.h>

#include <variant>

#include "src/exchange/links.h"
#include "src/modes/bucket_mode.h"
#include "src/modes/bucket_traffic.h"
#include "tests/fakes/hand_clock.h"
#include "tests/fakes/no_transport.h"

namespace ako::status_on_a_narrow_link_test {

TEST_CASE("a Status that is due again at once does not go before a chunk that waits") {
    ModeSettings settings;
    settings.peer_names = {"a", "b"};
    settings.exchange.mode = Mode::ring;
    settings.straight_bytes_max = 0;  // half of the elements go to the other, in four chunks
    settings.sample_budget = 1000;
    settings.log = [](const std::string&) {};
    const Buckets buckets{{}, 2048};
    const std::vector<float> initial(2048), gradient(2048, 0.5F);
    test::NoTransport transport;
    test::HandClock clock;
    Mailbox mailbox{2};
    BucketBoard board{1, [] {}};
    const auto protocol = make_protocol(settings, buckets, initial, board, transport);
    BucketTraffic traffic(settings, mailbox, board, *protocol);
    Links links(settings, mailbox, traffic, transport, clock);
    links.session_up(1, Hello{});
    mailbox.start();
    board.contribute({0, 1, gradient, StopReason::none});

    unsigned chunks = 0;
    for (unsigned frame = 0; frame < 8; ++frame) {
        clock.advance(std::chrono::milliseconds(settings.exchange.heartbeat_ms));
        links.poll(clock.now());
        const auto sent = links.next(1, 1024);
        REQUIRE(sent);
        chunks += std::holds_alternative<Chunk>(sent->header);
    }
    CHECK(chunks == 4);
}

}  // namespace ako::status_on_a_narrow_link_test
