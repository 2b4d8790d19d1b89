// The vote on who is in next, without a network: what is enough, what is kept of a ballot that was
// broken off, and that no two epochs of one number are ever decided, whatever is lost or late.
#include "src/agreement/epoch_vote.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "tests/sim/world.h"

namespace ako::epoch_vote_test {

namespace {

using Reach = EpochVote::Reach;

std::uint64_t process_of_peer(PeerIndex peer) { return 100 + peer; }

/// The votes of so many peers, all of which are in epoch 1.
struct Members {
    explicit Members(std::size_t count) : said(count) {
        for (PeerIndex peer = 0; peer < count; ++peer) {
            votes.emplace_back(peer, count, process_of_peer(peer));
            votes.back().hear((peer + 1) % static_cast<PeerIndex>(count), 1, beginning(count));
        }
        for (PeerIndex peer = 0; peer < count; ++peer) say(peer);
    }
    static Membership beginning(std::size_t count) {
        Membership said;
        said.epoch = epoch(1, (PeerSet{1} << count) - 1, count);
        return said;
    }
    static Epoch epoch(std::uint32_t number, PeerSet members, std::size_t count) {
        Epoch made{number, std::vector<std::uint64_t>(count)};
        for (PeerIndex peer = 0; peer < count; ++peer)
            if (members & peer_bit(peer)) made.processes[peer] = process_of_peer(peer);
        return made;
    }
    Epoch next(PeerSet members) const { return epoch(2, members, votes.size()); }
    void say(PeerIndex peer) { votes[peer].write(said[peer]); }
    /// What `from` says now comes to `to`.
    void tell(PeerIndex from, PeerIndex to) {
        say(from);
        votes[to].hear(from, process_of_peer(from), said[from]);
    }
    void exchange(PeerSet among, Reach reach = {}) {
        for (int round = 0; round < 4; ++round) {
            for (PeerIndex from = 0; from < votes.size(); ++from)
                for (PeerIndex to = 0; to < votes.size(); ++to)
                    if (from != to && (among & peer_bit(from)) && (among & peer_bit(to)))
                        tell(from, to);
            for (PeerIndex peer = 0; peer < votes.size(); ++peer)
                if (among & peer_bit(peer)) votes[peer].step(reach);
        }
    }

    std::vector<EpochVote> votes;
    std::vector<Membership> said;
};

}  // namespace

TEST_CASE("a ballot far above all that were made is not followed, and ends nothing") {
    Members three(3);
    Membership word = three.said[1];
    word.asks = word.promised = {ballot_number_max, 1, process_of_peer(1)};
    three.votes[0].hear(1, process_of_peer(1), word);
    CHECK(three.votes[0].promised().none());
    three.votes[0].propose(three.next(0b101));
    CHECK(three.votes[0].promised().number == 1);
    // By steps that are plausible all numbers can be used up; then nothing more is proposed.
    for (std::uint32_t number = 1; number < ballot_number_max;) {
        number = std::min(number + ballot_step_max, ballot_number_max);
        word.asks = word.promised = {number, 1, process_of_peer(1)};
        three.votes[0].hear(1, process_of_peer(1), word);
    }
    three.votes[0].propose(three.next(0b101));
    CHECK(three.votes[0].promised() == word.asks);
}

TEST_CASE("what is enough to decide the next epoch") {
    const Members four(4);
    const EpochVote& vote = four.votes[0];
    CHECK(vote.enough(0b1110, {}));
    CHECK(vote.enough(0b0011, {}));  // a half, with the lowest member
    CHECK_FALSE(vote.enough(0b1100, {}));
    CHECK(vote.enough(0b1100, {.fell = 0b0011}));
    CHECK_FALSE(vote.enough(0b1100, {.fell = 0b0001}));  // who fell silent may go on elsewhere
    CHECK(vote.enough(0b1000, {.fell = 0b0111}));
    CHECK_FALSE(vote.enough(0b1000, {.fell = 0b0111, .unaccounted = 0b0001}));
    // Names have no processes that could fall before there is an epoch.
    const EpochVote first(0, 4, 100);
    CHECK(first.enough(0b0111, {}));
    CHECK_FALSE(first.enough(0b0011, {}));
    CHECK_FALSE(first.enough(0b0001, {.fell = 0b1110}));
}

TEST_CASE("members agree on who is in next, and one that hears of it later learns it") {
    Members members(4);
    members.votes[0].propose(members.next(0b0111));
    members.exchange(0b0111);
    for (const PeerIndex peer : {0, 1, 2})
        CHECK(members.votes[peer].epoch() == members.next(0b0111));
    CHECK(members.votes[3].epoch().number == 1);
    members.tell(1, 3);
    CHECK(members.votes[3].epoch() == members.next(0b0111));
    CHECK_FALSE(members.votes[3].member());
}

TEST_CASE("what enough members have accepted is kept by later ballots") {
    Members members(3);
    members.votes[0].propose(members.next(0b011));
    members.tell(0, 1);
    members.tell(1, 0);
    members.votes[0].step({});  // promised: now it asks to accept
    members.tell(0, 1);         // accepted by two of three, which nobody knows yet
    members.tell(1, 2);         // and peer a is heard of no more
    members.votes[2].propose(members.next(0b110));
    members.exchange(0b110);
    CHECK(members.votes[1].epoch() == members.next(0b011));
    CHECK(members.votes[2].epoch() == members.next(0b011));
}

TEST_CASE("another process of a name has no vote") {
    Members members(3);
    members.votes[0].propose(members.next(0b011));
    members.say(1);
    Membership promise = members.said[1];
    members.say(0);
    promise.promised = members.said[0].asks;
    members.votes[0].hear(1, 999, promise);
    members.votes[0].step({});
    members.say(0);
    CHECK(members.said[0].proposed.empty());
    members.votes[0].hear(1, process_of_peer(1), promise);
    members.votes[0].step({});
    members.say(0);
    CHECK(members.said[0].proposed == members.next(0b011).processes);
}

TEST_CASE("no two epochs of one number are decided, whatever is lost or comes late") {
    unsigned decided = 0;
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        sim::Random random(seed);
        const std::size_t count = random.between(2, 5);
        Members members(count);
        std::vector<std::vector<Membership>> on_the_way(count);  // [from], all that was ever said
        std::optional<Epoch> next;
        for (int step = 0; step < 120; ++step) {
            const auto one = static_cast<PeerIndex>(random.below(count));
            const auto other = static_cast<PeerIndex>(random.below(count));
            EpochVote& vote = members.votes[one];
            if (vote.epoch().number == 1 && random.chance(0.1)) {
                const PeerSet set = random.between(1, (1U << count) - 1) | peer_bit(one);
                vote.propose(members.next(set));
            }
            if (vote.epoch().number == 1) vote.step({});
            if (vote.epoch().number == 2) {
                if (!next) next = vote.epoch();
                CAPTURE(seed);
                REQUIRE(vote.epoch() == *next);
            }
            members.say(one);
            on_the_way[one].push_back(members.said[one]);
            if (one == other || random.chance(0.3)) continue;
            // The newest, or one that was said before in another session.
            const auto& all = on_the_way[one];
            const std::size_t which =
                random.chance(0.8) ? all.size() - 1 : random.below(all.size());
            members.votes[other].hear(one, process_of_peer(one), all[which]);
        }
        decided += next ? 1 : 0;
    }
    CHECK(decided > 1000);
}

}  // namespace ako::epoch_vote_test
