// See ako_word.h.
#include "src/modes/ako_word.h"

#include "src/exchange/coverage.h"

namespace ako {

void AkoWord::post(bool urgent, const End& end) {
    Status status;
    status.standing.loss = loss_;
    status.standing.progress = parts_.roster.progress();
    const Ledger& ledger = parts_.rows.ledger();
    for (const RowIndex row : ledger.all()) status.rows.push_back(ledger.held(row));
    status.waits = parts_.staleness.waits();
    status.keeps_step = parts_.staleness.keeps_step();
    status.waited_tenths = parts_.staleness.waited();
    status.standing.stop = parts_.stop.reason();
    status.standing.asked = parts_.stop.asked();
    status.start.joining = parts_.beginning.takes_in() && !end.leaves;
    status.heartbeat.process_id = parts_.settings.process_id;
    status.start.resuming =
        parts_.beginning.goes_on() && parts_.beginning.state() != AkoBeginning::State::begun;
    status.start.run_id = parts_.beginning.run_id();
    if (status.start.resuming) status.start.checkpoints = parts_.settings.checkpoints;
    status.start.initial = parts_.initial.said();
    status.standing.batch_doublings = static_cast<std::uint8_t>(parts_.budget.doublings());
    if ((end.finishes || end.leaves) && parts_.rows.claimed())
        status.standing.final_round = parts_.budget.round();
    status.standing.leaving = end.leaves;
    if (parts_.settings.coverage != nullptr) status.covered = parts_.settings.coverage->said();
    status.vote.accepted = parts_.finish.accepted();
    status.vote.decided = parts_.finish.decided();
    status.standing.digest = parts_.finish.digest();
    status.standing.verdict = verdict_;
    status.vote.cut_blocks =
        parts_.initial.known() ? parts_.finish.cut().held() : parts_.initial.held();
    status.vote.has_vote = parts_.finish.has_vote();
    status.vote.may_have_voted = parts_.finish.voter().may_have_voted();
    if (!urgent && posted_ == status) return;  // what is no news waits for the next heartbeat
    if (urgent) parts_.budget.told();
    posted_ = status;
    parts_.mailbox.post(std::move(status), urgent);
}

}  // namespace ako
