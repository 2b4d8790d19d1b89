// Paxos over the cut: never two decisions, whatever is lost, doubled or late.
#include "src/agreement/agreement.h"

#include <doctest/doctest.h>

#include <bit>
#include <initializer_list>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace ako::agreement_test {

namespace {

/// Peers and everything that has been said between them and may still arrive: late, twice or never.
class Parliament {
  public:
    Parliament(std::size_t peer_count, std::uint64_t seed) : random_(seed) {
        for (PeerIndex peer = 0; peer < peer_count; ++peer)
            peers_.emplace_back(peer, peer_count, 0);
    }

    void propose(PeerIndex peer) {
        proposed_.insert(peers_[peer].propose());
        ask(peer);
    }
    /// The proposer repeats its question.
    void ask(PeerIndex peer) {
        const auto question = peers_[peer].outstanding();
        if (!question) return;
        for (PeerIndex to = 0; to < peers_.size(); ++to) {
            if (!peers_[peer].answered(to)) messages_.push_back({peer, to, *question});
        }
    }
    /// The peer holds what its pending cut names.
    void hold(PeerIndex peer) {
        const auto pending = peers_[peer].pending();
        if (!pending) return;
        const Accepted accepted = peers_[peer].accept_pending();
        accepted_by_[accepted.ballot] |= peer_bit(peer);
        const auto [at, is_new] = cut_of_.emplace(accepted.ballot, accepted.cut);
        REQUIRE((is_new || at->second == accepted.cut));  // one ballot, one cut
        messages_.push_back({peer, pending->ballot.proposer, accepted});
    }
    /// Some message arrives; `loss` and `twice` are probabilities.
    void deliver_one(double loss, double twice) {
        if (messages_.empty()) return;
        std::swap(messages_[random_() % messages_.size()], messages_.back());
        const Message message = messages_.back();
        if (!chance(twice)) messages_.pop_back();
        if (!chance(loss)) arrive(message);
    }
    void step(double proposals, double loss, double twice) {
        const auto peer = static_cast<PeerIndex>(random_() % peers_.size());
        if (chance(proposals)) return propose(peer);
        if (chance(0.1)) return ask(peer);
        if (chance(0.2)) return hold(peer);
        deliver_one(loss, twice);
        const auto learner = static_cast<PeerIndex>(random_() % peers_.size());
        if (chance(0.02) && !peers_[learner].decided().none()) {
            peers_[peer].learn(peers_[learner].decided());
        }
    }
    /// No peer and no majority of acceptors may ever stand for two cuts.
    void check() const {
        std::set<CutId> decisions;
        for (const Agreement& peer : peers_) {
            if (!peer.decided().none()) decisions.insert(peer.decided());
        }
        for (const auto& [ballot, acceptors] : accepted_by_) {
            if (static_cast<std::size_t>(std::popcount(acceptors)) >= peers_.size() / 2 + 1) {
                decisions.insert(cut_of_.at(ballot));
            }
        }
        REQUIRE(decisions.size() <= 1);
        for (const CutId& cut : decisions) REQUIRE(proposed_.contains(cut));
    }
    bool decided() const {
        for (const Agreement& peer : peers_) {
            if (!peer.decided().none()) return true;
        }
        return false;
    }
    bool contested() const { return accepted_by_.size() > 1; }
    Agreement& operator[](PeerIndex peer) { return peers_[peer]; }
    bool silent() const { return messages_.empty(); }

  private:
    struct Message {
        PeerIndex from;
        PeerIndex to;
        Header header;
    };

    bool chance(double probability) {
        return static_cast<double>(random_() >> 11) * 0x1p-53 < probability;
    }
    void arrive(const Message& message) {
        Agreement& peer = peers_[message.to];
        if (const auto* prepare = std::get_if<Prepare>(&message.header)) {
            messages_.push_back({message.to, message.from, peer.on_prepare(*prepare)});
        } else if (const auto* promise = std::get_if<Promise>(&message.header)) {
            peer.on_promise(message.from, *promise);
        } else if (const auto* accept = std::get_if<Accept>(&message.header)) {
            if (const auto refusal = peer.on_accept(*accept)) {
                messages_.push_back({message.to, message.from, *refusal});
            }
        } else {
            peer.on_accepted(message.from, std::get<Accepted>(message.header));
        }
    }

    std::mt19937_64 random_;
    std::vector<Agreement> peers_;
    std::vector<Message> messages_;
    std::set<CutId> proposed_;
    std::map<Ballot, PeerSet> accepted_by_;
    std::map<Ballot, CutId> cut_of_;
};

}  // namespace

TEST_CASE("never two decisions: thousands of runs with loss, repetition and reordering") {
    std::size_t decided = 0;
    std::size_t contested = 0;
    const std::size_t runs = 6000;
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const std::size_t peer_count = seed % 2 ? 3 : 5;
        Parliament parliament(peer_count, seed);
        const double proposals = seed % 3 ? 0.02 : 0.1;
        const double loss = static_cast<double>(random() % 4) / 10;
        const double twice = static_cast<double>(random() % 4) / 10;
        for (int step = 0; step < 500; ++step) {
            parliament.step(proposals, loss, twice);
            parliament.check();
        }
        decided += parliament.decided();
        contested += parliament.decided() && parliament.contested();
    }
    // The runs are worth something: many decide, and many of those in spite of another ballot.
    CHECK(decided > runs / 2);
    CHECK(contested > runs / 20);
}

TEST_CASE("one proposer that everybody hears is agreed with") {
    for (const std::size_t peer_count : {1u, 2u, 3u, 8u, 64u}) {
        Parliament parliament(peer_count, 9);
        parliament.propose(0);
        for (int step = 0; step < 1000; ++step) {
            if (parliament.silent()) parliament.ask(0);  // the next question
            parliament.deliver_one(0, 0);
            for (PeerIndex peer = 0; peer < peer_count; ++peer) parliament.hold(peer);
        }
        CHECK(parliament[0].decided() == Ballot{1, 0});
        CHECK(!parliament[0].outstanding());
    }
}

TEST_CASE("a majority is needed, and more than half is one") {
    CHECK(Agreement(0, 1, 0).majority() == 1);
    CHECK(Agreement(0, 2, 0).majority() == 2);
    CHECK(Agreement(0, 3, 0).majority() == 2);
    CHECK(Agreement(0, 4, 0).majority() == 3);
    Agreement proposer(0, 3, 0);
    const Ballot ballot = proposer.propose();
    proposer.on_promise(0, {ballot, {}, {}});
    proposer.on_promise(0, {ballot, {}, {}});  // the same one twice
    CHECK(*proposer.outstanding() == Header{Prepare{ballot}});
    proposer.on_promise(2, {ballot, {}, {}});
    CHECK(*proposer.outstanding() == Header{Accept{ballot, ballot}});
    CHECK(!proposer.answered(0));  // the new question
    proposer.on_accepted(0, {ballot, ballot});
    CHECK(proposer.decided().none());
    proposer.on_accepted(1, {{1, 2}, {1, 2}});  // somebody else's
    CHECK(proposer.decided().none());
    proposer.on_accepted(1, {ballot, ballot});
    CHECK(proposer.decided() == ballot);
}

TEST_CASE("a proposer takes over the cut of the highest ballot that was accepted before") {
    Agreement proposer(2, 5, 0);
    proposer.on_prepare({{7, 1}});  // has seen ballot 7
    const Ballot ballot = proposer.propose();
    CHECK(ballot == Ballot{8, 2});
    proposer.on_promise(0, {ballot, {3, 0}, {1, 0}});
    proposer.on_promise(1, {ballot, {5, 1}, {2, 1}});
    proposer.on_promise(3, {ballot, {4, 3}, {4, 3}});
    CHECK(*proposer.outstanding() == Header{Accept{ballot, {2, 1}}});
}

TEST_CASE("an acceptor keeps its promise") {
    Agreement acceptor(1, 3, 0);
    CHECK(acceptor.on_prepare({{2, 0}}) == Promise{{2, 0}, {}, {}});
    CHECK(acceptor.on_prepare({{1, 2}}) == Promise{{2, 0}, {}, {}});         // names the newer one
    CHECK(acceptor.on_accept({{1, 2}, {1, 2}}) == Promise{{2, 0}, {}, {}});  // and so does this
    CHECK(!acceptor.pending());
    CHECK(!acceptor.on_accept({{2, 0}, {2, 0}}));
    CHECK(acceptor.pending());
    // Not accepted before the blocks are held; a newer ballot takes the pending one away.
    CHECK(acceptor.accepted().none());
    CHECK(acceptor.on_prepare({{2, 2}}) == Promise{{2, 2}, {}, {}});
    CHECK(!acceptor.pending());
    CHECK(!acceptor.on_accept({{2, 2}, {2, 2}}));
    CHECK(acceptor.accept_pending() == Accepted{{2, 2}, {2, 2}});
    CHECK(acceptor.on_prepare({{3, 0}}) == Promise{{3, 0}, {2, 2}, {2, 2}});
    CHECK(acceptor.accepted() == CutId{2, 2});
}

TEST_CASE("who is outbid proposes above what it has seen") {
    Agreement proposer(0, 3, 0);
    const Ballot first = proposer.propose();
    proposer.on_promise(1, {{5, 2}, {}, {}});
    CHECK(!proposer.answered(1));
    CHECK(*proposer.outstanding() == Header{Prepare{first}});
    CHECK(proposer.propose() == Ballot{6, 0});

    // It may also learn of it by the refusal of what it wants accepted.
    proposer.on_promise(0, {{6, 0}, {}, {}});
    proposer.on_promise(1, {{6, 0}, {}, {}});
    Agreement acceptor(1, 3, 0);
    acceptor.on_prepare({{9, 2}});
    const auto refusal = acceptor.on_accept(std::get<Accept>(*proposer.outstanding()));
    REQUIRE(refusal);
    proposer.on_promise(1, *refusal);
    CHECK(!proposer.answered(1));
    CHECK(proposer.propose() == Ballot{10, 0});
}

// ---- lives and votes

namespace {

/// Lets `asker` hear what `peers` answer to its question.
void ask_all(Agreement& asker, std::initializer_list<std::pair<PeerIndex, Agreement*>> peers) {
    for (const auto& [index, peer] : peers) {
        const auto question = asker.outstanding();
        if (!question) return;
        if (const auto* prepare = std::get_if<Prepare>(&*question)) {
            asker.on_promise(index, peer->on_prepare(*prepare));
        } else if (!peer->on_accept(std::get<Accept>(*question))) {
            asker.on_accepted(index, peer->accept_pending());
        }
    }
}

/// A process that is started again.
Agreement later_life(PeerIndex self, std::size_t peer_count) {
    Agreement life(self, peer_count, 7);
    life.lose_vote();
    return life;
}

}  // namespace

TEST_CASE("so many others give a vote back that one of them knows what its majority did") {
    for (std::size_t peers = 1; peers <= 64; ++peers) {
        const Agreement one(0, peers, 0);
        CHECK(one.givers() + (one.majority() - 1) > peers - 1);
        CHECK(one.givers() + (one.majority() - 1) == peers);  // and not one more
    }
    const Agreement of_five(0, 5, 0);
    CHECK(of_five.enough(3, 3));
    CHECK(!of_five.enough(5, 2));
    CHECK(!of_five.enough(2, 2));
    CHECK(Agreement(0, 4, 0).enough(4, 2));  // two give the others theirs
    CHECK(Agreement(0, 2, 0).enough(2, 1));
}

TEST_CASE("without a vote a peer answers, accepts nothing, and does not count") {
    Agreement later = later_life(1, 3);
    CHECK(!later.has_vote());
    CHECK(later.on_prepare({{2, 0}}) == Promise{{2, 0}, {}, {}, false});
    CHECK(later.on_accept({{2, 0}, {2, 0}}) == Promise{{2, 0}, {}, {}, false});
    CHECK(!later.pending());

    Agreement proposer(0, 3, 0);
    const Ballot ballot = proposer.propose();
    proposer.on_promise(0, {ballot, {}, {}});
    proposer.on_promise(1, {ballot, {}, {}, false});
    CHECK(*proposer.outstanding() == Header{Prepare{ballot}});
    CHECK(!proposer.answered(1));
    proposer.on_promise(1, {ballot, {}, {}});  // it has regained it
    CHECK(*proposer.outstanding() == Header{Accept{ballot, ballot}});
}

TEST_CASE("a vote is regained from enough others, with the newest that they have accepted") {
    Agreement first(0, 3, 1);
    Agreement third(2, 3, 3);
    const Ballot cut = first.propose();
    Agreement earlier(1, 3, 2);
    ask_all(first, {{0, &first}, {1, &earlier}});
    ask_all(first, {{0, &first}, {1, &earlier}});
    REQUIRE(first.decided() == cut);

    Agreement later = later_life(1, 3);
    later.ask_for_vote();
    CHECK(std::get<Prepare>(*later.outstanding()).regains);
    ask_all(later, {{2, &third}});
    CHECK(!later.has_vote());  // one is not enough
    ask_all(later, {{0, &first}});
    CHECK(!later.has_vote());  // not before it holds what the earlier life may have accepted
    CHECK(later.to_hold() == cut);
    CHECK(later.accepted().none());
    CHECK(!later.outstanding());
    later.hold();
    CHECK(later.has_vote());
    CHECK(later.accepted() == cut);
    CHECK(later.to_hold().none());

    const Ballot other = third.propose();
    ask_all(third, {{2, &third}, {1, &later}});
    CHECK(*third.outstanding() == Header{Accept{other, cut}});
}

TEST_CASE("a promise of an earlier life does not count once its later life is known of") {
    Agreement first(0, 5, 1), second(1, 5, 2), third(2, 5, 3), fourth(3, 5, 4), fifth(4, 5, 5);
    for (int again = 0; again < 3; ++again) first.propose();
    ask_all(first, {{0, &first}, {1, &second}});  // and nobody else hears of its ballot

    Agreement later = later_life(1, 5);
    later.ask_for_vote();
    ask_all(later, {{2, &third}, {3, &fourth}, {4, &fifth}});
    REQUIRE(later.has_vote());
    const Ballot decided = fourth.propose();
    ask_all(fourth, {{1, &later}, {3, &fourth}, {4, &fifth}});
    ask_all(fourth, {{1, &later}, {3, &fourth}, {4, &fifth}});
    REQUIRE(fourth.decided() == decided);

    // With the promise of the earlier life it would now be a majority that accepted nothing.
    ask_all(first, {{2, &third}});
    CHECK(!first.answered(1));
    REQUIRE(std::holds_alternative<Prepare>(*first.outstanding()));
    ask_all(first, {{1, &later}});
    CHECK(std::get<Accept>(*first.outstanding()).cut == decided);
}

TEST_CASE("two lives never come to the same ballot") {
    Agreement earlier(1, 3, 2);
    Agreement later = later_life(1, 3);
    later.ask_for_vote();
    CHECK(std::get<Prepare>(*later.outstanding()).ballot.number == earlier.propose().number);
    CHECK(std::get<Prepare>(*later.outstanding()).ballot != earlier.proposed());
}

TEST_CASE("a process whose place another has taken loses its vote") {
    Agreement first(0, 3, 1), second(1, 3, 2), third(2, 3, 3);
    Agreement later = later_life(1, 3);
    later.ask_for_vote();
    ask_all(later, {{0, &first}, {2, &third}});
    REQUIRE(later.has_vote());
    second.propose();
    ask_all(second, {{0, &first}});
    CHECK(!second.has_vote());
    CHECK(!second.outstanding());
}

TEST_CASE("who promises without knowing that another has asked for its vote is told so") {
    Agreement proposer(0, 3, 1), second(1, 3, 2);
    Agreement later = later_life(1, 3);
    later.ask_for_vote();
    proposer.on_prepare(std::get<Prepare>(*later.outstanding()));
    const Promise promise = second.on_prepare({proposer.propose()});
    REQUIRE(promise.has_vote);
    const std::optional<Promise> told = proposer.on_promise(1, promise);
    CHECK(!proposer.answered(1));
    REQUIRE(told);
    CHECK(!second.on_promise(0, *told));
    CHECK(!second.has_vote());
    CHECK(!proposer.on_promise(1, second.on_prepare({proposer.proposed()})));  // once is enough
}

TEST_CASE("who asks for a vote outbids a proposer that nobody else does") {
    Agreement proposer(0, 3, 1), acceptor(2, 3, 3);
    proposer.propose();
    CHECK(!proposer.outbid());
    Agreement later = later_life(1, 3);
    later.on_prepare({proposer.proposed()});
    later.ask_for_vote();
    proposer.on_promise(2, acceptor.on_prepare(std::get<Prepare>(*later.outstanding())));
    CHECK(proposer.outbid_by_vote());
    proposer.on_promise(2, acceptor.on_prepare({{9, 2, 3}}));
    CHECK(proposer.outbid());
    CHECK(!proposer.outbid_by_vote());
}

TEST_CASE("a new process follows those who have come far") {
    Agreement old(0, 3, 1);
    for (int proposals = 0; proposals < 100000; ++proposals) old.propose();
    Agreement later = later_life(1, 3);
    later.ask_for_vote();
    old.on_prepare({old.proposed()});
    later.on_promise(0, old.on_prepare(std::get<Prepare>(*later.outstanding())));
    REQUIRE(later.outbid());
    later.ask_for_vote();
    later.on_promise(0, old.on_prepare(std::get<Prepare>(*later.outstanding())));
    CHECK(later.answered(0));
}

}  // namespace ako::agreement_test
