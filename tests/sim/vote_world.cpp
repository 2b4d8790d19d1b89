// See vote_world.h.
#include "tests/sim/vote_world.h"

#include <algorithm>
#include <bit>

namespace ako::sim {
namespace {

/// Two sums of 64 bits that depend on the order of what is added.
class Fingerprint {
  public:
    void add(std::uint64_t value) {
        one_ = mixed(one_ ^ value);
        two_ = mixed(two_ + 0x9E3779B97F4A7C15u + value * 3);
    }
    void add(const Ballot& ballot) {
        add((std::uint64_t{ballot.number} << 32) | ballot.proposer);
        add(ballot.process);
    }
    void add(const Header& header) {
        add(header.index());
        if (const auto* prepare = std::get_if<Prepare>(&header)) {
            add(prepare->ballot);
        } else if (const auto* promise = std::get_if<Promise>(&header)) {
            add(promise->ballot);
            add(promise->accepted_ballot);
            add(promise->accepted_cut);
            add(promise->has_vote);
            for (const Ballot& vote : promise->votes) add(vote);
        } else if (const auto* accept = std::get_if<Accept>(&header)) {
            add(accept->ballot);
            add(accept->cut);
        } else {
            add(std::get<Accepted>(header).ballot);
        }
    }
    std::pair<std::uint64_t, std::uint64_t> value() const { return {one_, two_}; }

  private:
    static std::uint64_t mixed(std::uint64_t x) {  // the finisher of SplitMix64
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
        return x ^ (x >> 31);
    }
    std::uint64_t one_ = 1;
    std::uint64_t two_ = 2;
};

/// A process by its place among all that ever were.
std::uint64_t process_of(std::size_t life) { return life + 1; }
std::size_t life_of(std::uint64_t process) { return process - 1; }

std::string text_of(const Ballot& ballot) {
    if (ballot.none()) return "-";
    return std::to_string(ballot.number) + "." + std::to_string(ballot.proposer) + "." +
           std::to_string(ballot.process);
}

}  // namespace

VoteWorld::VoteWorld(std::size_t peer_count) {
    for (PeerIndex peer = 0; peer < peer_count; ++peer) {
        living_.push_back(lives_.size());
        lives_.emplace_back(peer, peer_count, process_of(lives_.size()));
    }
}

// ---- what may happen

void VoteWorld::propose(PeerIndex peer) {
    Life& life = lives_[living_[peer]];
    life.held.insert(life.agreement.propose());
    push(living_[peer], ~PeerSet{0});
}

bool VoteWorld::may_ask_for_vote(PeerIndex peer) const {
    const Agreement& agreement = (*this)[peer];
    if (agreement.has_vote() || !agreement.decided().none()) return false;
    return agreement.outstanding() ? agreement.outbid() : agreement.to_hold().none();
}

void VoteWorld::ask_for_vote(PeerIndex peer) {
    lives_[living_[peer]].agreement.ask_for_vote();
    push(living_[peer], ~PeerSet{0});
}

void VoteWorld::repeat(PeerIndex peer, PeerSet to) { push(living_[peer], to); }

void VoteWorld::restart(PeerIndex peer) {
    const LifeIndex old = std::exchange(living_[peer], lives_.size());
    std::erase_if(flying_, [&](const Message& message) { return message.to == old; });
    lives_.emplace_back(peer, peer_count(), process_of(lives_.size()));
    lives_.back().agreement.lose_vote();
}

bool VoteWorld::hold(PeerIndex peer, PeerSet from) {
    Life& life = lives_[living_[peer]];
    const std::optional<Accept> pending = life.agreement.pending();
    const CutId cut = pending ? pending->cut : life.agreement.to_hold();
    if (cut.none()) return false;
    bool found = life.held.contains(cut);
    for (PeerIndex other = 0; other < peer_count(); ++other) {
        if ((from & peer_bit(other)) != 0) found |= lives_[living_[other]].held.contains(cut);
    }
    if (!found) return false;
    life.held.insert(cut);
    if (pending) {
        accept(living_[peer]);
    } else {
        life.agreement.hold();
    }
    return true;
}

void VoteWorld::learn(PeerIndex peer, PeerIndex from) {
    const CutId cut = (*this)[from].decided();
    if (!cut.none()) lives_[living_[peer]].agreement.learn(cut);
}

std::pair<PeerIndex, PeerIndex> VoteWorld::ends(std::size_t message) const {
    return {lives_[flying_[message].from].peer, lives_[flying_[message].to].peer};
}

void VoteWorld::deliver(std::size_t message) {
    std::swap(flying_[message], flying_.back());
    const Message taken = std::move(flying_.back());
    flying_.pop_back();
    handle(taken.to, taken.from, taken.header);
}

void VoteWorld::lose_idle() {
    std::erase_if(flying_, [this](const Message& message) {
        const auto* promise = std::get_if<Promise>(&message.header);
        if (promise == nullptr) return std::holds_alternative<Accepted>(message.header);
        // Ballots only rise: what is nothing new to it now, never will be.
        Agreement copy = lives_[message.to].agreement;
        copy.on_promise(lives_[message.from].peer, *promise);
        return copy == lives_[message.to].agreement;
    });
}

// ---- messages

void VoteWorld::send(LifeIndex from, LifeIndex to, Header header) {
    if (from == to) return handle(to, from, header);
    if (lives(to)) flying_.push_back({from, to, std::move(header)});
}

void VoteWorld::push(LifeIndex life, PeerSet to) {
    const auto question = lives_[life].agreement.outstanding();
    if (!question) return;
    for (PeerIndex peer = 0; peer < peer_count(); ++peer) {
        const bool self = peer == lives_[life].peer;
        if (self && !lives_[life].agreement.has_vote()) continue;
        if ((to & peer_bit(peer)) == 0 || lives_[life].agreement.answered(peer)) continue;
        send(life, living_[peer], *question);
        if (lives_[life].agreement.outstanding() != question) return;  // it has gone out already
    }
}

void VoteWorld::handle(LifeIndex self, LifeIndex from, const Header& header) {
    Agreement& agreement = lives_[self].agreement;
    const PeerIndex sender = lives_[from].peer;
    if (const auto* prepare = std::get_if<Prepare>(&header)) {
        send(self, from, agreement.on_prepare(*prepare));
    } else if (const auto* promise = std::get_if<Promise>(&header)) {
        const auto question = agreement.outstanding();
        count(lives_[self], sender, *promise);
        agreement.on_promise(sender, *promise);
        if (agreement.outstanding() != question) push(self, ~PeerSet{0});
    } else if (const auto* accept = std::get_if<Accept>(&header)) {
        handle_accept(self, from, *accept);
    } else {
        agreement.on_accepted(sender, std::get<Accepted>(header));
    }
}

void VoteWorld::handle_accept(LifeIndex self, LifeIndex from, const Accept& asked) {
    Life& life = lives_[self];
    if (const auto refusal = life.agreement.on_accept(asked)) return send(self, from, *refusal);
    if (life.held.contains(asked.cut)) accept(self);
}

void VoteWorld::accept(LifeIndex life) {
    const Accepted accepted = lives_[life].agreement.accept_pending();
    auto& [cut, by] = accepted_[accepted.ballot];
    cut = accepted.cut;
    by |= peer_bit(lives_[life].peer);
    send(life, life_of(accepted.ballot.process), accepted);
}

void VoteWorld::count(Life& life, PeerIndex from, const Promise& promise) {
    const auto question = life.agreement.outstanding();
    if (!question || !std::holds_alternative<Prepare>(*question)) return;
    const Ballot asked = std::get<Prepare>(*question).ballot;
    if (std::exchange(life.asked, asked) != asked) life.counted.clear();
    if (promise.ballot != asked || !promise.has_vote) return;
    const Ballot vote = promise.votes.empty() ? Ballot{} : promise.votes[from];
    life.counted[from] = {vote, promise.accepted_ballot};
}

// ---- what it came to

std::set<CutId> VoteWorld::decisions() const {
    std::set<CutId> found;
    for (const auto& [ballot, accepted] : accepted_) {
        const auto count = static_cast<std::size_t>(std::popcount(accepted.second));
        if (count >= peer_count() / 2 + 1) found.insert(accepted.first);
    }
    for (const Life& life : lives_) {
        if (!life.agreement.decided().none()) found.insert(life.agreement.decided());
    }
    return found;
}

bool VoteWorld::somebody_decided() const {
    return std::any_of(living_.begin(), living_.end(),
                       [this](LifeIndex life) { return !lives_[life].agreement.decided().none(); });
}

std::size_t VoteWorld::votes() const {
    return static_cast<std::size_t>(
        std::count_if(living_.begin(), living_.end(),
                      [this](LifeIndex life) { return lives_[life].agreement.has_vote(); }));
}

std::pair<std::uint64_t, std::uint64_t> VoteWorld::fingerprint() const {
    Fingerprint sum;
    for (const LifeIndex index : living_) {
        const Life& life = lives_[index];
        Agreement copy = life.agreement;
        sum.add(index);
        sum.add(Header{copy.on_prepare({})});  // which changes nothing
        for (const Ballot& ballot :
             {copy.highest_seen(), copy.decided(), copy.proposed(), copy.to_hold(), life.asked})
            sum.add(ballot);
        const auto question = copy.outstanding();
        sum.add(question.has_value());
        if (question) sum.add(*question);
        sum.add(copy.pending().has_value());
        if (copy.pending()) sum.add(Header{*copy.pending()});
        for (PeerIndex peer = 0; peer < peer_count(); ++peer) sum.add(copy.answered(peer));
        for (const auto& [peer, counted] : life.counted) {
            sum.add(peer);
            sum.add(counted.vote);
            sum.add(counted.accepted);
        }
        sum.add(life.held.size());
        for (const CutId& cut : life.held) sum.add(cut);
    }
    // In no order: which of them arrives next is free.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> flying;
    for (const Message& message : flying_) {
        Fingerprint one;
        one.add(message.from);
        one.add(message.to);
        one.add(message.header);
        flying.push_back(one.value());
    }
    std::sort(flying.begin(), flying.end());
    for (const auto& [one, two] : flying) {
        sum.add(one);
        sum.add(two);
    }
    for (const auto& [ballot, accepted] : accepted_) {
        sum.add(ballot);
        sum.add(accepted.second);
    }
    return sum.value();
}

std::string VoteWorld::text() const {
    std::string text;
    for (const LifeIndex index : living_) {
        Agreement copy = lives_[index].agreement;
        const Promise said = copy.on_prepare({});
        text += "  peer " + std::to_string(lives_[index].peer) + ", process " +
                std::to_string(process_of(index)) + (copy.has_vote() ? "" : ", no vote") +
                ": promised " + text_of(said.ballot) + ", accepted " + text_of(said.accepted_cut) +
                " under " + text_of(said.accepted_ballot) + ", proposes " +
                text_of(copy.proposed()) + ", decided " + text_of(copy.decided()) + "\n";
    }
    for (const auto& [ballot, accepted] : accepted_) {
        text +=
            "  ballot " + text_of(ballot) + ", cut " + text_of(accepted.first) + ": accepted by";
        for (PeerIndex peer = 0; peer < peer_count(); ++peer) {
            if ((accepted.second & peer_bit(peer)) != 0) text += " " + std::to_string(peer);
        }
        text += "\n";
    }
    return text;
}

}  // namespace ako::sim
