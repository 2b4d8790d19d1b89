// The plans of syncs: as many bytes as the modes' costs say, and in an order in which every peer
// can send.
#include "src/modes/sync_plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "ako/payload.h"
#include "src/modes/make_exchange.h"

namespace ako::sync_plan_test {

namespace {

ModeSettings settings_of(Mode mode, std::size_t peers) {
    ModeSettings settings;
    settings.peer_names.assign(peers, "p");
    settings.roles.assign(peers, Role::worker);
    settings.exchange.mode = mode;
    return settings;
}

/// [peer] bytes that it sends in one sync.
std::vector<double> sent(const SyncPlan& plan, std::size_t peers) {
    std::vector<double> bytes(peers);
    for (const SyncMessage& message : plan.messages)
        bytes[message.from] += static_cast<double>(message.bytes);
    return bytes;
}

/// Every message waits only for messages that come to its sender and stand before it.
void check_order(const SyncPlan& plan) {
    for (std::uint32_t k = 0; k < plan.messages.size(); ++k) {
        const SyncMessage& message = plan.messages[k];
        REQUIRE(message.from != message.to);
        for (std::uint32_t a = 0; a < message.after_count; ++a) {
            const std::uint32_t before = plan.after[message.after_first + a];
            REQUIRE(before < k);
            CHECK(plan.messages[before].to == message.from);
        }
    }
}

/// The most that a peer sends is what the mode's costs say.
void check_bytes(const ModeSettings& settings, Range bucket) {
    const std::size_t peers = settings.peer_count();
    CAPTURE(peers);
    const SyncPlan plan = sync_plan(settings, bucket);
    check_order(plan);
    const std::vector<double> bytes = sent(plan, peers);
    double said = 0;
    for (const SentBytes& one : mode_costs(settings, bucket.count).sent)
        said = std::max(said, one.bytes);
    CHECK(*std::max_element(bytes.begin(), bytes.end()) == doctest::Approx(said).epsilon(0.01));
}

}  // namespace

TEST_CASE("a plan has the bytes that the mode says") {
    const Range large{0, 96'000}, small{0, 2'400};
    for (const std::size_t peers : {2, 3, 4, 6, 8}) {
        ModeSettings ring = settings_of(Mode::ring, peers);
        check_bytes(ring, large);
        check_bytes(ring, small);  // straight
        ring.exchange.all_reduce = AllReduce::butterfly;
        check_bytes(ring, large);
        check_bytes(settings_of(Mode::sma, peers), large);
        ModeSettings server = settings_of(Mode::parameter_server, peers);
        for (const unsigned servers : {1U, static_cast<unsigned>(peers)}) {
            server.exchange.server.count = servers;
            check_bytes(server, large);
        }
        server.roles.back() = Role::server;
        server.exchange.server = {.count = 1, .placement = Placement::dedicated};
        check_bytes(server, large);
    }
}

TEST_CASE("in a ring every peer comes to hold the sum of all") {
    for (const std::size_t peers : {2, 3, 5}) {
        for (const std::size_t elements : {50'000UL, 500UL}) {
            const SyncPlan plan = sync_plan(settings_of(Mode::ring, peers), {0, elements});
            std::vector<double> come(peers);
            for (const SyncMessage& message : plan.messages)
                come[message.to] += static_cast<double>(message.bytes);
            const double all = 2.0 * static_cast<double>(peers - 1) / static_cast<double>(peers) *
                               static_cast<double>(payload_bytes_of(elements));
            for (const double bytes : come) CHECK(bytes == doctest::Approx(all).epsilon(0.01));
        }
    }
}

TEST_CASE("a server answers once everybody has pushed") {
    const SyncPlan plan = sync_plan(settings_of(Mode::parameter_server, 3), {0, 1'000});
    std::size_t answers = 0;
    for (const SyncMessage& message : plan.messages) {
        if (message.from != 0) continue;
        ++answers;
        CHECK(message.after_count == 2);
        CHECK(message.of_own);
    }
    CHECK(answers == 2);
}

TEST_CASE("peers that nobody waits for have no plan") {
    ExchangeSettings exchange;
    CHECK_FALSE(has_sync_plan(exchange));
    exchange.mode = Mode::parameter_server;
    CHECK(has_sync_plan(exchange));
    exchange.server.clock_gap_max = std::nullopt;
    CHECK_FALSE(has_sync_plan(exchange));
    CHECK(sync_plan(settings_of(Mode::ring, 1), {0, 100}).messages.empty());
}

}  // namespace ako::sync_plan_test
