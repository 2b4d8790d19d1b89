// The agreement of a few peers whose processes end and are started again without memory: every
// process that ever was, and every message that may still arrive, late or never. Nothing here has a
// time; what happens next, the caller chooses. The code under test is src/agreement/agreement.cpp.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/agreement/agreement.h"

namespace ako::sim {

class VoteWorld {
  public:
    explicit VoteWorld(std::size_t peer_count);

    std::size_t peer_count() const { return living_.size(); }
    /// The process of this peer that runs.
    const Agreement& operator[](PeerIndex peer) const { return lives_[living_[peer]].agreement; }

    // ---- what may happen
    bool may_propose(PeerIndex peer) const { return (*this)[peer].has_vote(); }
    void propose(PeerIndex peer);
    /// It has no vote, and waits for nothing that may still come.
    bool may_ask_for_vote(PeerIndex peer) const;
    void ask_for_vote(PeerIndex peer);
    /// Its question goes once more to all of `to` who have not answered.
    void repeat(PeerIndex peer, PeerSet to);
    /// The process ends, and another begins: nothing is known to it. What the old one sent may
    /// still arrive, what was sent to it does not.
    void restart(PeerIndex peer);
    /// Takes in the cut that it has to hold, if one of `from` holds it; false if nothing changed.
    bool hold(PeerIndex peer, PeerSet from);
    void learn(PeerIndex peer, PeerIndex from);

    std::size_t flying() const { return flying_.size(); }
    /// The peer that sent that message, and the one that is to get it.
    std::pair<PeerIndex, PeerIndex> ends(std::size_t message) const;
    void deliver(std::size_t message);
    void lose_all() { flying_.clear(); }
    /// Loses what can teach nobody anything any more, and every Accepted: what it stands for,
    /// counts for `decisions` as well.
    void lose_idle();

    // ---- what it came to
    /// Every cut that a majority has accepted under one ballot, or that somebody takes for decided.
    std::set<CutId> decisions() const;
    bool somebody_decided() const;
    std::size_t votes() const;
    /// Two worlds of the same fingerprint go on alike.
    std::pair<std::uint64_t, std::uint64_t> fingerprint() const;
    std::string text() const;

  private:
    using LifeIndex = std::size_t;
    /// What decides of a promise that was counted, beside what the agreement shows.
    struct Counted {
        Ballot vote;
        Ballot accepted;
        auto operator<=>(const Counted&) const = default;
    };
    struct Life {
        Life(PeerIndex of, std::size_t peer_count, std::uint64_t process_id)
            : peer(of), agreement(of, peer_count, process_id) {}

        PeerIndex peer;
        Agreement agreement;
        std::set<CutId> held;
        Ballot asked;  ///< under which `counted` came
        std::map<PeerIndex, Counted> counted;
    };
    struct Message {
        LifeIndex from;
        LifeIndex to;
        Header header;
    };

    bool lives(LifeIndex life) const { return living_[lives_[life].peer] == life; }
    void send(LifeIndex from, LifeIndex to, Header header);
    void handle(LifeIndex self, LifeIndex from, const Header& header);
    void handle_accept(LifeIndex self, LifeIndex from, const Accept& accept);
    void count(Life& life, PeerIndex from, const Promise& promise);
    void push(LifeIndex life, PeerSet to);
    void accept(LifeIndex life);

    std::vector<Life> lives_;        ///< in the order in which they began
    std::vector<LifeIndex> living_;  ///< [peer]
    std::vector<Message> flying_;
    std::map<Ballot, std::pair<CutId, PeerSet>> accepted_;  ///< by whom, dead or alive
};

}  // namespace ako::sim
