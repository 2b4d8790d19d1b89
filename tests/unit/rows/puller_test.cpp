// Which peer is asked for what, when another is asked, and what comes twice. The holders here
// answer in the order of the questions, each at its own rate, as relays over one link do.
#include "src/rows/puller.h"

#include <doctest/doctest.h>

#include <deque>
#include <set>

namespace ako::puller_test {

namespace {

constexpr Time patience = std::chrono::milliseconds(500);
constexpr Time ms = std::chrono::milliseconds(1);
constexpr Version wanted{1, 9};

/// One row, 0, of which all blocks lack at first, and peers that hold it.
struct Bench {
    explicit Bench(BlockIndex block_count, PeerSet peers = 0)
        : holders(peers), roster(7, 8, patience), puller(roster, block_count, true) {
        for (BlockIndex block = 0; block < block_count; ++block) lacking.insert(block);
        need.lacking = [this](RowIndex row, BlockIndex block) -> std::optional<Version> {
            if (row != 0 || !lacking.contains(block)) return std::nullopt;
            return wanted;
        };
        need.holders = [this](RowIndex row) { return row == 0 ? holders : PeerSet{0}; };
    }

    std::vector<Puller::Ask> step() {
        std::vector<Puller::Ask> asks = puller.step(now, need);
        for (const Puller::Ask& ask : asks) {
            CHECK(ask.want.exact);
            CHECK(ask.want.row == RowIndex(0));
            for (const Want::Run& run : ask.want.runs) {
                CHECK(run.version == wanted);
                for (BlockIndex k = 0; k < run.blocks.count; ++k) {
                    queues[ask.holder].push_back(run.blocks.first + k);
                }
            }
        }
        return asks;
    }
    /// A Partial with one block comes.
    void come(PeerIndex from, BlockIndex block, bool relayed = true) {
        ++sent[from];
        lacking.erase(block);
        puller.arrived(from, {0, wanted, {block, 1}, Time{0}, relayed, {0}}, now);
    }
    /// Runs until nothing is lacking or `until`. `each`: what a block takes on the links.
    void run(const std::map<PeerIndex, Time>& each, Time until) {
        std::map<PeerIndex, Time> busy_since;
        for (; !lacking.empty() && now < until; now += ms) {
            for (const auto& [from, takes] : each) {
                if (queues[from].empty()) {
                    busy_since[from] = now;
                } else if (now - busy_since[from] >= takes) {
                    come(from, queues[from].front());
                    queues[from].pop_front();
                    busy_since[from] = now;
                }
            }
            step();
        }
    }

    PeerSet holders;
    std::set<BlockIndex> lacking;
    Puller::Need need;
    Roster roster;
    Puller puller;
    Time now = std::chrono::seconds(5);
    std::map<PeerIndex, std::deque<BlockIndex>> queues;  ///< asked and not yet sent
    std::map<PeerIndex, BlockIndex> sent;
};

}  // namespace

TEST_CASE("asks nothing where nothing is lacking or nobody holds it") {
    Bench bench(8);
    CHECK(bench.step().empty());
    bench.holders = peer_bit(1);
    bench.lacking.clear();
    CHECK(bench.step().empty());
    bench.lacking = {4};
    CHECK(bench.step().size() == 1);
}

TEST_CASE("what is lacking is asked in runs of one version, a window of it") {
    Bench bench(20, peer_bit(2));
    bench.lacking = {2, 3, 4, 10, 11, 19};
    const auto asks = bench.step();
    REQUIRE(asks.size() == 1);
    CHECK(asks[0].holder == 2);
    CHECK(asks[0].want.runs == std::vector<Want::Run>{{{2, 3}, wanted}, {{10, 1}, wanted}});
    CHECK(bench.step().empty());  // no more before something comes
}

TEST_CASE("a window doubles as it comes, up to what the link brings within the patience") {
    Bench bench(2000, peer_bit(1));
    bench.run({{1, 10 * ms}}, bench.now + std::chrono::seconds(3));
    CHECK(bench.puller.rate(1) == doctest::Approx(100).epsilon(0.05));
    CHECK(bench.puller.asked(1) <= 50);
    CHECK(bench.puller.asked(1) >= 25);
    CHECK(bench.sent[1] > 280);  // the link was not idle for long
    bench.run({{1, ms}}, bench.now + std::chrono::seconds(2));
    CHECK(bench.lacking.empty());
    CHECK(bench.queues[1].size() <= 256);
}

TEST_CASE("several holders share the work by their rates, and little comes twice") {
    Bench bench(600, peer_bit(1) | peer_bit(2) | peer_bit(3));
    const Time began = bench.now;
    bench.run({{1, 10 * ms}, {2, 20 * ms}, {3, 400 * ms}}, began + std::chrono::seconds(60));
    CHECK(bench.lacking.empty());
    CHECK(bench.now - began < std::chrono::milliseconds(4700));  // 600 blocks at 152.5 a second
    CHECK(bench.sent[1] + bench.sent[2] + bench.sent[3] < 600 + 60);
    CHECK(bench.sent[3] > 5);
    CHECK(bench.queues[3].size() <= 2);  // what a slow link carries for nothing
}

TEST_CASE("as long as a slow holder trickles, the others are asked all the same") {
    Bench bench(4, peer_bit(1) | peer_bit(2));
    const Time began = bench.now;
    bench.run({{1, 440 * ms}, {2, 5 * ms}}, began + std::chrono::seconds(10));
    CHECK(bench.lacking.empty());
    CHECK(bench.now - began < 440 * ms);
}

TEST_CASE("what does not come from a silent holder comes from another, and it is asked again") {
    Bench bench(6, peer_bit(1) | peer_bit(4));
    const Time began = bench.now;
    bench.run({{4, 10 * ms}}, began + std::chrono::seconds(10));
    CHECK(bench.lacking.empty());
    CHECK(bench.now - began < patience);
    CHECK(!bench.queues[1].empty());
    // Alone, it is asked again, each time after a longer rest.
    bench.lacking = {0};
    bench.holders = peer_bit(1);
    bench.queues.clear();
    for (const Time end = bench.now + std::chrono::seconds(30); bench.now < end;
         bench.now += 10 * ms) {
        bench.step();
    }
    CHECK(bench.queues[1].size() >= 3);
    CHECK(bench.queues[1].size() <= 12);
}

TEST_CASE("an answer that nothing comes widens the window too") {
    Bench bench(64, peer_bit(1));
    bench.step();
    REQUIRE(bench.puller.asked(1) == 4);
    bench.puller.lacks(1, {0, {{0, 4}}}, bench.now);
    bench.now += ms;
    bench.step();
    CHECK(bench.puller.asked(1) == 8);
}

TEST_CASE("what a session swallowed is asked again in the next, though its holder streams") {
    Bench bench(8, peer_bit(1));
    REQUIRE(bench.step().size() == 1);
    for (const Time end = bench.now + 20 * patience; bench.now < end; bench.now += 100 * ms) {
        bench.puller.arrived(1, {1, wanted, {0, 1}, Time{0}, false, {0}}, bench.now);
        CHECK(bench.step().empty());
    }
    bench.puller.forget_asked(1);
    CHECK(bench.puller.asked(1) == 0);
    CHECK(bench.step().size() == 1);
    CHECK(bench.puller.asked(1) == Puller::window_first);
}

TEST_CASE("a holder that says that it does not have a block is passed over at once") {
    Bench bench(2, peer_bit(1) | peer_bit(3));
    bench.lacking = {1};
    const auto first = bench.step();
    REQUIRE(first.size() == 1);
    const PeerIndex other = first[0].holder == 1 ? 3 : 1;
    bench.puller.lacks(first[0].holder, {0, {{1, 1}}}, bench.now);
    const auto second = bench.step();
    REQUIRE(second.size() == 1);
    CHECK(second[0].holder == other);
    // Nobody has it: both are asked again, but not before the patience is over.
    bench.puller.lacks(other, {0, {{0, 2}}}, bench.now);
    bench.now += patience - ms;
    CHECK(bench.step().empty());
    bench.now += ms;
    CHECK(bench.step().size() == 1);
}

TEST_CASE("what the owner streams is asked of others from its end, where they are faster") {
    Bench bench(100, peer_bit(3));
    bench.need.streams = [](RowIndex row, Version version) {
        return row == 0 && version == wanted;
    };
    // The owner, peer 0, streams a block every 100 ms: ten seconds for all.
    Time streamed_at = bench.now;
    BlockIndex next = 0;
    const Time began = bench.now;
    Time sent_at = bench.now;
    while (!bench.lacking.empty() && bench.now < began + std::chrono::seconds(20)) {
        if (bench.now - streamed_at >= 100 * ms) {
            bench.come(0, next++, false);
            streamed_at = bench.now;
        }
        if (!bench.queues[3].empty() && bench.now - sent_at >= 10 * ms) {
            const BlockIndex block = bench.queues[3].front();
            CHECK(block >= next);  // never what the stream brings next
            bench.come(3, block);
            bench.queues[3].pop_front();
            sent_at = bench.now;
        }
        bench.step();
        bench.now += ms;
    }
    CHECK(bench.now - began < 2000 * ms);
    CHECK(bench.sent[0] + bench.sent[3] <= 102);
}

TEST_CASE("what was asked in a session that is over does not count in the next one") {
    Bench bench(40, peer_bit(3));
    bench.run({{3, 10 * ms}}, bench.now + 150 * ms);  // its window has grown
    REQUIRE(bench.puller.asked(3) > 2 * Puller::window_first);
    bench.puller.forget_asked(3);
    bench.queues[3].clear();
    CHECK(bench.puller.asked(3) == 0);
    bench.step();
    CHECK(bench.queues[3].size() == Puller::window_first);  // little: the link may be another one
    const Time again = bench.now;
    bench.run({{3, 10 * ms}}, again + 2000 * ms);
    CHECK(bench.lacking.empty());  // all of it, without waiting for anything
    CHECK(bench.now - again < 450 * ms);
}

TEST_CASE("a holder of which nothing came is silent after half a second, however fast it answers") {
    // Answers without blocks are fast; what blocks take is not known from them.
    constexpr PeerIndex holder = 3;
    Roster roster(7, 8);
    Puller puller(roster, 40, true);
    Status status;
    status.standing.progress.resize(8);
    status.rows.resize(8);
    status.heartbeat.echo_sent_at = Time{1};
    Time now = std::chrono::seconds(5);
    for (unsigned k = 0; k < 20; ++k) {
        status.heartbeat.echo_held = now - 2 * ms;  // a round trip of 2 ms
        roster.heard_status(holder, status, now, 0);
        now += 10 * ms;
    }
    REQUIRE(4 * roster.answer_time(holder) < AnswerTime::first);
    Puller::Need need;
    need.lacking = [](RowIndex row, BlockIndex) {
        return row == 0 ? std::optional(wanted) : std::nullopt;
    };
    need.holders = [](RowIndex row) { return row == 0 ? peer_bit(holder) : PeerSet{0}; };
    puller.step(now, need);
    REQUIRE(puller.asked(holder) > 0);
    puller.step(now + AnswerTime::first, need);
    CHECK(puller.asked(holder) > 0);
    puller.step(now + AnswerTime::first + ms, need);
    CHECK(puller.asked(holder) == 0);
}

TEST_CASE("nothing is asked of a link whose stream would suffer by it") {
    // Two owners stream their rows at the same rate; each could also send the other's row.
    const Roster roster(2, 3, patience);
    Puller puller(roster, 50, true);
    std::set<std::pair<RowIndex, BlockIndex>> lacking;
    for (const RowIndex row : AllRows(2)) {
        for (BlockIndex block = 0; block < 50; ++block) lacking.insert({row, block});
    }
    Puller::Need need;
    need.lacking = [&](RowIndex row, BlockIndex block) -> std::optional<Version> {
        if (!lacking.contains({row, block})) return std::nullopt;
        return wanted;
    };
    need.holders = [](RowIndex) { return peer_bit(0) | peer_bit(1); };
    need.streams = [](RowIndex, Version) { return true; };
    Time now = std::chrono::seconds(1);
    std::size_t asked = 0;
    for (BlockIndex block = 0; block < 50; ++block) {
        for (const auto& ask : puller.step(now, need)) asked += ask.want.runs.size();
        now += 100 * ms;
        for (const RowIndex row : AllRows(2)) {
            puller.arrived(owner_of(row), {row, wanted, {block, 1}, Time{0}, false, {0}}, now);
            lacking.erase({row, block});
        }
    }
    CHECK(lacking.empty());
    CHECK(asked <= 1);
}

TEST_CASE(
    "what only the slowest holder has is asked of it, though the others take long to say no") {
    const Time to_deny = 300 * ms, to_bring = 1000 * ms;
    const PeerIndex slow = 6;
    std::map<PeerIndex, Time> each{{slow, to_bring}};
    for (PeerIndex fast = 1; fast < slow; ++fast) each[fast] = 2 * ms;
    Bench bench(400, 0);
    for (const auto& [peer, takes] : each) bench.holders |= peer_bit(peer);
    bench.run(each, bench.now + std::chrono::seconds(10));
    REQUIRE(bench.lacking.empty());
    REQUIRE(bench.puller.rate(slow) < bench.puller.rate(1));

    bench.now += 20 * to_bring;  // what was under way twice has come, or is given up
    bench.step();
    bench.queues.clear();
    bench.lacking = {7};
    std::map<PeerIndex, Time> asked_at;
    for (const Time end = bench.now + std::chrono::seconds(20);
         bench.now < end && !bench.lacking.empty(); bench.now += 10 * ms) {
        bench.step();
        for (auto& [peer, queue] : bench.queues) {
            if (queue.empty()) continue;
            const Time asked = asked_at.try_emplace(peer, bench.now).first->second;
            if (bench.now - asked < (peer == slow ? to_bring : to_deny)) continue;
            if (peer == slow)
                bench.come(slow, 7);
            else
                bench.puller.lacks(peer, {0, {{7, 1}}}, bench.now);
            queue.pop_front();
            asked_at.erase(peer);
        }
    }
    CHECK(bench.lacking.empty());
}

}  // namespace ako::puller_test
