// A peer that waits for the start heard through another that a stop was asked for, before the word
// of who had trained reached it: it took the run for one that nobody had begun, and ended with exit
// 2 while the others finished (simulate, seed 107395).
#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <vector>

#include "ako/ending.h"
#include "src/modes/ako_compute.h"

namespace ako::stop_before_its_word_test {

TEST_CASE("issue: a stop that is heard of says that somebody has trained") {
    constexpr std::size_t count = 3, element_count = 8;
    constexpr PeerIndex self = 0, waits = 1, trained = 2;
    ModeSettings settings;
    settings.self = self;
    settings.peer_names = {"a", "b", "c"};
    settings.sample_budget = 1000;
    settings.block_elements = 4;
    settings.exchange.start_wait_s = 60;
    settings.log = [](const std::string&) {};
    std::vector<float> initial(element_count, 0.5F);
    Mailbox mailbox{count};
    Outbox outbox{count};
    Snapshots snapshots{Blocks(element_count, 4)};
    AkoCompute peer(settings, initial, mailbox, outbox, snapshots);
    Time now = std::chrono::seconds(10);
    mailbox.set_presence(waits, Presence::up);
    mailbox.set_presence(trained, Presence::up);
    Status status;
    status.standing.progress.resize(count);
    status.rows.resize(count);
    mailbox.push({trained, status, {}, now});  // it begins soon; what it says next is on its way
    CHECK(!peer.begin_round(now));

    status.standing.progress = {{}, {}, {7, 7}};
    status.standing.stop = StopReason::requested;
    status.standing.asked = peer_bit(trained);
    mailbox.push({waits, status, {}, now});
    now += std::chrono::milliseconds(10);
    const std::optional<Next> next = peer.begin_round(now);
    REQUIRE(next);
    CHECK(next->kind == Next::Kind::finish);
}

}  // namespace ako::stop_before_its_word_test
