// Paxos, by the book; the comments name the phase of the paper.
#include "src/agreement/agreement.h"

#include <algorithm>
#include <bit>

#include "ako/assert.h"

namespace ako {

bool Agreement::see(Ballot ballot) {
    if (ballot.number > ballot_number_max ||
        ballot.number > std::uint64_t{highest_seen_.number} + ballot_step_max)
        return false;
    highest_seen_ = std::max(highest_seen_, ballot);
    return true;
}

std::size_t Agreement::answer_count() const {
    return static_cast<std::size_t>(std::popcount(answered_));
}

Ballot Agreement::propose() {
    ballot_ = {highest_seen_.number + 1, self_};
    highest_seen_ = ballot_;
    phase_ = Phase::preparing;
    answered_ = 0;
    best_accepted_ballot_ = {};
    cut_ = ballot_;
    return ballot_;
}

std::optional<Header> Agreement::outstanding() const {
    if (!decided_.none() || phase_ == Phase::idle) return std::nullopt;
    if (phase_ == Phase::preparing) return Prepare{ballot_};
    return Accept{ballot_, cut_};
}

// Phase 1b.
Promise Agreement::on_prepare(const Prepare& prepare) {
    if (see(prepare.ballot) && prepare.ballot > promised_) {
        promised_ = prepare.ballot;
        pending_.reset();  // an older ballot can not be accepted any more
    }
    return {promised_, accepted_ballot_, accepted_cut_};
}

// Phase 2a, once a majority has promised.
void Agreement::on_promise(PeerIndex from, const Promise& promise) {
    if (!see(promise.ballot)) return;
    if (phase_ != Phase::preparing || promise.ballot != ballot_) return;
    answered_ |= peer_bit(from);
    if (promise.accepted_ballot > best_accepted_ballot_) {
        best_accepted_ballot_ = promise.accepted_ballot;
        cut_ = promise.accepted_cut;
    }
    if (answer_count() >= majority()) {
        phase_ = Phase::accepting;
        answered_ = 0;
    }
}

// Phase 2b, first half: not yet accepted, because the blocks may have to be pulled first.
std::optional<Promise> Agreement::on_accept(const Accept& accept) {
    if (!see(accept.ballot) || accept.ballot < promised_) {
        return Promise{promised_, accepted_ballot_, accepted_cut_};
    }
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
    if (answer_count() >= majority()) decided_ = cut_;
}

}  // namespace ako
