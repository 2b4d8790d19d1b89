// See finish.h.
#include "src/agreement/finish.h"

#include <algorithm>
#include <bit>

#include "ako/assert.h"
#include "src/exchange/incarnation.h"

namespace ako {
namespace {

bool contains(const std::vector<Incarnation>& lives, Incarnation one) {
    return std::find(lives.begin(), lives.end(), one) != lives.end();
}

/// The oldest goes where there are too many.
void remember(std::vector<Incarnation>& lives, Incarnation one) {
    if (contains(lives, one)) return;
    if (lives.size() == Finish::lives_kept) lives.erase(lives.begin());
    lives.push_back(one);
}

}  // namespace

Finish::Finish(const Ledger& ledger, const Roster& roster, Send send, FinishTimes times,
               std::uint64_t process_id)
    : ledger_(ledger),
      roster_(roster),
      send_(send),
      times_(times),
      process_id_(process_id),
      agreement_(roster.self(), roster.peer_count(), process_id),
      cut_(ledger, roster, std::move(send)),
      movement_(roster.peer_count()),
      beside_(roster.peer_count()) {}

void Finish::begin(Time now) {
    begun_at_ = now;
    heard_at_ = now;
    movement_.here(now);
    cut_.ledger_changed();
}

void Finish::heard(PeerIndex peer, const Status& status, Time now) {
    movement_.heard(peer, status, now);
    const PeerIndex self = roster_.self();
    const bool is_first = (heard_of_ & peer_bit(self)) == 0;
    heard_of_ |= status.vote.may_have_voted;
    const bool had_voted = is_first && !may_vote() && (heard_of_ & peer_bit(self)) != 0;
    const Round said =
        std::max(status.standing.progress[self].round, status.rows[ledger_.own()].highest.round);
    const bool had_trained = said > std::max(roster_[self].announced, rounds_of_earlier_);
    if (had_trained) rounds_of_earlier_ = said;
    const Incarnation life = status.rows[ledger_.own()].highest.incarnation;
    const bool beside = resumes_beside(peer, status);
    const bool from_disk = beside && !may_vote();
    if (from_disk) remember(earlier_lives_, life);
    const bool known_life = (beside || status.start.resuming) && contains(earlier_lives_, life);
    const bool had_life = !known_life && is_of_another_life(life);
    if (had_voted || (had_trained && !from_disk) || had_life) lose_vote();
}

void Finish::resume(Incarnation own_row) {
    resumes_ = true;
    remember(earlier_lives_, own_row);
}

bool Finish::resumes_beside(PeerIndex peer, const Status& status) {
    if (resumes_ && status.start.resuming && !may_vote())
        beside_[peer] = status.heartbeat.process_id;
    return status.heartbeat.process_id != 0 && beside_[peer] == status.heartbeat.process_id;
}

bool Finish::is_of_another_life(Incarnation own_row) {
    if (own_row == 0 || process_of(own_row) == process_of(process_id_)) return false;
    if (contains(other_lives_, own_row)) return false;
    remember(other_lives_, own_row);
    return true;
}

// ---- blocks

bool Finish::take(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
                  std::uint32_t checksum, Time now) {
    if (adopted() || cut_.holds(row, block, version)) return false;
    CutId wanted = agreement_.decided();
    if (wanted.none() && agreement_.pending()) wanted = agreement_.pending()->cut;
    if (wanted.none()) wanted = agreement_.to_hold();
    const bool named = cut_.names(wanted, row, block, version);
    // What an owner streams comes once only, and the cut that is decided may name it.
    const bool may_be = frozen_ && agreement_.decided().none() && cut_.is_final(row, version);
    if (!named && !may_be) return false;
    if (named) heard_at_ = now;
    movement_.here(now);
    if (!frozen_ && ledger_.takes(row, block, version)) return false;  // goes into the ledger
    cut_.put(row, block, version, values, checksum);
    return true;
}

void Finish::ledger_changed(Time now) {
    if (!begun()) return;
    cut_.ledger_changed();
    movement_.here(now);
}

bool Finish::pull(CutId cut, Time now) {
    return cut_.pull(
        cut, agreement_.pending() ? peer_bit(agreement_.pending()->ballot.proposer) : 0, now);
}

// ---- the vote

void Finish::lose_vote() {
    if (!has_vote()) return;  // what is asked for already, comes as soon
    agreement_.lose_vote();
    asked_for_vote_ = 0;
    asked_for_vote_at_.reset();
}

bool Finish::has_vote(PeerIndex peer) const {
    if (peer == roster_.self()) return has_vote();
    const std::optional<Status>& status = roster_[peer].status;
    return !status || status->vote.has_vote;
}

bool Finish::enough(PeerSet peers) const {
    PeerSet votes = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if ((peers & peer_bit(peer)) != 0 && has_vote(peer)) votes |= peer_bit(peer);
    }
    return agreement_.enough(static_cast<std::size_t>(std::popcount(peers)),
                             static_cast<std::size_t>(std::popcount(votes)));
}

void Finish::regain(Time now) {
    if (has_vote()) return;
    if (!voteless_since_) voteless_since_ = now;
    if (!may_vote() && now - *voteless_since_ < turned_away_within) return;
    // Two who regain theirs at once are not to outbid each other for ever, nor a proposer.
    const Time ask = roster_.answer_time();
    const Time wait = (ask + ask * roster_.self() / 4) * (1 << std::min(asked_for_vote_, 4u));
    const bool holds_up = !agreement_.to_hold().none() && quiet(now) > patience();
    const bool over =
        agreement_.outstanding() ? agreement_.outbid() : agreement_.to_hold().none() || holds_up;
    // It waits until the agreement is quiet, for what was just proposed may need no more votes;
    // but not for ever, for others may outbid each other meanwhile.
    if (!over) vote_came_to_nothing_at_ = now;
    const Time quiet_since = std::min(heard_at_, vote_came_to_nothing_at_ + 4 * wait);
    if (!asked_for_vote_at_ || (over && now - std::max(*asked_for_vote_at_, quiet_since) > wait)) {
        agreement_.ask_for_vote();
        ++asked_for_vote_;
        asked_for_vote_at_ = now;
    }
    push_agreement(now);
    const CutId to_hold = agreement_.to_hold();
    if (!begun() || to_hold.none() || !pull(to_hold, now)) return;
    frozen_ = true;  // what it answers for must stay held
    agreement_.hold();
}

// ---- proposing

bool Finish::settled(RowIndex row) const {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peer == roster_.self() || peer == owner_of(row) || !roster_.reachable(peer)) continue;
        const std::optional<Status>& status = roster_[peer].status;
        const RowHeld& held = ledger_.held(row);
        // Who joins takes in the row from others, and counts for what only it may hold.
        if (roster_[peer].joins() && (!status || status->rows[row].highest <= held.highest))
            continue;
        if (!status || status->rows[row].map_checksum != held.map_checksum) return false;
    }
    return true;
}

bool Finish::final_round_comes(RowIndex row) const {
    const PeerView& view = roster_[owner_of(row)];
    if (!view.live() || view.joins()) return false;
    // Blocks run ahead of what its Status says of them, but not into another life.
    return !view.status || view.status->vote.has_vote ||
           view.status->rows[row].highest.incarnation >= ledger_.held(row).highest.incarnation;
}

bool Finish::own_row_here() const {
    const RowHeld& held = ledger_.held(ledger_.own());
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const std::optional<Status>& status = roster_[peer].status;
        if (peer == roster_.self() || !roster_.reachable(peer) || !status) continue;
        const RowHeld& theirs = status->rows[ledger_.own()];
        if (theirs.highest > held.highest || theirs.lowest > held.lowest) return false;
    }
    return true;
}

bool Finish::complete() const {
    for (const RowIndex row : ledger_.all()) {
        const PeerView& view = roster_[owner_of(row)];
        if (row == ledger_.own()) {
            if (!own_row_here()) return false;
            continue;
        }
        // Who joins may still begin to train, until it has heard of the stop.
        if (view.live() && view.joins() &&
            !(view.status && view.status->standing.stop != StopReason::none))
            return false;
        if (!final_round_comes(row)) {
            if (!settled(row)) return false;
            continue;
        }
        const std::optional<Version> last = view.final_version();
        if (!last) return false;
        // What another process has made of the row: that of this one comes no more.
        if (ledger_.held(row).lowest > *last || ledger_.begun_apart(row, last->incarnation))
            continue;
        // What a frozen peer has been sent lies beside its ledger.
        if (ledger_.held(row).lowest != *last && !(frozen_ && cut_.holds_row(row, *last)))
            return false;
    }
    return true;
}

bool Finish::may_propose(Time now) const {
    if (!begun() || !has_vote() || !agreement_.decided().none()) return false;
    if (now < propose_from_) return false;
    // What it proposes it freezes, and the others would have to adopt it once they meet again.
    if (!enough(roster_.reached() | peer_bit(roster_.self()))) return false;
    const Time quiet = this->quiet(now);
    const Time patience = this->patience();
    // Whoever asks for its vote is let have it, for it may be the one that lacks: as long as two
    // answers take, and then twice as long for each time that it came to nothing.
    const Time vote_comes_in = roster_.answer_time() * (1 << std::min(proposals_, 4u));
    const bool again = agreement_.outbid_by_vote() &&
                       (has_vote(agreement_.highest_seen().proposer) || quiet > vote_comes_in);
    if (agreement_.outstanding()) return again || quiet > patience;
    const bool first = proposes_first();
    if (first && complete()) return true;
    const Time waited = now - *begun_at_;
    return waited > times_.exchange && (first || quiet > patience);
}

bool Finish::proposes_first() const {
    for (PeerIndex peer = 0; peer < roster_.self(); ++peer) {
        const PeerView& view = roster_[peer];
        if (view.live() && !view.joins() && has_vote(peer)) return false;
    }
    return true;
}

Time Finish::quiet(Time now) const {
    // Who pulls what was proposed is not to be outbid.
    return now - std::max(heard_at_, movement_.newest_pull());
}

Time Finish::patience() const {
    // Stagger by place, so that two who lost patience together do not outbid each other for ever.
    const Time ask = roster_.answer_time();
    return (std::max(times_.exchange / 4, ask) + ask * roster_.self()) *
           (1 << std::min(proposals_, 4u));
}

void Finish::propose(Time now) {
    frozen_ = true;
    ++proposals_;
    const Ballot ballot = agreement_.propose();
    cut_.make_map(ballot);
    heard_at_ = now;
    asked_.reset();
}

void Finish::push_agreement(Time now) {
    const std::optional<Header> question = agreement_.outstanding();
    if (!question) return;
    const bool is_new = !asked_ || *asked_ != *question;
    if (!is_new && now < *asked_at_ + ask_again_in_) return;
    // Who pulls what it is to accept takes far longer than its answers do.
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

void Finish::deliver(PeerIndex to, Header header, Time now) {
    if (to == roster_.self()) {
        handle(to, header, now);
    } else {
        send_(to, std::move(header));
    }
}

// ---- messages

bool Finish::may_vote_on(PeerIndex from) const {
    if (from == roster_.self()) return true;
    // The first Status of another may show that this process is a later life, and what was meant
    // for an earlier one may come before it.
    return may_vote() && roster_[from].status;
}

bool Finish::may_vote() const { return begun() || roster_[roster_.self()].announced > 0; }

PeerSet Finish::may_have_voted() const {
    return heard_of_ | (may_vote() ? peer_bit(roster_.self()) : 0);
}

void Finish::handle_prepare(PeerIndex from, const Prepare& prepare, Time now) {
    // A vote that is asked for again and again is not to outbid what is being pulled: the one who
    // asks needs the decision more than the vote.
    const bool pulls = agreement_.pending() && quiet(now) <= patience();
    if (!may_vote_on(from) || (prepare.regains && pulls)) return;
    answer(from, agreement_.on_prepare(prepare), now);
}

void Finish::handle_accept(PeerIndex from, const Accept& accept, Time now) {
    if (!may_vote_on(from)) return;
    const bool is_new = agreement_.pending() != accept;
    if (const std::optional<Promise> newer = agreement_.on_accept(accept)) {
        answer(from, *newer, now);
    } else {
        if (is_new) cut_.ask_for_map_again();
        try_accept(now);
    }
}

void Finish::handle_promise(PeerIndex from, Promise promise, Time now) {
    const bool regained = !promise.votes.empty() && !promise.votes[from].none();
    promise.has_vote = promise.has_vote && (may_have_voted(from) || regained);
    if (const auto told = agreement_.on_promise(from, promise)) answer(from, *told, now);
}

void Finish::answer(PeerIndex proposer, const Promise& promise, Time now) {
    // Of no ballot: none was promised here, for the one that was asked about is not plausible, or
    // this peer has only asked for its vote.
    if (!promise.ballot.none()) deliver(proposer, promise, now);
}

void Finish::handle(PeerIndex from, const Header& header, Time now) {
    const auto state = [&] {
        return std::tuple(agreement_.highest_seen(), agreement_.outstanding(),
                          agreement_.answered(from), agreement_.pending(), agreement_.accepted(),
                          agreement_.decided());
    };
    const auto before = state();
    const bool is_news = handle_message(from, header, now);
    keep_maps();
    // What only repeats itself moves nothing on: a proposer that was outbid asks again and is
    // refused again, and if that counted, nobody would ever lose patience and propose anew.
    if (from != roster_.self() && (is_news || state() != before)) heard_at_ = now;
}

bool Finish::handle_message(PeerIndex from, const Header& header, Time now) {
    if (const auto* prepare = std::get_if<Prepare>(&header)) {
        handle_prepare(from, *prepare, now);
    } else if (const auto* promise = std::get_if<Promise>(&header)) {
        handle_promise(from, *promise, now);
    } else if (const auto* accept = std::get_if<Accept>(&header)) {
        handle_accept(from, *accept, now);
    } else if (const auto* accepted = std::get_if<Accepted>(&header)) {
        if (may_have_voted(from) || agreement_.has_regained(from))
            agreement_.on_accepted(from, *accepted);
    } else if (const auto* want = std::get_if<WantCut>(&header)) {
        cut_.send_map(from, want->cut);
    } else if (const auto* row = std::get_if<CutRow>(&header)) {
        const bool is_news = cut_.take_row(*row, now);
        if (is_news) movement_.here(now);
        return is_news;
    } else if (const auto* lack = std::get_if<Lack>(&header)) {
        cut_.lacks(from, *lack, now);
    }
    return false;
}

void Finish::keep_maps() {
    const std::optional<Accept> pending = agreement_.pending();
    cut_.keep_maps({agreement_.proposed(), agreement_.accepted(), agreement_.decided(),
                    pending ? pending->cut : CutId{}});
}

void Finish::try_accept(Time now) {
    if (!begun()) return;  // one more round would replace what was accepted
    const std::optional<Accept> pending = agreement_.pending();
    if (!pending || !pull(pending->cut, now)) return;
    frozen_ = true;  // what was accepted must stay held
    deliver(pending->ballot.proposer, agreement_.accept_pending(), now);
}

void Finish::step(Time now) {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const std::optional<Status>& status = roster_[peer].status;
        if (status && !status->vote.decided.none()) agreement_.learn(status->vote.decided);
    }
    if (adopted()) return;
    if (agreement_.decided().none()) regain(now);
    if (!begun()) return;
    if (agreement_.decided().none()) {
        if (may_propose(now)) propose(now);
        push_agreement(now);
        try_accept(now);
        push_agreement(now);  // a majority of one, or the answers just given, may have moved it on
    }
    if (!agreement_.decided().none()) {
        frozen_ = true;
        ready_to_adopt_ = pull(agreement_.decided(), now);
    }
}

void Finish::adopt_cut(Ledger& ledger, Time now) {
    AKO_ASSERT(ready_to_adopt_, "the cut is not complete");
    cut_.adopt(agreement_.decided(), ledger);
    ready_to_adopt_ = false;
    adopted_at_ = now;
}

// ---- how long

Time Finish::bound() const {
    return times_.timeout +
           roster_.answer_time_at_first() * asks_per_block *
               static_cast<Time::rep>(ledger_.row_count() * ledger_.blocks().count());
}

bool Finish::timed_out(Time now) const {
    if (adopted() || !begun()) return false;
    return now - movement_.newest() > times_.timeout || now - *begun_at_ > bound();
}

bool Finish::done(Time now, bool hurried) const {
    if (!adopted()) return false;
    return now - *begun_at_ > bound() + times_.linger || awaited(now, hurried) == 0;
}

PeerSet Finish::awaited(Time now, bool hurried) const {
    PeerSet awaited = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const PeerView& view = roster_[peer];
        if (peer == roster_.self() || view.presence == Presence::left) continue;
        if (view.presence == Presence::gone) continue;
        // One that this peer has not met may have trained with others.
        const bool trained = ledger_.held(row_of(peer)).highest.round > 0;
        if (view.presence == Presence::absent && !trained) continue;
        if (hurried && !view.live()) continue;
        if (view.status && view.status->standing.digest) continue;
        // A live one that moves still needs this peer, and a lost one may come back for the cut.
        const Time moved_at = view.live() ? movement_.of(peer) : Time{0};
        if (now <= std::max(adopted_at_, moved_at) + times_.linger) awaited |= peer_bit(peer);
    }
    return awaited;
}

PeerSet Finish::missed(Time now) const {
    if (!adopted()) return missed_before_the_cut();
    const PeerSet awaited = this->awaited(now, false);
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if ((awaited & peer_bit(peer)) == 0 || !roster_.reachable(peer)) continue;
        const Time moved_at = std::max(adopted_at_, movement_.of(peer));
        if (now - moved_at <= roster_.answer_time_at_first() * asks_per_block) return 0;
    }
    return awaited;
}

PeerSet Finish::missed_before_the_cut() const {
    PeerSet may_come = 0;
    PeerSet unfinished = 0;  // and not known to be lost yet
    bool others_train = false;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const PeerView& view = roster_[peer];
        if (peer == roster_.self()) continue;
        if (roster_.reachable(peer)) {
            others_train = others_train || !view.final_round;
        } else if (view.presence != Presence::left && view.presence != Presence::gone) {
            may_come |= peer_bit(peer);
            if (view.live() && !view.final_round) unfinished |= peer_bit(peer);
        }
    }
    const bool decided = !agreement_.decided().none();
    const bool enough_are_here =
        decided ? roster_.reached() != 0 : enough(roster_.reached() | peer_bit(roster_.self()));
    if (!enough_are_here) return may_come;
    return decided || others_train ? 0 : unfinished;
}

}  // namespace ako
