// Data shards that follow the live peers: whoever joins, leaves or is lost, every portion of a pass
// is trained on before the pass is over for anybody; and while nothing happens, nearly all of them
// once.
#include "src/exchange/coverage.h"

#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "ako/exchange.h"
#include "tests/sim/world.h"

namespace ako::coverage_test {

using sim::Random;

namespace {

constexpr std::size_t items = 1000;
constexpr std::size_t portions = 64;
constexpr std::size_t batch = 7;

std::size_t first_of(std::uint32_t place) { return items * place / portions; }

/// How often each item was trained on, by pass.
class Truth {
  public:
    void trained(std::uint32_t pass, std::size_t item) {
        if (times_.size() <= pass) times_.resize(pass + 1, std::vector<int>(items));
        ++times_[pass][item];
    }
    std::size_t never(std::uint32_t pass) const {
        if (times_.size() <= pass) return items;
        return static_cast<std::size_t>(std::count(times_[pass].begin(), times_[pass].end(), 0));
    }
    std::size_t once(std::uint32_t pass) const { return items - never(pass); }
    std::size_t total() const {
        std::size_t sum = 0;
        for (const auto& pass : times_) {
            for (const int times : pass) sum += static_cast<std::size_t>(times);
        }
        return sum;
    }

  private:
    std::vector<std::vector<int>> times_;
};

/// One peer: what it knows, and the batches that it draws as ElasticSource does.
struct TestPeer {
    TestPeer(PeerIndex index, std::size_t count)
        : self(index), roster(index, count), coverage(index, count, {items, portions, 1000}) {}

    void round(Truth& truth) {
        coverage.follow(roster, made);
        for (std::size_t k = 0; k < batch; ++k) {
            if (!taken) {
                const PortionSource::Taken next = coverage.take();
                taken = next.portion;
                place = first_of(taken->place) + next.first;
                if (place == first_of(taken->place + 1)) {
                    coverage.given(*taken, next.first, true);
                    taken.reset();
                    --k;
                    continue;
                }
            }
            drawn.emplace_back(taken->pass, place++);
            const bool all = place == first_of(taken->place + 1);
            coverage.given(*taken, place - first_of(taken->place), all);
            if (all) taken.reset();
        }
        for (const auto& [pass, item] : drawn) truth.trained(pass, item);
        drawn.clear();
        ++made;
        roster.set_own(made, made * batch);
        coverage.round_ended();
    }

    Status status() const {
        Status status;
        status.standing.progress = roster.progress();
        status.rows.resize(roster.peer_count());
        status.covered = coverage.said();
        status.standing.leaving = leaves;
        return status;
    }
    void hear(PeerIndex from, const Status& status) {
        roster.heard_status(from, status, Time{1}, made);
        coverage.hear(from, *status.covered);
    }

    const PeerIndex self;
    Roster roster;
    Coverage coverage;
    Round made = 0;
    std::optional<Portion> taken;
    std::size_t place = 0;  ///< the next item
    std::vector<std::pair<std::uint32_t, std::size_t>> drawn;
    bool leaves = false;
};

/// Peers that come and go, and what they say to each other, which takes its time.
class Group {
  public:
    Group(std::size_t count, std::uint64_t seed)
        : random(seed), peers_(count), mail_(count, std::vector<std::deque<Status>>(count)) {}

    void join(PeerIndex peer) {
        peers_[peer] = std::make_unique<TestPeer>(peer, peers_.size());
        for (PeerIndex other = 0; other < peers_.size(); ++other) {
            if (other == peer || !peers_[other]) continue;
            mail_[peer][other].clear();
            mail_[other][peer].clear();
            connect(peer, other);
        }
    }
    void lose(PeerIndex peer) {
        peers_[peer].reset();
        for (const auto& other : peers_) {
            if (other) other->roster.set_presence(peer, Presence::lost);
        }
    }
    /// It says so to all that it reaches, and goes on handing over.
    void begin_to_leave(PeerIndex peer) {
        peers_[peer]->leaves = true;
        say(peer);
        deliver_all();
    }
    /// What it has said comes first, then that it has gone.
    void leave(PeerIndex peer, bool row_is_whole = true) {
        TestPeer& gone = *peers_[peer];
        gone.leaves = true;
        for (const auto& other : peers_) {
            if (!other || other->self == peer || cut(peer, other->self)) continue;
            while (deliver(peer, other->self)) {
            }
            other->hear(peer, gone.status());
            other->roster.heard_bye(peer, Bye{gone.made, {}, true});
            other->coverage.left(peer, row_is_whole);
        }
        peers_[peer].reset();
    }
    /// Between these and the others, until it is healed with 0.
    void cut_off(PeerSet side) {
        side_ = side;
        for (const auto& one : peers_) {
            for (const auto& other : peers_) {
                if (!one || !other || one == other) continue;
                const bool now = cut(one->self, other->self);
                if (now) one->roster.set_presence(other->self, Presence::lost);
                if (!now && !one->roster.reachable(other->self)) connect(one->self, other->self);
            }
        }
    }
    /// A round of `peer`, which says so to all.
    void round(PeerIndex peer) {
        peers_[peer]->round(truth);
        say(peer);
    }
    bool deliver(PeerIndex from, PeerIndex to) {
        std::deque<Status>& way = mail_[from][to];
        if (way.empty() || !peers_[to]) return false;
        if (!cut(from, to)) peers_[to]->hear(from, way.front());
        way.pop_front();
        return true;
    }
    void deliver_all() {
        for (PeerIndex from = 0; from < peers_.size(); ++from) {
            for (PeerIndex to = 0; to < peers_.size(); ++to) {
                while (deliver(from, to)) {
                }
            }
        }
    }
    bool there(PeerIndex peer) const { return peers_[peer] != nullptr; }
    std::size_t there_count() const {
        return static_cast<std::size_t>(std::count_if(
            peers_.begin(), peers_.end(), [](const auto& peer) { return peer != nullptr; }));
    }
    std::size_t size() const { return peers_.size(); }
    TestPeer& operator[](PeerIndex peer) { return *peers_[peer]; }
    /// What is over for anybody, was trained on.
    void check() const {
        for (const auto& peer : peers_) {
            if (!peer) continue;
            for (std::uint32_t pass = 0; pass < peer->coverage.said().pass; ++pass) {
                CHECK_MESSAGE(truth.never(pass) == 0, "pass " << pass << " of " << peer->self);
            }
        }
    }

    Random random;
    Truth truth;

  private:
    bool cut(PeerIndex one, PeerIndex other) const {
        return ((side_ & peer_bit(one)) != 0) != ((side_ & peer_bit(other)) != 0);
    }
    void connect(PeerIndex one, PeerIndex other) {
        if (cut(one, other)) return;
        peers_[one]->roster.set_presence(other, Presence::up);
        peers_[other]->roster.set_presence(one, Presence::up);
        peers_[one]->hear(other, peers_[other]->status());
        peers_[other]->hear(one, peers_[one]->status());
    }
    void say(PeerIndex peer) {
        for (PeerIndex other = 0; other < peers_.size(); ++other) {
            if (other != peer && peers_[other])
                mail_[peer][other].push_back(peers_[peer]->status());
        }
    }

    std::vector<std::unique_ptr<TestPeer>> peers_;       ///< null: not there
    std::vector<std::vector<std::deque<Status>>> mail_;  ///< [from][to]
    PeerSet side_ = 0;
};

/// Rounds in random order, one peer as fast as `paces` says, until all have trained on so many
/// items.
void train(Group& group, const std::vector<int>& paces, std::size_t until) {
    while (group.truth.total() < until) {
        for (PeerIndex peer = 0; peer < group.size(); ++peer) {
            if (!group.there(peer)) continue;
            if (group.random.below(8) < static_cast<std::uint64_t>(paces[peer])) group.round(peer);
        }
        for (PeerIndex from = 0; from < group.size(); ++from) {
            for (PeerIndex to = 0; to < group.size(); ++to) {
                // A link that is slow carries the newest word: nothing queues up behind another.
                if (!group.random.chance(0.5)) continue;
                while (group.deliver(from, to)) {
                }
            }
        }
    }
    group.deliver_all();
}

}  // namespace

TEST_CASE("coverage: one peer alone sees every item once a pass") {
    Group group(1, 1);
    group.join(0);
    for (int round = 0; round < 500; ++round) group.round(0);
    CHECK(group.truth.total() == 500 * batch);
    for (std::uint32_t pass = 0; pass < 3; ++pass) CHECK(group.truth.never(pass) == 0);
    CHECK(group.truth.once(3) == 500 * batch - 3 * items);
    const Seen seen = group[0].coverage.seen();
    CHECK(seen.passes == 3);
    CHECK(seen.of_next == 500);
    CHECK(seen.of_after == 0);
}

TEST_CASE("coverage: peers of any pace cover each pass together, and repeat little") {
    for (const std::vector<int>& paces : {std::vector{8, 8, 8, 8}, std::vector{8, 4, 2, 1}}) {
        Group group(4, 7);
        for (const PeerIndex peer : {0, 1, 2, 3}) group.join(peer);
        train(group, paces, 10 * items);
        group.check();
        const Seen seen = group[0].coverage.seen();
        CHECK(seen.passes >= 8);
        // At the end of a pass some portions are taken by two, before they hear of each other: of
        // 64, which are two rounds each, about five.
        const std::size_t once = seen.passes * items + seen.of_next + seen.of_after;
        CHECK(group.truth.total() - once < group.truth.total() / 10);
        // All know the same, but for what they have in hand.
        for (const PeerIndex peer : {1, 2, 3})
            CHECK(group[peer].coverage.seen().passes == seen.passes);
    }
}

TEST_CASE("coverage: what a peer that leaves has begun, another goes on with") {
    Group group(2, 3);
    group.join(0);
    group.join(1);
    group.round(1);
    group.deliver_all();
    const Covered said = group[1].coverage.said();
    REQUIRE(said.in_hand);
    REQUIRE(said.items > 0);
    group.leave(1);
    while (group[0].coverage.said().pass == 0) group.round(0);
    CHECK(group.truth.never(0) == 0);
    // Nothing twice: what is more is of the next pass.
    CHECK(group.truth.total() == group.truth.once(0) + group.truth.once(1));
}

TEST_CASE("coverage: while a peer leaves, nobody takes what it has in hand; its row may not come") {
    for (const bool row_is_whole : {true, false}) {
        Group group(2, 3);
        group.join(0);
        group.join(1);
        group.round(1);
        group.deliver_all();
        const Covered said = group[1].coverage.said();
        REQUIRE(said.in_hand);
        REQUIRE(said.items > 0);
        group.begin_to_leave(1);
        // All the rest of its pass is done, and nothing was taken that it had begun.
        for (std::size_t round = 0; round * batch < items - 2 * items / portions; ++round)
            group.round(0);
        CHECK(group.truth.total() == group.truth.once(0) + group.truth.once(1));
        group.leave(1, row_is_whole);
        while (group[0].coverage.said().pass == 0) group.round(0);
        CHECK(group.truth.never(0) == 0);
        // What came with no row is trained on once more, and nothing else.
        const std::size_t twice = group.truth.total() - group.truth.once(0) - group.truth.once(1);
        CHECK(twice == (row_is_whole ? 0 : said.items));
    }
}

TEST_CASE("coverage: what a lost peer had in hand is trained on again, and no more") {
    Group group(2, 3);
    group.join(0);
    group.join(1);
    for (int round = 0; round < 5; ++round) {
        group.round(1);
        group.deliver_all();
    }
    group.lose(1);
    while (group[0].coverage.said().pass == 0) group.round(0);
    CHECK(group.truth.never(0) == 0);
    const std::size_t twice = group.truth.total() - group.truth.once(0) - group.truth.once(1);
    CHECK(twice > 0);
    CHECK(twice <= items / portions + 1);
}

TEST_CASE("coverage: one that hangs, or is a pass slower than the others, holds up no pass") {
    Group group(3, 5);
    for (const PeerIndex peer : {0, 1, 2}) group.join(peer);
    train(group, {8, 8, 8}, items / 4);
    group[2].round(group.truth);  // takes something in hand, and stands still
    train(group, {8, 8, 0}, 4 * items);
    group.check();
    CHECK(group[0].coverage.said().pass >= 3);
}

TEST_CASE("coverage: whoever joins, leaves, is lost or cut off: at least once") {
    std::size_t passes = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Group group(6, seed);
        Random& random = group.random;
        std::vector<int> paces;
        for (int peer = 0; peer < 6; ++peer)
            paces.push_back(static_cast<int>(random.between(1, 8)));
        for (const PeerIndex peer : {0, 1, 2}) group.join(peer);
        for (int event = 0; event < 40; ++event) {
            const auto peer = static_cast<PeerIndex>(random.below(6));
            switch (random.below(5)) {
                case 0:
                    if (!group.there(peer)) group.join(peer);
                    break;
                case 1:
                    if (group.there(peer) && group.there_count() > 1) group.lose(peer);
                    break;
                case 2:
                    if (group.there(peer) && group.there_count() > 1) group.leave(peer);
                    break;
                case 3:
                    group.cut_off(random.below(64));
                    break;
                default:
                    group.cut_off(0);
            }
            train(group, paces, group.truth.total() + random.below(200));
            group.check();
        }
        group.cut_off(0);
        train(group, paces, group.truth.total() + items);
        group.check();
        for (PeerIndex peer = 0; peer < 6; ++peer) {
            if (group.there(peer)) passes += group[peer].coverage.said().pass;
        }
    }
    CHECK(passes > 1000);  // else little was checked
}

TEST_CASE("coverage: what cannot be of this run is not heeded") {
    Coverage coverage(0, 2, {items, portions, 3});
    const Covered before = coverage.said();
    Covered said = before;
    said.pass = 4;
    coverage.hear(1, said);
    said = before;
    said.done.push_back(1);
    coverage.hear(1, said);
    said = before;
    said.in_hand = Portion{0, portions};
    coverage.hear(1, said);
    CHECK(coverage.said() == before);
    said = before;
    said.done[0] = 5;
    coverage.hear(1, said);
    CHECK(coverage.said().done[0] == 5);
}

}  // namespace ako::coverage_test
