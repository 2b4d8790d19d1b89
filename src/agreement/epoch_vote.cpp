// See epoch_vote.h.
#include "src/agreement/epoch_vote.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ako/assert.h"

namespace ako {

bool EpochVote::majority(PeerSet voters) const {
    const PeerSet all =
        epoch_.number == 0 ? ~PeerSet{0} >> (peers_max - heard_.size()) : epoch_.members();
    const int in = 2 * std::popcount(voters & all);
    const int of = std::popcount(all);
    if (in != of || epoch_.number == 0) return in > of;
    return (voters & all & (~all + 1)) != 0;  // with the lowest
}

bool EpochVote::enough(PeerSet voters, const Reach& reach) const {
    if (majority(voters)) return true;
    if (epoch_.number == 0) return false;  // names have no processes yet that could fall
    const PeerSet missing = epoch_.members() & ~voters;
    return (missing & ~reach.fell) == 0 && (reach.unaccounted & ~voters) == 0 &&
           (voters & epoch_.members()) != 0;
}

bool EpochVote::counts(PeerIndex peer) const {
    const Heard& heard = heard_[peer];
    if (heard.process == 0 || heard.said.epoch.number != epoch_.number) return false;
    return epoch_.number == 0 || is(peer, heard.process);
}

// ---- what cannot be meant

std::optional<std::string> EpochVote::refuse(const Membership& said) const {
    const auto nobody = [](const std::vector<std::uint64_t>& processes) {
        return std::all_of(processes.begin(), processes.end(), [](auto one) { return one == 0; });
    };
    for (const auto* list : {&said.epoch.processes, &said.accepted, &said.proposed}) {
        if (list->empty()) continue;
        if (list->size() != heard_.size())
            return "Membership of " + std::to_string(list->size()) + " peers in a cluster of " +
                   std::to_string(heard_.size());
        if (nobody(*list)) return "Membership of an epoch that nobody is in";
    }
    if ((said.epoch.number == 0) != said.epoch.processes.empty() ||
        said.accepted_ballot.none() != said.accepted.empty())
        return "Membership that does not say who is in";
    const std::uint32_t newest = std::min(epoch_.number + epoch_step_max, epoch_number_max);
    if (said.epoch.number > newest)
        return "Membership of epoch " + std::to_string(said.epoch.number) + " after epoch " +
               std::to_string(epoch_.number);
    for (const Ballot& ballot : {said.asks, said.promised, said.accepted_ballot})
        if (ballot.number > ballot_number_max)
            return "Membership with a ballot beyond all that are made";
    return std::nullopt;
}

// ---- acceptor

void EpochVote::answer(const Membership& said) {
    if (said.asks.none() || said.asks < promised_) return;
    promised_ = said.asks;
    if (said.proposed.empty()) return;
    accepted_ballot_ = said.asks;
    accepted_ = said.proposed;
}

bool EpochVote::hear(PeerIndex from, std::uint64_t process, const Membership& said) {
    heard_[from] = {process, said};
    if (said.epoch.number > epoch_.number) {
        adopt(said.epoch);
        return true;
    }
    if (!counts(from) || !is_plausible(said.asks, highest_seen_) ||
        !is_plausible(said.promised, highest_seen_))
        return false;
    highest_seen_ = std::max({highest_seen_, said.asks, said.promised});
    if (epoch_.number == 0 || member()) answer(said);
    return false;
}

// ---- proposer

void EpochVote::propose(Epoch next) {
    AKO_ASSERT(next.number == epoch_.number + 1, "epoch " + std::to_string(next.number));
    if (highest_seen_.number >= ballot_number_max) return;  // somebody used them up on purpose
    ballot_ = {highest_seen_.number + 1, self_, process_id_};
    highest_seen_ = ballot_;
    own_ = std::move(next.processes);
    proposed_.clear();
    promised_ = ballot_;
}

bool EpochVote::step(const Reach& reach) {
    if (!ballot_.none() && proposed_.empty() && promised_ == ballot_) {
        PeerSet promises = peer_bit(self_);
        Ballot best = accepted_ballot_;
        const std::vector<std::uint64_t>* value = best.none() ? &own_ : &accepted_;
        for (PeerIndex peer = 0; peer < heard_.size(); ++peer) {
            const Membership& said = heard_[peer].said;
            if (peer == self_ || !counts(peer) || said.promised != ballot_) continue;
            promises |= peer_bit(peer);
            if (said.accepted_ballot <= best) continue;
            best = said.accepted_ballot;
            value = &said.accepted;
        }
        if (enough(promises, reach)) {
            proposed_ = *value;
            accepted_ballot_ = ballot_;
            accepted_ = proposed_;
        }
    }
    return learn(reach);
}

// ---- learner

bool EpochVote::learn(const Reach& reach) {
    if (accepted_ballot_.none()) return false;
    PeerSet voters = peer_bit(self_);
    for (PeerIndex peer = 0; peer < heard_.size(); ++peer) {
        const bool accepted = heard_[peer].said.accepted_ballot == accepted_ballot_;
        if (peer != self_ && counts(peer) && accepted) voters |= peer_bit(peer);
    }
    if (!enough(voters, reach)) return false;
    adopt({epoch_.number + 1, accepted_});
    return true;
}

void EpochVote::adopt(const Epoch& epoch) {
    epoch_ = epoch;
    highest_seen_ = promised_ = accepted_ballot_ = ballot_ = {};
    accepted_.clear();
    own_.clear();
    proposed_.clear();
}

void EpochVote::write(Membership& out) const {
    out.epoch = epoch_;
    out.promised = promised_;
    out.accepted_ballot = accepted_ballot_;
    out.accepted = accepted_;
    out.asks = ballot_;
    out.proposed = proposed_;
}

}  // namespace ako
