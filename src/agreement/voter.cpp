// See voter.h.
#include "src/agreement/voter.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace ako {

Voter::Voter(const Roster& roster, CutPuller& cut, Movement& movement, Send send, Time exchange,
             std::uint64_t process_id)
    : roster_(roster),
      cut_(cut),
      movement_(movement),
      send_(std::move(send)),
      exchange_(exchange),
      agreement_(roster.self(), roster.peer_count(), process_id),
      lives_(roster, process_id) {}

// ---- the vote

void Voter::heard(PeerIndex peer, const Status& status) {
    if (lives_.heard(peer, status, may_vote())) lose_vote();
}

void Voter::lose_vote() {
    if (!has_vote()) return;  // what is asked for already, comes as soon
    agreement_.lose_vote();
    asked_for_vote_ = 0;
    asked_for_vote_at_.reset();
}

bool Voter::has_vote(PeerIndex peer) const {
    if (peer == roster_.self()) return has_vote();
    const std::optional<Status>& status = roster_[peer].status;
    return !status || status->vote.has_vote;
}

bool Voter::enough(PeerSet peers) const {
    PeerSet votes = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if ((peers & peer_bit(peer)) != 0 && has_vote(peer)) votes |= peer_bit(peer);
    }
    return agreement_.enough(static_cast<std::size_t>(std::popcount(peers)),
                             static_cast<std::size_t>(std::popcount(votes)));
}

PeerSet Voter::may_have_voted() const {
    return lives_.may_have_voted() | (may_vote() ? peer_bit(roster_.self()) : 0);
}

bool Voter::may_vote_on(PeerIndex from) const {
    if (from == roster_.self()) return true;
    // The first Status of another may show that this process is a later life, and what was meant
    // for an earlier one may come before it.
    return may_vote() && roster_[from].status;
}

void Voter::regain(Time now) {
    if (has_vote()) return;
    if (!voteless_since_) voteless_since_ = now;
    if (!may_vote() && now - *voteless_since_ < turned_away_within) return;
    ask_for_vote(now);
    ask(now);
    const CutId to_hold = agreement_.to_hold();
    if (!begun_ || to_hold.none() || !pull(to_hold, now)) return;
    cut_.freeze();  // what it answers for must stay held
    agreement_.hold();
}

void Voter::ask_for_vote(Time now) {
    // Two peers that regain theirs at once are not to outbid each other for ever, nor a proposer.
    const Time answer = roster_.answer_time();
    const Time wait = (answer + answer * roster_.self() / 4) * (1 << std::min(asked_for_vote_, 4u));
    const bool holds_up = !agreement_.to_hold().none() && is_impatient(now);
    const bool over =
        agreement_.outstanding() ? agreement_.outbid() : agreement_.to_hold().none() || holds_up;
    // It waits until the agreement is quiet, for what was just proposed may need no more votes;
    // but not for ever, for others may outbid each other meanwhile.
    if (!over) vote_came_to_nothing_at_ = now;
    const Time quiet_since =
        std::min(movement_.agreement_at(), vote_came_to_nothing_at_ + 4 * wait);
    if (asked_for_vote_at_ && !(over && now - std::max(*asked_for_vote_at_, quiet_since) > wait))
        return;
    agreement_.ask_for_vote();
    ++asked_for_vote_;
    asked_for_vote_at_ = now;
}

// ---- questions

bool Voter::outbids(Time now) const {
    // A peer that asks for its vote is let have it, for it may be the one that lacks: as long as
    // two answers take, and then twice as long for each time that it came to nothing.
    const Time vote_comes_in = roster_.answer_time() * (1 << std::min(proposals_, 4u));
    const bool again = agreement_.outbid_by_vote() &&
                       (has_vote(agreement_.highest_seen().proposer) || quiet(now) > vote_comes_in);
    return again || is_impatient(now);
}

Time Voter::patience() const {
    // Stagger by place, so that two who lost patience together do not outbid each other for ever.
    const Time answer = roster_.answer_time();
    return (std::max(exchange_ / 4, answer) + answer * roster_.self()) *
           (1 << std::min(proposals_, 4u));
}

void Voter::propose(Time now) {
    cut_.freeze();
    ++proposals_;
    const Ballot ballot = agreement_.propose();
    cut_.make_map(ballot);
    movement_.agreement(now);
    asked_.reset();
}

void Voter::ask(Time now) {
    const std::optional<Header> question = agreement_.outstanding();
    if (!question) return;
    const bool is_new = !asked_ || *asked_ != *question;
    if (!is_new && now < *asked_at_ + ask_again_in_) return;
    // Pulling what is to be accepted takes far longer than an answer does.
    const Time answer = roster_.answer_time();
    const Time slowest = std::max(answer, roster_.answer_time_at_first());
    ask_again_in_ = is_new ? answer : std::min(2 * ask_again_in_, slowest);
    asked_ = question;
    asked_at_ = now;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (agreement_.answered(peer)) continue;
        if (peer == roster_.self()) {
            if (has_vote()) deliver(peer, *question, now);
        } else if (roster_.reachable(peer)) {
            send_(peer, *question);
        }
    }
}

// ---- answers

void Voter::handle(PeerIndex from, const Header& header, Time now) {
    const auto state = [&] {
        return std::tuple(agreement_.highest_seen(), agreement_.outstanding(),
                          agreement_.answered(from), agreement_.pending(), agreement_.accepted(),
                          agreement_.decided());
    };
    const auto before = state();
    if (const auto* prepare = std::get_if<Prepare>(&header)) {
        handle_prepare(from, *prepare, now);
    } else if (const auto* promise = std::get_if<Promise>(&header)) {
        handle_promise(from, *promise, now);
    } else if (const auto* accept = std::get_if<Accept>(&header)) {
        handle_accept(from, *accept, now);
    } else if (const auto* accepted = std::get_if<Accepted>(&header)) {
        if (may_have_voted(from) || agreement_.has_regained(from))
            agreement_.on_accepted(from, *accepted);
    }
    keep_maps();
    // What only repeats itself moves nothing on: a proposer that was outbid asks again and is
    // refused again, and if that counted, nobody would ever lose patience and propose anew.
    if (from != roster_.self() && state() != before) movement_.agreement(now);
}

void Voter::handle_prepare(PeerIndex from, const Prepare& prepare, Time now) {
    // A vote that is asked for again and again is not to outbid what is being pulled: the one who
    // asks needs the decision more than the vote.
    const bool pulls = agreement_.pending() && !is_impatient(now);
    if (!may_vote_on(from) || (prepare.regains && pulls)) return;
    answer(from, agreement_.on_prepare(prepare), now);
}

void Voter::handle_promise(PeerIndex from, Promise promise, Time now) {
    const bool regained = !promise.votes.empty() && !promise.votes[from].none();
    promise.has_vote = promise.has_vote && (may_have_voted(from) || regained);
    if (const auto told = agreement_.on_promise(from, promise)) answer(from, *told, now);
}

void Voter::handle_accept(PeerIndex from, const Accept& accept, Time now) {
    if (!may_vote_on(from)) return;
    const bool is_new = agreement_.pending() != accept;
    if (const std::optional<Promise> newer = agreement_.on_accept(accept)) {
        answer(from, *newer, now);
    } else {
        if (is_new) cut_.ask_for_map_again();
        this->accept(now);
    }
}

void Voter::accept(Time now) {
    if (!begun_) return;  // one more round would replace what was accepted
    const std::optional<Accept> pending = agreement_.pending();
    if (!pending || !pull(pending->cut, now)) return;
    cut_.freeze();  // what was accepted must stay held
    deliver(pending->ballot.proposer, agreement_.accept_pending(), now);
}

void Voter::answer(PeerIndex proposer, const Promise& promise, Time now) {
    // A promise of no ballot is none: the one that was asked about is not plausible, or this peer
    // has only asked for its vote.
    if (!promise.ballot.none()) deliver(proposer, promise, now);
}

void Voter::deliver(PeerIndex to, Header header, Time now) {
    if (to == roster_.self()) {
        handle(to, header, now);
    } else {
        send_(to, std::move(header));
    }
}

// ---- the cut

CutId Voter::wanted() const {
    if (!agreement_.decided().none()) return agreement_.decided();
    return agreement_.pending() ? agreement_.pending()->cut : agreement_.to_hold();
}

bool Voter::pull(CutId cut, Time now) {
    const std::optional<Accept> pending = agreement_.pending();
    return cut_.pull(cut, pending ? peer_bit(pending->ballot.proposer) : 0, now);
}

void Voter::keep_maps() {
    const std::optional<Accept> pending = agreement_.pending();
    cut_.keep_maps({agreement_.proposed(), agreement_.accepted(), agreement_.decided(),
                    pending ? pending->cut : CutId{}});
}

}  // namespace ako
