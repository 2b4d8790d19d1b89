// See staleness_choice.h.
#include "src/rows/staleness_choice.h"

#include <algorithm>
#include <bit>

#include "src/numbers/printed_number.h"
#include "src/rows/staleness_bound.h"

namespace ako {

StalenessChoice::StalenessChoice(std::optional<unsigned> fixed, const Roster& roster,
                                 const Ledger& ledger)
    : fixed_(fixed), roster_(roster), ledger_(ledger) {
    waits_.rounds_max = fixed.value_or(1);
}

void StalenessChoice::look(Time now) {
    if (!keeps_step() || !chooses()) return said_.reset();
    if (said_ != waits_) begin_anew(now);
    const PeerSet left_out = waits_.left_out | unwilling();
    if (waits_now() && (!in_step() || left_out != waits_.left_out))
        return tell(waits_.rounds_max, left_out, now);
    if (fixed_) return;
    if (loses_already(now)) {
        if (phase_ != Phase::tries_waiting) return go_free(now);
        waiting_ = pace_since(newest_mark(), now);
        choose(false, now);
    } else if (const auto pace = measured(now)) {
        judge(*pace, now);
    }
}

// ---- who

bool StalenessChoice::chooses() const {
    for (PeerIndex peer = 0; peer < roster_.self(); ++peer) {
        const PeerView& view = roster_[peer];
        const bool takes_part = view.status && view.status->keeps_step;
        if (view.live() && takes_part && !view.joins() && !view.leaving()) return false;
        if (view.live()) continue;
        // It may be there for others, and choose.
        for (PeerIndex other = 0; other < roster_.peer_count(); ++other)
            if (roster_.reachable(other) && roster_[other].status &&
                (roster_[other].status->heartbeat.reached & peer_bit(peer)) != 0)
                return false;
    }
    return std::popcount(there()) > 1;
}

PeerSet StalenessChoice::there() const {
    PeerSet there = peer_bit(roster_.self());
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer)
        if (roster_.advancing(peer, own_round()) && !roster_[peer].joins()) there |= peer_bit(peer);
    return there;
}

bool StalenessChoice::in_step() const {
    const PeerSet there = this->there();
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const bool counts = peer != roster_.self() && (there & peer_bit(peer)) != 0;
        if (counts && roster_.reachable(peer) && waits_.between(roster_.self(), peer) &&
            !StalenessBound::in_step(waits_, roster_, peer))
            return false;
    }
    return true;
}

PeerSet StalenessChoice::unwilling() const {
    PeerSet found = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const std::optional<Status>& said = roster_[peer].status;
        if (said && !said->keeps_step) found |= peer_bit(peer);
    }
    return found;
}

PeerSet StalenessChoice::too_slow() const {
    Pace paces = free_;
    std::erase(paces, 0);
    std::ranges::sort(paces);
    PeerSet slow = unwilling();
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const bool is_slow = free_[peer] > 0 && free_[peer] < slow_share * paces[paces.size() / 2];
        if (is_slow) slow |= peer_bit(peer);
    }
    return slow;
}

PeerSet StalenessChoice::keep_up(const Pace& pace) const {
    double slowest = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const bool counts = pace[peer] > 0 && (waits_.left_out & peer_bit(peer)) == 0;
        if (counts) slowest = slowest > 0 ? std::min(slowest, pace[peer]) : pace[peer];
    }
    PeerSet found = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const bool may = (waits_.left_out & ~unwilling() & peer_bit(peer)) != 0;
        if (may && pace[peer] >= keeps_up_share * slowest) found |= peer_bit(peer);
    }
    return found;
}

bool StalenessChoice::rows_are_late() const {
    const PeerSet there = this->there();
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peer == roster_.self() || (there & peer_bit(peer)) == 0) continue;
        const Round held = ledger_.held(row_of(peer)).lowest.round;
        if (roster_[peer].announced > held + rows_late_max) return true;
        const Time way = roster_[peer].clock.round_trip().value_or(Time{0}) / 2;
        if (seconds_of(way) * free_[roster_.self()] > under_way_max) return true;
    }
    return false;
}

double StalenessChoice::mean_waited() const {
    const PeerSet there = this->there() & ~waits_.left_out;
    double sum = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if ((there & peer_bit(peer)) == 0) continue;
        const std::optional<Status>& said = roster_[peer].status;
        sum += peer == roster_.self() ? waited_tenths_ : said ? said->waited_tenths : 0;
    }
    return sum / std::popcount(there);
}

// ---- what is measured

StalenessChoice::Mark StalenessChoice::mark(Time now) const {
    Mark mark{now, there(), {}};
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer)
        mark.rounds.push_back(roster_[peer].announced);
    return mark;
}

void StalenessChoice::measure_anew(Time now) {
    since_ = mark(now);
    mark_.reset();
}

std::optional<StalenessChoice::Pace> StalenessChoice::measured(Time now) {
    const PeerIndex self = roster_.self();
    if (!mark_) {
        if (own_round() < since_.rounds[self] + settling) return std::nullopt;
        mark_ = mark(now);
        return std::nullopt;
    }
    if (own_round() < mark_->rounds[self] + stretch || now <= mark_->at) return std::nullopt;
    const Pace pace = pace_since(*mark_, now);
    mark_ = mark(now);
    return pace;
}

StalenessChoice::Pace StalenessChoice::pace_since(const Mark& mark, Time now) const {
    const PeerSet counts = mark.of & there();
    Pace pace(roster_.peer_count());
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if ((counts & peer_bit(peer)) == 0) continue;
        const auto made = static_cast<double>(roster_[peer].announced - mark.rounds[peer]);
        pace[peer] = made / seconds_of(now - mark.at);
    }
    return pace;
}

double StalenessChoice::sum(const Pace& pace, const Pace& other) {
    double sum = 0;
    for (std::size_t peer = 0; peer < std::min(pace.size(), other.size()); ++peer)
        if (other[peer] > 0) sum += pace[peer];
    return sum;
}

bool StalenessChoice::loses_already(Time now) const {
    if (!waits_now()) return false;
    const bool tried = phase_ == Phase::tries_waiting;
    const Pace& known = tried ? free_ : waiting_;
    const Mark& since = newest_mark();
    if (known.empty())  // nothing to compare with: it shows in how long they wait
        return now - since_.at > begins_within && mean_waited() > 10 * worth + 1;
    const PeerSet there = this->there();
    double made = 0, usual = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const bool counts = (since.of & ~waits_.left_out & peer_bit(peer)) != 0;
        const bool hangs = (there & peer_bit(peer)) == 0;
        if (!counts || hangs || known[peer] <= 0) continue;
        made += static_cast<double>(roster_[peer].announced - since.rounds[peer] + losing);
        usual += known[peer];
    }
    return made < (tried ? 1 - worth : slow_share) * usual * seconds_of(now - since.at);
}

// ---- what is chosen

void StalenessChoice::begin_anew(Time now) {
    phase_ = Phase::keeps;
    keeps_ = keeps_min;
    try_at_ = own_round() + (waits_now() ? keeps_min : 0);
    free_ = waiting_ = {};
    chose_waiting_ = waits_now();
    said_ = waits_;
    measure_anew(now);
}

void StalenessChoice::go_free(Time now) {
    phase_ = Phase::keeps;
    keeps_ = keeps_min;
    try_at_ = own_round();
    chose_waiting_ = false;
    tell(0, waits_.left_out, now);
}

void StalenessChoice::judge(const Pace& pace, Time now) {
    if (phase_ == Phase::tries_waiting) {
        waiting_ = pace;
        return choose(worth_it(), now);
    }
    if (waits_now()) return judge_waiting(pace, now);
    free_ = pace;
    if (phase_ == Phase::tries_free) {
        const PeerSet left_out = too_slow();
        if (left_out != waits_.left_out) return try_waiting(left_out, now);
        return choose(worth_it(), now);
    }
    if (own_round() >= try_at_) try_waiting(too_slow(), now);
}

void StalenessChoice::judge_waiting(const Pace& pace, Time now) {
    if (sum(pace, waiting_) < slow_share * sum(waiting_, pace)) return go_free(now);
    if (waiting_.empty()) waiting_ = pace;
    if (const PeerSet back = keep_up(pace)) return tell(1, waits_.left_out & ~back, now);
    if (own_round() < try_at_) return;
    waiting_ = pace;
    phase_ = Phase::tries_free;
    tell(0, waits_.left_out, now);
}

void StalenessChoice::try_waiting(PeerSet left_out, Time now) {
    const PeerSet there = this->there();
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer)  // those that stand still
        if (roster_[peer].live() && !roster_[peer].joins()) left_out |= peer_bit(peer) & ~there;
    if (2 * std::popcount(left_out & there) < std::popcount(there) && !rows_are_late()) {
        phase_ = Phase::tries_waiting;
        return tell(1, left_out, now);
    }
    // It is looked at again after the next stretch, which costs nothing.
    phase_ = Phase::keeps;
    chose_waiting_ = false;
}

void StalenessChoice::choose(bool waits, Time now) {
    keeps_ = waits == chose_waiting_ ? std::min(keeps_growth * keeps_, keeps_max) : keeps_min;
    try_at_ = own_round() + keeps_;
    chose_waiting_ = waits;
    phase_ = Phase::keeps;
    if (waits != waits_now())
        tell(waits ? 1 : 0, waits_.left_out, now);
    else
        measure_anew(now);
    const bool is_news = !newest_chosen_ || newest_chosen_->rounds_max != waits_.rounds_max ||
                         newest_chosen_->left_out != waits_.left_out;
    if (is_news) chosen_ = Chosen{waits_, sum(waiting_, free_), sum(free_, waiting_)};
    newest_chosen_ = waits_;
}

void StalenessChoice::tell(unsigned rounds_max, PeerSet left_out, Time now) {
    waits_ = {waits_.number + 1, rounds_max, left_out, {}};
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer)
        waits_.starts.push_back(roster_[peer].known_round());
    said_ = waits_;
    measure_anew(now);
}

std::string StalenessChoice::text(const Chosen& chosen,
                                  const std::vector<std::string>& peer_names) {
    const bool waits = chosen.waits.rounds_max > 0;
    std::string text =
        waits ? "all wait for the newest round of the others" : "nobody waits for the others";
    for (PeerIndex peer = 0; peer < peer_names.size(); ++peer)
        if (waits && (chosen.waits.left_out & peer_bit(peer)) != 0)
            text += ", but not for peer " + peer_names[peer] + ", which is slower";
    return text + ": together " + printed("%.1f", chosen.waiting) + " rounds/s with waiting, " +
           printed("%.1f", chosen.free) + " without";
}

}  // namespace ako
