// Paxos, by the book; the comments name the phase of the paper.
#include "src/agreement/agreement.h"

#include <algorithm>
#include <bit>

#include "ako/assert.h"

namespace ako {

bool Agreement::see(Ballot ballot) {
    if (!is_plausible(ballot, highest_seen_)) return false;
    highest_seen_ = std::max(highest_seen_, ballot);
    return true;
}

std::size_t Agreement::answer_count() const {
    return static_cast<std::size_t>(std::popcount(answered_));
}

// ---- the vote

void Agreement::lose_vote() {
    has_vote_ = false;
    phase_ = Phase::idle;
    answered_ = 0;
    pending_.reset();
}

void Agreement::ask_for_vote() {
    AKO_ASSERT(!has_vote_, "it has one");
    ask(Phase::regaining);
    best_accepted_ballot_ = accepted_ballot_;  // it may have had a vote before, in this process
    cut_ = accepted_cut_;
}

void Agreement::learn_vote(PeerIndex peer, Ballot vote) {
    if (vote <= votes_[peer]) return;
    votes_[peer] = vote;
    const bool promises_are_counted = phase_ == Phase::preparing || phase_ == Phase::regaining;
    if (promises_are_counted && answered(peer) && answer_votes_[peer] < vote)
        answered_ &= ~peer_bit(peer);
    // Another process has taken the place of this one.
    if (peer == self_ && has_vote_) lose_vote();
}

void Agreement::learn_votes(const Promise& promise) {
    for (PeerIndex peer = 0; peer < promise.votes.size(); ++peer) {
        if (see(promise.votes[peer])) learn_vote(peer, promise.votes[peer]);
    }
}

void Agreement::hold() {
    AKO_ASSERT(phase_ == Phase::holding, "no cut is to be held");
    phase_ = Phase::idle;
    if (votes_[self_] > ballot_) return;  // of another process: to be asked for anew
    accepted_ballot_ = best_accepted_ballot_;
    accepted_cut_ = cut_;
    promised_ = std::max(promised_, ballot_);
    votes_[self_] = ballot_;
    has_vote_ = true;
}

// ---- proposing

void Agreement::ask(Phase phase) {
    ballot_ = {highest_seen_.number + 1, self_, process_id_};
    highest_seen_ = ballot_;
    phase_ = phase;
    answered_ = 0;
    answer_votes_.assign(peer_count_, {});
}

Ballot Agreement::propose() {
    AKO_ASSERT(has_vote_, "proposing takes a vote");
    ask(Phase::preparing);
    best_accepted_ballot_ = {};
    cut_ = ballot_;
    return ballot_;
}

std::optional<Header> Agreement::outstanding() const {
    if (!decided_.none() || phase_ == Phase::idle || phase_ == Phase::holding) return std::nullopt;
    if (phase_ == Phase::accepting) return Accept{ballot_, cut_};
    return Prepare{ballot_, phase_ == Phase::regaining};
}

Promise Agreement::promise() const {
    Promise promise{promised_, accepted_ballot_, accepted_cut_, has_vote_};
    const auto from_the_start = [](const Ballot& vote) { return vote.none(); };
    if (!std::all_of(votes_.begin(), votes_.end(), from_the_start)) promise.votes = votes_;
    return promise;
}

// Phase 1b. A peer without a vote answers as all do; its answer does not count.
Promise Agreement::on_prepare(const Prepare& prepare) {
    if (see(prepare.ballot)) {
        if (prepare.regains) learn_vote(prepare.ballot.proposer, prepare.ballot);
        if (prepare.ballot > promised_) {
            promised_ = prepare.ballot;
            pending_.reset();  // an older ballot can not be accepted any more
        }
    }
    return promise();
}

std::optional<Promise> Agreement::on_promise(PeerIndex from, const Promise& promise) {
    if (!see(promise.ballot)) return std::nullopt;
    learn_votes(promise);
    if (!promise.has_vote) return std::nullopt;
    const Ballot vote = promise.votes.empty() ? Ballot{} : promise.votes[from];
    if (vote < votes_[from]) return this->promise();  // of an earlier life
    if (phase_ != Phase::preparing && phase_ != Phase::regaining) return std::nullopt;
    if (promise.ballot != ballot_) return std::nullopt;
    answered_ |= peer_bit(from);
    answer_votes_[from] = vote;
    if (promise.accepted_ballot > best_accepted_ballot_) {
        best_accepted_ballot_ = promise.accepted_ballot;
        cut_ = promise.accepted_cut;
    }
    promises_complete();
    return std::nullopt;
}

// Phase 2a, once a majority has promised; or the vote is regained.
void Agreement::promises_complete() {
    if (phase_ == Phase::preparing && answer_count() >= majority()) {
        phase_ = Phase::accepting;
        answered_ = 0;
    } else if (phase_ == Phase::regaining && answer_count() >= givers()) {
        phase_ = Phase::holding;
        answered_ = 0;
        if (cut_ == accepted_cut_) hold();
    }
}

// Phase 2b, first half: not yet accepted, because the blocks may have to be pulled first.
std::optional<Promise> Agreement::on_accept(const Accept& accept) {
    if (!see(accept.ballot) || accept.ballot < promised_ || !has_vote_) return promise();
    promised_ = accept.ballot;
    pending_ = accept;
    return std::nullopt;
}

// Phase 2b, second half.
Accepted Agreement::accept_pending() {
    AKO_ASSERT(pending_.has_value() && pending_->ballot == promised_, "nothing to accept");
    accepted_ballot_ = pending_->ballot;
    accepted_cut_ = pending_->cut;
    pending_.reset();
    return {accepted_ballot_, accepted_cut_};
}

void Agreement::on_accepted(PeerIndex from, const Accepted& accepted) {
    if (phase_ != Phase::accepting || accepted.ballot != ballot_) return;
    answered_ |= peer_bit(from);
    if (answer_count() >= majority()) learn(cut_);
}

}  // namespace ako
