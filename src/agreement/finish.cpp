// See finish.h.
#include "src/agreement/finish.h"

#include <algorithm>

#include "ako/assert.h"
#include "src/agreement/final_rows.h"

namespace ako {

Finish::Finish(const Ledger& ledger, const Roster& roster, const Send& send, FinishTimes times,
               std::uint64_t process_id)
    : ledger_(ledger),
      roster_(roster),
      times_(times),
      cut_(ledger, roster, send),
      movement_(roster.peer_count()),
      voter_(roster, cut_, movement_, send, times.exchange, process_id) {}

void Finish::begin(Time now) {
    begun_at_ = now;
    voter_.begin();
    movement_.agreement(now);
    movement_.here(now);
    cut_.ledger_changed();
}

void Finish::heard(PeerIndex peer, const Status& status, Time now) {
    movement_.heard(peer, status, now);
    voter_.heard(peer, status);
}

void Finish::handle(PeerIndex from, const Header& header, Time now) {
    if (const auto* want = std::get_if<WantCut>(&header)) {
        cut_.send_map(from, want->cut);
    } else if (const auto* row = std::get_if<CutRow>(&header)) {
        if (cut_.take_row(*row, now)) {
            movement_.here(now);
            movement_.agreement(now);
        }
    } else if (const auto* lack = std::get_if<Lack>(&header)) {
        cut_.lacks(from, *lack, now);
    } else {
        return voter_.handle(from, header, now);
    }
    voter_.keep_maps();
}

// ---- blocks

bool Finish::take(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
                  std::uint32_t checksum, Time now) {
    if (adopted() || cut_.holds(row, block, version)) return false;
    const bool named = cut_.names(voter_.wanted(), row, block, version);
    // What an owner streams comes once only, and the cut that is decided may name it.
    const bool may_be = frozen() && decided().none() && cut_.is_final(row, version);
    if (!named && !may_be) return false;
    if (named) movement_.agreement(now);
    movement_.here(now);
    if (!frozen() && ledger_.takes(row, block, version)) return false;  // goes into the ledger
    cut_.put(row, block, version, values, checksum);
    return true;
}

void Finish::ledger_changed(Time now) {
    if (!begun()) return;
    cut_.ledger_changed();
    movement_.here(now);
}

// ---- proposing

bool Finish::may_propose(Time now) const {
    if (!begun() || !has_vote() || !decided().none()) return false;
    if (now < propose_from_) return false;
    // What it proposes it freezes, and the others would have to adopt it once they meet again.
    if (!voter_.enough(roster_.reached() | peer_bit(roster_.self()))) return false;
    if (voter_.asks()) return voter_.outbids(now);
    const bool first = proposes_first();
    if (first && rows_complete(ledger_, roster_, cut_)) return true;
    const Time waited = now - *begun_at_;
    return waited > times_.exchange && (first || voter_.is_impatient(now));
}

bool Finish::proposes_first() const {
    for (PeerIndex peer = 0; peer < roster_.self(); ++peer) {
        const PeerView& view = roster_[peer];
        if (view.live() && !view.joins() && voter_.has_vote(peer)) return false;
    }
    return true;
}

void Finish::step(Time now) {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const std::optional<Status>& status = roster_[peer].status;
        if (status && !status->vote.decided.none()) voter_.learn(status->vote.decided);
    }
    if (adopted()) return;
    if (decided().none()) voter_.regain(now);
    if (!begun()) return;
    if (decided().none()) {
        if (may_propose(now)) voter_.propose(now);
        voter_.ask(now);
        voter_.accept(now);
        voter_.ask(now);  // a majority of one, or the answers just given, may have moved it on
    }
    if (!decided().none()) {
        cut_.freeze();
        ready_to_adopt_ = voter_.pull(decided(), now);
    }
}

void Finish::adopt_cut(Ledger& ledger, Time now) {
    AKO_ASSERT(ready_to_adopt_, "the cut is not complete");
    cut_.adopt(decided(), ledger);
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
    const bool is_decided = !decided().none();
    const bool enough_are_here = is_decided
                                     ? roster_.reached() != 0
                                     : voter_.enough(roster_.reached() | peer_bit(roster_.self()));
    if (!enough_are_here) return may_come;
    return is_decided || others_train ? 0 : unfinished;
}

}  // namespace ako
