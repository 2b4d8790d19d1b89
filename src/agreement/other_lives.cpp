// See other_lives.h.
#include "src/agreement/other_lives.h"

#include <algorithm>

#include "src/exchange/common_start.h"
#include "src/exchange/incarnation.h"

namespace ako {
namespace {

bool contains(const std::vector<Incarnation>& lives, Incarnation one) {
    return std::find(lives.begin(), lives.end(), one) != lives.end();
}

/// The oldest goes where there are too many.
void remember(std::vector<Incarnation>& lives, Incarnation one) {
    if (contains(lives, one)) return;
    if (lives.size() == OtherLives::lives_kept) lives.erase(lives.begin());
    lives.push_back(one);
}

}  // namespace

void OtherLives::resume(Incarnation own_row) {
    resumes_ = true;
    remember(on_disks_, own_row);
}

bool OtherLives::heard(PeerIndex peer, const Status& status, bool may_vote) {
    const PeerIndex self = roster_.self();
    const bool is_first = (may_have_voted_ & peer_bit(self)) == 0;
    may_have_voted_ |= status.vote.may_have_voted;
    const bool had_voted = is_first && !may_vote && (may_have_voted_ & peer_bit(self)) != 0;
    const Version own_row = status.rows[row_of(self)].highest;
    const Round said = std::max(status.standing.progress[self].round, own_row.round);
    const bool had_trained = said > std::max(roster_[self].announced, rounds_of_earlier_);
    if (had_trained) rounds_of_earlier_ = said;
    const bool beside = resumes_beside(peer, status, may_vote);
    const bool from_disk = beside && !may_vote;
    if (from_disk) remember(on_disks_, own_row.incarnation);
    const bool is_known =
        (beside || status.start.resuming) && contains(on_disks_, own_row.incarnation);
    const bool had_row = !is_known && is_new(own_row.incarnation);
    return had_voted || (had_trained && !from_disk) || had_row;
}

bool OtherLives::resumes_beside(PeerIndex peer, const Status& status, bool may_vote) {
    // One that goes on if anybody does may not have heard of anybody yet.
    const bool starts = status.start.resuming || begins_anew(status, peer);
    const bool comes_in = status.start.joining && !status.start.resuming;
    if (resumes_ && !may_vote && (starts || comes_in))
        beside_[peer] = starts ? status.heartbeat.process_id : 0;
    return status.heartbeat.process_id != 0 && beside_[peer] == status.heartbeat.process_id;
}

bool OtherLives::is_new(Incarnation own_row) {
    if (own_row == 0 || process_of(own_row) == process_of(process_id_)) return false;
    if (contains(others_, own_row)) return false;
    remember(others_, own_row);
    return true;
}

}  // namespace ako
