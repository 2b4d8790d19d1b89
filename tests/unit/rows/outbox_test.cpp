// Snapshots that never run out, and the limits of what waits.
#include "src/rows/outbox.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "src/rows/own_past.h"

namespace ako::outbox_test {

TEST_CASE("a spare snapshot never runs out, wherever rounds fall into what the traffic half does") {
    const Snapshots snapshots{Blocks{4, 4}};
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::mt19937_64 random(seed);
        Outbox outbox(2);
        OwnPast past(snapshots, outbox);
        SnapshotIndex current = outbox.spare();
        past.add(current);
        bool current_posted = false;
        std::deque<SnapshotIndex> held;        // by the traffic half
        std::optional<SnapshotIndex> growing;  // held as well
        std::optional<SnapshotIndex> next;     // is being written
        const auto rounds = [&] {              // as Rows::add has them; `spare` aborts without one
            while (random() % 3 == 0) {
                if (!next) {
                    next = outbox.spare();
                    REQUIRE(next != current);
                    REQUIRE(next != growing);
                    REQUIRE(std::find(held.begin(), held.end(), *next) == held.end());
                }
                if (random() % 2 == 0) {
                    outbox.post_part({*next, 0, {}, {}});
                    continue;
                }
                past.add(*next);
                outbox.post(*next);
                if (!current_posted) outbox.give_back(current);
                current = *std::exchange(next, std::nullopt);
                current_posted = true;
            }
        };
        const auto keep_newest = [&](std::size_t count) {
            while (held.size() > count) {
                outbox.give_back(held.front());
                held.pop_front();
                rounds();
            }
        };
        for (int step = 0; step < 300; ++step) {  // as AkoTraffic::take_mail has it
            const Outbox::Waiting waits = outbox.waiting();
            rounds();
            if (waits.snapshot || waits.growing) {
                const bool stays = growing && growing == waits.snapshot && !waits.growing;
                if (waits.snapshot && growing && !stays)
                    outbox.give_back(*std::exchange(growing, std::nullopt));
                keep_newest((waits.snapshot && waits.growing) || stays ? 0 : 1);
            }
            rounds();
            const Outbox::Unseen unseen = outbox.take(waits.snapshot.has_value(), waits.growing);
            REQUIRE(unseen.snapshot.has_value() == waits.snapshot.has_value());
            rounds();
            if (unseen.snapshot) {
                held.push_back(*unseen.snapshot);
                rounds();
                if (growing) outbox.give_back(*std::exchange(growing, std::nullopt));
            }
            rounds();
            if (unseen.growing) {
                if (growing) {
                    REQUIRE(growing == unseen.growing->snapshot);
                    outbox.give_back(*growing);
                }
                growing = unseen.growing->snapshot;
            }
            rounds();
            if (random() % 2) keep_newest(1);  // nothing was sent from the older one
        }
    }
}

TEST_CASE("a snapshot that is not asked for waits on") {
    Outbox outbox(2);
    CHECK(!outbox.waiting().snapshot);
    const SnapshotIndex snapshot = outbox.spare();
    outbox.post(snapshot);
    CHECK(outbox.waiting().snapshot);
    CHECK(!outbox.take(false).snapshot);
    CHECK(outbox.waiting().snapshot);
    CHECK(outbox.take(true).snapshot == snapshot);
    CHECK(!outbox.waiting().snapshot);
}

TEST_CASE("a snapshot that nobody took is replaced by the next and is spare again") {
    Outbox outbox(2);
    const SnapshotIndex first = outbox.spare();
    outbox.post(first);
    const SnapshotIndex second = outbox.spare();
    CHECK(second != first);
    outbox.post(second);
    CHECK(outbox.take().snapshot == second);
    CHECK(!outbox.take().snapshot);
    std::set<SnapshotIndex> rest;
    for (std::size_t k = 1; k < snapshot_count; ++k) rest.insert(outbox.spare());
    CHECK(rest.size() == snapshot_count - 1);
    CHECK(rest.contains(first));
    CHECK(!rest.contains(second));
}

TEST_CASE("that grants are lifted is a state: it stays until it changes") {
    Outbox outbox(2);
    CHECK(!outbox.take().grants_lifted);
    outbox.lift_grants(true);
    CHECK(outbox.take().grants_lifted);
    CHECK(outbox.take().grants_lifted);
    outbox.lift_grants(false);
    CHECK(!outbox.take().grants_lifted);
}

TEST_CASE("control frames have a limit per peer, which counts what is not yet sent") {
    Outbox outbox(3);
    for (std::size_t k = 0; k < Outbox::control_max; ++k) REQUIRE(outbox.send(1, Bye{k}));
    CHECK(!outbox.send(1, Bye{}));
    CHECK(outbox.send(2, Bye{}));
    const Outbox::Unseen unseen = outbox.take();
    CHECK(unseen.control[1].size() == Outbox::control_max);
    CHECK(std::get<Bye>(unseen.control[1][3]).final_round == 3);
    CHECK(!outbox.send(1, Bye{}));  // taken is not sent
    outbox.control_sent(1, unseen.control[1][0]);
    outbox.control_sent(1, unseen.control[1][1]);
    CHECK(outbox.send(1, Bye{}));
    CHECK(outbox.send(1, Bye{}));
    CHECK(!outbox.send(1, Bye{}));
}

TEST_CASE("control frames have a limit in bytes") {
    Outbox outbox(2);
    CutRow row;
    row.runs.resize(1'000'000);
    const std::size_t bytes = row.runs.size() * sizeof row.runs[0];
    std::size_t taken = 0;
    while (outbox.send(1, row)) ++taken;
    CHECK(taken * bytes >= Outbox::control_bytes_max - bytes);
    CHECK(taken * bytes < Outbox::control_bytes_max + bytes);
    const Outbox::Unseen unseen = outbox.take();
    CHECK(!outbox.send(1, row));
    for (const Header& header : unseen.control[1]) outbox.control_sent(1, header);
    CHECK(outbox.send(1, row));
}

TEST_CASE("relays have a limit of bytes per peer") {
    Outbox outbox(2);
    CHECK(outbox.relay_room(1) == Outbox::relay_bytes_max);
    auto buffer = outbox.relay_buffer(1 << 20);
    REQUIRE(buffer);
    outbox.relay(1, {Partial{}, std::move(*buffer)});
    CHECK(outbox.relay_room(1) == Outbox::relay_bytes_max - (1 << 20));
    CHECK(outbox.relay_room(0) == Outbox::relay_bytes_max);
    {
        const Outbox::Unseen unseen = outbox.take();
        REQUIRE(unseen.relays[1].size() == 1);
        CHECK(outbox.relay_room(1) == Outbox::relay_bytes_max - (1 << 20));
    }
    outbox.relay_sent(1, 1 << 20);
    CHECK(outbox.relay_room(1) == Outbox::relay_bytes_max);
}

}  // namespace ako::outbox_test
