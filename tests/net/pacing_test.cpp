// Limits of the rate: the token bucket in virtual time, and what leaves a real socket.
#include "net/pacing.h"

#include <doctest/doctest.h>

#include <deque>
#include <random>
#include <thread>

#include "ako/blocks.h"
#include "tests/net/fake_peer.h"

namespace ako::pacing_test {

namespace {

using namespace std::chrono_literals;

struct Measured {
    double lowest = 1e9;
    double highest = 0;
};

/// Writes without end for 10 s of virtual time, every timer up to `late` late, and
/// judges every window of 1 s that ends with a write, as shares of the limit.
Measured measure(TokenBucket bucket, double mbit, Time late, unsigned seed) {
    std::mt19937 random(seed);
    std::deque<std::pair<Time, std::size_t>> window;
    std::size_t bytes = 0;
    Measured measured;
    Time now{};
    while (now < 10s) {
        const Time ready_at = bucket.ready_at(now);
        if (ready_at > now)
            now = ready_at +
                  Time(static_cast<Time::rep>(random() % static_cast<unsigned>(late.count() + 1)));
        bucket.spend(bucket.slice(), now);
        window.emplace_back(now, bucket.slice());
        bytes += bucket.slice();
        while (window.front().first <= now - 1s) {
            bytes -= window.front().second;
            window.pop_front();
        }
        const double share = static_cast<double>(bytes) * 8 / (mbit * 1e6);
        measured.highest = std::max(measured.highest, share);
        if (now > 1s) measured.lowest = std::min(measured.lowest, share);
    }
    return measured;
}

TEST_CASE("a limit is kept in every window of 1 s, and used") {
    for (const double mbit : {1.0, 5.0, 20.0, 200.0, 10'000.0})
        for (const Time late : {Time{0}, Time{2ms}, Time{10ms}}) {
            // One segment of such a slow link takes longer than the timer may be late.
            if (mbit < 5 && late > Time{2ms}) continue;
            CAPTURE(mbit);
            CAPTURE(late.count());
            const Measured measured = measure(TokenBucket(mbit), mbit, late, 1);
            CHECK(measured.highest <= 1.02);
            CHECK(measured.lowest >= 0.93);
        }
}

TEST_CASE("what was not used does not pile up") {
    TokenBucket bucket(20);
    Time now = 1h;
    std::size_t at_once = 0;
    while (bucket.ready_at(now) <= now) {
        bucket.spend(bucket.slice(), now);
        at_once += bucket.slice();
    }
    CHECK(at_once <= 20e6 / 8 * 0.015 + 1);
    CHECK(at_once >= bucket.slice());
    CHECK(bucket.ready_at(now) <= now + 3ms);
}

TEST_CASE("no limit is no limit") {
    TokenBucket bucket(0);
    CHECK_FALSE(bucket.limited());
    bucket.spend(std::size_t{1} << 40, 1s);
    CHECK(bucket.ready_at(1s) == 1s);
}

TEST_CASE("messages are a few milliseconds of the link") {
    LinkRate rate;
    CHECK(rate.payload_bytes_max(0) == 64 * 1024);  // not measured yet
    CHECK(rate.payload_bytes_max(20) == 16 * 1024);
    CHECK(rate.payload_bytes_max(200) == 122 * 1024);
    CHECK(rate.payload_bytes_max(1e6) == payload_bytes_limit);
    Time now{};
    for (int i = 0; i < 200; ++i) rate.sent(100'000, now += 4ms);  // 25 MB/s
    CHECK(rate.mbit() == doctest::Approx(200).epsilon(0.01));
    CHECK(rate.payload_bytes_max(0) == 122 * 1024);
    CHECK(rate.payload_bytes_max(20) == 16 * 1024);
    CHECK(rate.payload_bytes_max(1e4) == 122 * 1024);
    // A pause is no slowness of the link.
    rate.idle();
    for (int i = 0; i < 20; ++i) rate.sent(100'000, now += (i == 0 ? 10s : 4ms));
    CHECK(rate.mbit() == doctest::Approx(200).epsilon(0.01));
}

/// Bytes that leave a pair's first peer in 1 s of endless news, as a share of `mbit`.
double sent_share(test::Pair& pair, double mbit, std::span<const std::byte> payload) {
    pair.b.keep_received = false;
    pair.a.tell([&] { pair.a.endless = payload; });
    pair.a.run([&] { pair.a.transport().wake(1); });
    const auto bytes = [&] { return pair.a.transport().counters()[1].egress_bytes; };
    const std::uint64_t before = bytes();
    REQUIRE(pair.b.wait([&] { return pair.b.received_count > 4; }));
    const std::uint64_t first = bytes();
    const Time began = pair.a.now();
    CHECK(before < first);
    // Nothing happens here that could be waited for: this second is what is measured.
    std::this_thread::sleep_for(1s);
    const std::uint64_t last = bytes();
    const double seconds = std::chrono::duration<double>(pair.a.now() - began).count();
    return static_cast<double>(last - first) * 8 / (seconds * mbit * 1e6);
}

TEST_CASE("a limited link sends no more than its limit, and goes on") {
    auto settings = test::make_settings(0);
    settings.peers[1].link_mbit = 20;
    const auto payload = test::pattern(payload_bytes_limit);
    test::Pair pair(settings);
    REQUIRE(pair.up());
    const double share = sent_share(pair, 20, payload);
    MESSAGE("sent " << 100 * share << " % of 20 Mbit/s");
    CHECK(share <= 1.02);
    CHECK(share > 0.05);  // how much less, a busy machine decides; the bucket's own test is exact
}

TEST_CASE("the limit of all that is sent holds over all links, which share it evenly") {
    auto settings = test::make_settings(0, 3);
    settings.egress_mbit_max = 20;
    const auto payload = test::pattern(payload_bytes_limit);
    test::FakePeer a(settings);
    test::FakePeer b(test::make_settings(1, 3));
    test::FakePeer c(test::make_settings(2, 3));
    b.keep_received = c.keep_received = false;
    a.endless = payload;
    a.transport().set_peer_address(1, b.address());
    a.transport().set_peer_address(2, c.address());
    for (auto* peer : {&a, &b, &c}) peer->start();
    REQUIRE(b.wait([&] { return b.received_count > 4; }));
    REQUIRE(c.wait([&] { return c.received_count > 4; }));
    const auto first = a.transport().counters();
    const Time began = a.now();
    std::this_thread::sleep_for(1s);
    const auto last = a.transport().counters();
    const double seconds = std::chrono::duration<double>(a.now() - began).count();
    const auto to_b = static_cast<double>(last[1].egress_bytes - first[1].egress_bytes);
    const auto to_c = static_cast<double>(last[2].egress_bytes - first[2].egress_bytes);
    const double share = (to_b + to_c) * 8 / (seconds * 20e6);
    MESSAGE("sent " << 100 * share << " % of 20 Mbit/s, " << to_b << " and " << to_c);
    CHECK(share <= 1.02);
    CHECK(share > 0.05);
    CHECK(to_b == doctest::Approx(to_c).epsilon(0.2));
}

}  // namespace
}  // namespace ako::pacing_test
