// The traffic half of the mode `ako`: who comes first, and what the compute half is told.
#include "src/modes/ako_traffic.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "src/exchange/incarnation.h"
#include "src/exchange/links.h"
#include "src/rows/coded_blocks.h"
#include "tests/fakes/no_transport.h"

namespace ako::ako_traffic_test {

namespace {

constexpr PeerIndex a = 0, b = 1, c = 2;
const Incarnation own = first_incarnation(0xc);

/// The network side of c of three, with rows of eight blocks and a fixed P of 8.
struct Bench {
    Bench() {
        mailbox.post(status(), false);
        links.poll(Time{0});
    }
    static ModeSettings make_settings() {
        ModeSettings settings;
        settings.self = c;
        settings.process_id = 0xc;
        settings.peer_names = {"a", "b", "c"};
        settings.exchange.partitions = 8;
        settings.training.batch.local = 1;
        settings.sample_budget = 100;
        settings.block_elements = 4;
        settings.log = [](const std::string&) {};
        return settings;
    }
    static Status status(Version row_of_c = {}, bool joining = false) {
        Status status;
        status.standing.progress.resize(3);
        status.rows = PerRow<RowHeld>(3);
        status.rows[row_of(c)].highest = row_of_c;
        status.start.joining = joining;
        return status;
    }
    void up(PeerIndex peer) { links.session_up(peer, Hello{}); }
    void hear(PeerIndex peer, const Header& header) {
        const auto destination = links.reserve(peer, header, 0);
        REQUIRE(destination);
        links.arrived(peer, header, *destination, Time{0});
        if (std::holds_alternative<Status>(header)) outbox.answer(peer_bit(peer));
    }
    /// This peer makes a round.
    void publish(Version version) {
        const SnapshotIndex index = outbox.spare();
        snapshots[index].version = version;
        outbox.post(index);
        links.poll(now += std::chrono::seconds(1));
    }
    /// It takes all that there is, and this peer makes its first round.
    void up_with_all(PeerIndex peer) {
        up(peer);
        hear(peer, status());
        outbox.lift_grants(true);
        publish({own, 1});
    }
    /// It has made the blocks from `first` on of the round after that.
    SnapshotIndex begin_next(Version version, BlockIndex first) {
        const SnapshotIndex index = outbox.spare();
        outbox.post_part({index, first, version, now});
        return index;
    }
    /// All Partials that go out to it now.
    std::vector<Partial> partials(PeerIndex peer) {
        links.poll(now += std::chrono::milliseconds(1));
        std::vector<Partial> found;
        while (auto frame = links.next(peer, 4 * sizeof(float))) {
            if (const auto* partial = std::get_if<Partial>(&frame->header))
                found.push_back(*partial);
        }
        return found;
    }

    const ModeSettings settings = make_settings();
    const Blocks blocks{32, 4};
    SteadyClock clock;
    test::NoTransport transport;
    Mailbox mailbox{3, 1 << 16};
    Outbox outbox{3};
    Snapshots snapshots{blocks};
    AkoTraffic traffic{settings, blocks, mailbox, outbox, snapshots, transport, clock};
    Links links{settings, mailbox, traffic, transport, clock};
    Time now{0};
};

}  // namespace

TEST_CASE("grants are lifted towards a peer that joins, and towards nobody else") {
    Bench bench;
    for (const PeerIndex peer : {a, b}) {
        bench.up(peer);
        bench.hear(peer, Bench::status({}, peer == b));
    }
    bench.publish({own, 1});
    CHECK(bench.partials(a).size() < 8);
    CHECK(bench.partials(b).size() == 8);
    bench.publish({own, 2});
    CHECK(bench.partials(a).size() == 1);  // an eighth of the row
    CHECK(bench.partials(b).size() == 8);
    bench.hear(b, Bench::status({own, 1}));  // it has joined
    bench.publish({own, 3});
    CHECK(bench.partials(a).size() == 1);
    CHECK(bench.partials(b).size() < 8);
}

TEST_CASE("a peer that joins gets what it asked for before what is streamed") {
    Bench bench;
    bench.up(b);
    bench.hear(b, Bench::status({}, true));
    bench.publish({own, 1});
    for (int k = 0; k < 3; ++k) {
        Partial relayed{row_of(a), {5, 1}, {0, 1}, Time{0}, true, {0}};
        bench.outbox.relay(b, {relayed, std::move(*bench.outbox.relay_buffer(16))});
    }
    const std::vector<Partial> partials = bench.partials(b);
    REQUIRE(partials.size() == 11);
    for (int k = 0; k < 3; ++k) CHECK(partials[k].relayed);
}

TEST_CASE("nothing of the own row goes to a peer before its first word in the session was heard") {
    Bench bench;
    bench.up(b);
    bench.publish({own, 1});
    CHECK(bench.partials(b).empty());
    bench.outbox.answer(peer_bit(b));
    CHECK(!bench.partials(b).empty());
    bench.links.session_down(b, "cut", Time{0});
    bench.up(b);
    bench.publish({own, 2});
    CHECK(bench.partials(b).empty());
    SUBCASE("and not with a snapshot from before that was heard") {
        bench.outbox.answer(peer_bit(b));
        bench.publish({own, 3});
        const std::vector<Partial> partials = bench.partials(b);
        REQUIRE(!partials.empty());
        CHECK(partials[0].version.round == 3);
    }
}

TEST_CASE("an own partial is coded where that is shorter, and decodes to what the snapshot holds") {
    Bench bench;
    bench.up(b);
    bench.outbox.answer(peer_bit(b));
    std::set<bool> coded;
    for (Round round = 1; round <= 8; ++round) {  // an eighth of the row in each
        const SnapshotIndex index = bench.outbox.spare();
        Snapshot& snapshot = bench.snapshots[index];
        snapshot.version = {own, round};
        for (std::size_t k = 0; k < 32; ++k)  // what lies behind is on no grid
            snapshot.values[k] =
                k < 16 ? static_cast<float>(k) / 4 : 1 / (3 + static_cast<float>(k));
        bench.outbox.post(index);
        bench.links.poll(bench.now += std::chrono::seconds(1));
        while (const auto frame = bench.links.next(b, 16)) {
            const auto* partial = std::get_if<Partial>(&frame->header);
            if (partial == nullptr) continue;
            const Range range = bench.blocks.range(partial->run);
            CHECK(partial->coded == (range.first < 16));
            coded.insert(partial->coded);
            if (!partial->coded) {
                CHECK(frame->payload.size() == 4 * range.count);
                continue;
            }
            std::span<const std::byte> payload = frame->payload;
            CHECK(payload.size() < 4 * range.count);
            std::vector<float> values(range.count);
            for (std::size_t k = 0; k < range.count; k += 4)
                REQUIRE(decode_block(payload, std::span(values).subspan(k, 4)));
            CHECK(at_end_of_blocks(payload));
            const auto* sent = snapshot.values.data() + range.first;
            CHECK(std::equal(values.begin(), values.end(), sent));
        }
    }
    CHECK(coded.size() == 2);
}

TEST_CASE("of whom no dial has ended the compute half is told, and of who is there it is not") {
    Bench bench;
    CHECK(bench.mailbox.unanswered() != 0);
    bench.up(b);
    bench.links.poll(std::chrono::seconds(1));
    CHECK((bench.mailbox.unanswered() & peer_bit(a)) != 0);
    CHECK((bench.mailbox.unanswered() & peer_bit(b)) == 0);
    CHECK((bench.mailbox.unanswered() & peer_bit(c)) == 0);  // nobody dials itself
}

TEST_CASE("the first frame of another process is told from that of another session") {
    Bench bench;
    const auto come = [&](std::uint64_t process) {
        Hello hello;
        hello.process_id = process;
        bench.links.session_up(b, hello);
        bench.hear(b, Bench::status());
        bench.hear(b, Bench::status());
        const auto arrivals = bench.mailbox.take();
        REQUIRE(arrivals.size() == 2);
        CHECK(arrivals[0].opens_session);
        CHECK(!arrivals[1].opens_session);
        CHECK(!arrivals[1].new_process);
        return arrivals[0].new_process;
    };
    CHECK(!come(1));  // the first of all
    CHECK(!come(1));
    CHECK(come(2));
    Hello unheard;
    unheard.process_id = 3;
    bench.links.session_up(b, unheard);  // gone before it said anything
    CHECK(come(3));
}

TEST_CASE("what is there of a round goes out behind all of the one before, with its version") {
    Bench bench;
    bench.up_with_all(a);
    const SnapshotIndex next = bench.begin_next({own, 2}, 6);
    std::vector<Partial> found = bench.partials(a);
    REQUIRE(found.size() == 10);
    for (std::size_t k = 0; k < 8; ++k) CHECK(found[k].version == Version{own, 1});
    for (std::size_t k = 8; k < 10; ++k) {
        CHECK(found[k].version == Version{own, 2});
        CHECK(found[k].run.first == 15 - k);
    }
    CHECK(bench.partials(a).empty());
    bench.outbox.post_part({next, 5, {own, 2}, bench.now});
    found = bench.partials(a);
    REQUIRE(found.size() == 1);
    CHECK(found[0].run.first == 5);
    bench.snapshots[next].version = {own, 2};
    bench.outbox.post(next);
    found = bench.partials(a);
    REQUIRE(found.size() == 5);
    for (BlockIndex block = 0; block < 5; ++block) CHECK(found[block].run.first == block);
    // Nothing is held but the newest.
    for (std::size_t k = 1; k < snapshot_count; ++k) bench.outbox.spare();
}

TEST_CASE("what is there of a round that was refused is not sent any more") {
    Bench bench;
    bench.up_with_all(a);
    CHECK(bench.partials(a).size() == 8);
    const SnapshotIndex next = bench.begin_next({own, 2}, 6);
    SUBCASE("taken") { CHECK(bench.partials(a).size() == 2); }
    SUBCASE("not yet") {}
    bench.outbox.post_part({next, 4, {own, 2}, bench.now});
    bench.outbox.drop_part();
    CHECK(bench.partials(a).empty());
    // It is still being written, and nobody else holds it.
    bench.outbox.give_back(next);
    for (std::size_t k = 1; k < snapshot_count; ++k) bench.outbox.spare();
}

}  // namespace ako::ako_traffic_test
