# Mutants: deliberately broken copies of the program, each of which the simulator must notice, or else its
# checker sleeps; those of the network layer, which it does not have, that layer's own tests must notice. Each
# is a list of exact replacements in copies of source files; a text that is not found exactly once fails the
# build, so that a mutant can not fall out of use unseen.
#
# They are built and run by deploy/test --long. All of them died when it was last run, on 2026-11-28; whoever changes
# the checker, or a test that alone catches one, runs them again.
#
#   mutant(NAME PROGRAM ARGUMENTS EXPECTED)   run so, it ends with exit status 1 and prints EXPECTED, a regex
#   mutation(FILE FROM TO)                    of the mutant named last
#
# Read twice: by CMakeLists.txt, which makes a program and a test of each, and by mutate.cmake.

mutant(sum_instead_of_difference simulate "--count;400" "violated: I3")
mutation(src/rows/replica.cpp
    [=[return replica + weight * (new_value - old_value);]=]
    [=[return replica + weight * (new_value + 0.0f * old_value);]=])

# What is far beyond all that was usual is given all the same.
mutant(growth_not_refused simulate "--count;400" "violated: I9")
mutation(src/exchange/growth_watch.cpp
    [=[    const bool sudden = usual > 0 && norm > growth_max_ * usual;]=]
    [=[    const bool sudden = usual > 0 && norm > growth_max_ * growth_max_ * growth_max_ * usual;]=])

# Growth by a little in each round is not held against the others.
mutant(creeping_growth_not_seen simulate "--growth;--count;3" "violated: not all was as it should be")
mutation(src/exchange/growth_watch.cpp
    [=[    const bool creeping = known && known->many && norm > growth_max_ * median;]=]
    [=[    const bool creeping = known && !known->many && norm > growth_max_ * median * usual;]=])

# What came from another peer is sent on as if this peer had learned it.
mutant(row_echo simulate "--count;400" "violated: I1: row [0-9]+ is not the sum of its owner's updates")
mutation(src/rows/rows.cpp
    [=[        own_row_.add(block, snapshots_[*current_], update, snapshots_[*next_], difference);]=]
    [=[
        const RowIndex other = ledger_.own() == RowIndex(0) ? RowIndex(1) : RowIndex(0);
        for (std::size_t k = 0; k < range.count; ++k) update[k] += 0.01f * ledger_.block(other, block)[k];
        own_row_.add(block, snapshots_[*current_], update, snapshots_[*next_], difference);]=])

# What rounding cuts off never comes.
mutant(rounding_lost simulate "--count;400" "violated: I1: row [0-9]+ is not the sum of its owner's updates")
mutation(src/rows/own_row.cpp
    [=[        carry[k] -= difference[k];]=]
    [=[        carry[k] = 0.0f * difference[k];]=])
mutant(version_ignored simulate "--count;400" "violated: I5")
mutation(src/rows/ledger.cpp
    [=[    if (!takes(row, block, version)) return BlockCheck::late;]=]
    [=[    if (version == this->version(row, block)) return BlockCheck::late;]=])
mutation(src/rows/ledger.cpp
    [=[    AKO_ASSERT(takes(row, block, version), "a version would fall: " + at(row, block));]=]
    [=[    (void)at;]=])

# A peer that begins to advance for the second time is stood in for from its first time on.
mutant(marks_not_reset simulate "--count;400" "violated: I3")
mutation(src/rows/replica.cpp
    [=[    if (marks.state == Marks::State::none) {
        mark_own_row(marks);]=]
    [=[    if (marks.state == Marks::State::none) {
        if (marks.values.empty()) mark_own_row(marks);]=])

# The proposer takes its own acceptance for everybody's.
mutant(cut_fixed_by_the_first_who_thinks_so simulate "--count;2000" "violated: I[28]")
mutation(src/agreement/agreement.cpp
    [=[if (answer_count() >= majority()) learn(cut_);]=]
    [=[if (from == self_) decided_ = cut_;]=])

# A cut is accepted before its blocks are held, so that it may die with its proposer ...
mutant(accepted_without_holding simulate "--count;400" "violated: ")
mutation(src/agreement/voter.cpp
    [=[    if (!pending || !pull(pending->cut, now)) return;]=]
    [=[    if (!pending) return;
    pull(pending->cut, now);]=])

# ... and so it may when what was accepted is replaced by something newer.
mutant(accepted_without_freezing simulate "--count;2000" "violated: I8: peer [0-9]+ has accepted the cut")
mutation(src/agreement/voter.cpp
    [=[    cut_.freeze();  // what was accepted must stay held
]=]
    [=[]=])

# The peers keep what is newer than the cut.
mutant(cut_does_not_override simulate "--count;400" "violated: I[28]")
mutation(src/agreement/cut_puller.cpp
    [=[            if (ledger.version(row, block) == version) continue;]=]
    [=[            if (ledger.version(row, block) >= version) continue;]=])

# The memory of a snapshot is written again while frames still point into it.
mutant(snapshot_reused_too_early simulate "--first;1400;--count;600" "violated: I1: a block of peer [0-9]+ left peer [0-9]+ damaged")
mutation(src/modes/ako_traffic.cpp
    [=[        if (sending_[snapshot] & peer_bit(peer)) transport_.copy_aside(peer);]=]
    [=[        sending_[snapshot] &= ~peer_bit(peer);]=])

# Blocks of a round leave before they are made.
mutant(blocks_before_they_are_made simulate "--count;400" "violated: I1: not the value of round")
mutation(src/modes/ako_traffic.cpp
    [=[        run = link.schedule.next_early(round, growing_->first, count_max);]=]
    [=[        run = link.schedule.next_early(round, 0, count_max);]=])

# A peer that stops advancing is forgotten at once, with its stand-in still in the replica.
mutant(fade_forgotten simulate "--count;400" "violated: I3")
mutation(src/rows/replica.cpp
    [=[    marks.state = Marks::State::fading;]=]
    [=[    marks.state = Marks::State::none;]=])

# What gives way to a peer that is back is taken for something unlearned, by those who were there too.
mutant(gave_way_in_stand_ins simulate "--apart" "violated: I3")
mutation(src/rows/replica.cpp
    [=[            for (std::size_t k = 0; k < gave_way.size(); ++k) mark[k] -= gave_way[k];]=]
    [=[            for (std::size_t k = 0; k < gave_way.size(); ++k) mark[k] -= 0 * gave_way[k];]=])

# Peers that trained apart go where both of them wanted to go, one after the other.
mutant(nothing_gives_way simulate "--apart" "violated: to meet did harm")
mutation(src/rows/attendance.cpp
    [=[            const double share = static_cast<double>(there) / static_cast<double>(there + here);]=]
    [=[            const double share = 0.0 * static_cast<double>(there + here);]=])

# A peer that is absent costs a step ...
mutant(absent_peers_cost_a_step simulate "--count;400" "violated: peer [0-9]+ scales its updates by")
mutation(src/rows/attendance.cpp
    [=[    return static_cast<double>(seen_.size()) / static_cast<double>(there);]=]
    [=[    return static_cast<double>(seen_.size()) / static_cast<double>(seen_.size() + 0 * there);]=])

# ... and so it does where the scale is known, and not used.
mutant(scale_not_used simulate "--count;400" "violated: I1: row [0-9]+ is not the sum of its owner's updates")
mutation(src/modes/ako_compute.cpp
    [=[    const double rate = scale * parts_.budget.rate();]=]
    [=[    const double rate = parts_.budget.rate();]=])

# What fixed P leaves of a block is lost, so that a cycle takes longer than P rounds.
mutant(credit_lost simulate "--steady" "violated: I4")
mutation(src/rows/link_schedule.cpp
    [=[    credit_ = std::min(credit_, 1.0) + grant_;]=]
    [=[    credit_ = grant_;]=])

# The whole stand-in is given up when something arrives, as if nothing were under way.
mutant(all_given_up_on_arrival transit_convergence "${mnist}"
    "violated: does not converge with a transit of 8 rounds")
mutation(src/rows/replica.cpp
    [=[    return static_cast<double>(made_before.count()) / static_cast<double>(made_in_all.count());]=]
    [=[    (void)made_before;
    return 1.0;]=])

# Whoever waits for others keeps to its fixed P, so that they wait for it as well.
mutant(grants_kept_while_waiting simulate "--bounded" "violated: I7: a wait ended by its time-out")
mutation(src/modes/ako_step.cpp
    [=[    if (wait != std::exchange(held_back_, wait)) parts_.outbox.lift_grants(wait);]=]
    [=[    held_back_ = wait;]=])

# A peer in the final exchange is waited for, although it takes in nothing new, and its stop is not heard.
mutant(finishing_peers_waited_for simulate "--bounded" "violated: (I7: a wait ended by its time-out|peer [0-9]+ stopped)")
mutation(src/modes/ako_compute.cpp
    [=[    if (parts_.budget.spent()) parts_.stop.hear(StopReason::budget_spent);]=]
    [=[    if (step_.must_wait(now)) return std::nullopt;
    if (parts_.budget.spent()) parts_.stop.hear(StopReason::budget_spent);]=])
mutation(src/rows/staleness_bound.cpp
    [=[!roster.reachable(peer) || view.final_round || view.joins()) return false;]=]
    [=[!roster.reachable(peer)) return false;]=])

# Whoever waits does not say what it has received, and is given up.
mutant(waiting_in_silence simulate "--bounded" "violated: I7: a wait ended by its time-out")
mutation(src/modes/ako_step.cpp
    [=[    if (wait) word_.post(false, {});  // what has come shows the others that this peer moves]=]
    [=[]=])

# A peer looks only at what it has heard of others, and runs ahead of those that are silent.
mutant(bound_by_what_was_heard simulate "--bounded" "violated: I7: peer [0-9]+ begins round")
mutation(src/rows/staleness_bound.cpp
    [=[    return next > held + waits.offset(self, peer) + waits.rounds_max;]=]
    [=[    return next < 1 || static_cast<std::int64_t>(others_[peer].mark.announced) > held + waits.rounds_max;]=])

# Who comes late is waited for as if it had made as many rounds as the others.
mutant(late_peers_must_catch_up simulate "--chosen" "violated: it took")
mutation(src/rows/staleness_bound.cpp
    [=[    return std::abs(behind) <= 2 * std::int64_t{waits.rounds_max} + slack;]=]
    [=[    return behind <= 1'000'000;]=])

# Waiting that costs too much is kept all the same.
mutant(waiting_whatever_it_costs simulate "--chosen" "violated: the last choice was: all wait")
mutation(src/rows/staleness_choice.cpp
    [=[        waiting_ = pace;
        return choose(worth_it(), now);]=]
    [=[        waiting_ = pace;
        return choose(true, now);]=])
mutation(src/rows/staleness_choice.cpp
    [=[    if (!waits_now()) return false;]=]
    [=[    return false;]=])

# A try of waiting is not broken off.
mutant(tries_to_their_end simulate "--chosen" "violated: it took")
mutation(src/rows/staleness_choice.cpp
    [=[    if (!waits_now()) return false;]=]
    [=[    return false;]=])

# Nobody is left out.
mutant(slow_peers_waited_for simulate "--chosen" "violated: the last choice was: nobody waits")
mutation(src/rows/staleness_choice.cpp
    [=[        if (is_slow) slow |= peer_bit(peer);]=]
    [=[        (void)is_slow;]=])

# Rounds are never counted anew.
mutant(counted_once simulate "--chosen" "violated: it took")
mutation(src/rows/staleness_choice.cpp
    [=[    if (waits_now() && (!in_step() || left_out != waits_.left_out))]=]
    [=[    if (waits_now() && left_out != waits_.left_out)]=])

# ---- what a run must come to (promises.h)

# Nobody asks for the rows of the dead.
mutant(nothing_relayed simulate "--count;2000" "violated: .*, which died; peer [0-9]+ had round")
mutation(src/rows/relay.cpp
    [=[        if (row == ledger_.own()) continue;]=]
    [=[        continue;]=])

# The proposer does not look whether others hold newer rows of the dead.
mutant(dead_rows_not_settled simulate "--count;2000" "violated: .*, which died; peer [0-9]+ had round")
mutation(src/agreement/final_rows.cpp
    [=[    if (!final_round_comes(ledger, roster, row)) return is_settled(ledger, roster, row);]=]
    [=[    if (!final_round_comes(ledger, roster, row)) return is_settled(ledger, roster, row) || true;]=])

# The first proposer does not wait for the rows.
mutant(proposes_at_once simulate "--count;400" "violated: the cut holds round [0-9]+ of peer [0-9]+, which lives")
mutation(src/agreement/finish.cpp
    [=[    if (first && rows_complete(ledger_, roster_, cut_)) return true;]=]
    [=[    if (first) return true;]=])

# Nobody takes the place of a first proposer that stands still.
mutant(only_the_first_proposes simulate "--count;4000" "violated: no agreement at peer [0-9]+ although a majority lived")
mutation(src/agreement/finish.cpp
    [=[    return waited > times_.exchange && (first || voter_.is_impatient(now));]=]
    [=[    return waited > times_.exchange && first;]=])

# A proposer outbids at once whoever asks for its vote, though without that vote there are too few.
mutant(no_vote_is_let_have simulate "--seed;56537;--no-shrink" "violated: no agreement at peer")
mutation(src/agreement/voter.cpp
    [=[ || quiet(now) > vote_comes_in);]=]
    [=[ || true);]=])

# What was lost with a session counts as sent.
mutant(session_keeps_what_was_sent simulate "--count;2000" "violated: the cut holds round")
mutation(src/modes/ako_traffic.cpp
    [=[    link.schedule.begin_session();]=]
    [=[]=])

# Only who is asked to stop stops.
mutant(stop_not_gossiped simulate "--count;400" "violated: .*(stopped [0-9.]+ s after the first|has not ended its last round)")
mutation(src/modes/ako_arrivals.cpp
    [=[    parts_.stop.hear(status.standing.stop, status.standing.asked);]=]
    [=[]=])

# A stop is passed on without the names of those who asked for it.
mutant(asked_not_gossiped simulate "--count;400" "violated: peer [0-9]+ does not know who asked for the end")
mutation(src/modes/ako_arrivals.cpp
    [=[    parts_.stop.hear(status.standing.stop, status.standing.asked);]=]
    [=[    parts_.stop.hear(status.standing.stop);]=])

# A proposer goes on taking in rows, so that it no longer holds what it proposes.
mutant(proposer_not_frozen simulate "--count;400" "violated: I8: peer [0-9]+ has proposed the cut")
mutation(src/agreement/voter.cpp
    [=[    cut_.freeze();
    ++proposals_;]=]
    [=[    ++proposals_;]=])

mutant(never_advancing simulate "--count;400" "violated: peer [0-9]+ does not stand in for peer")
mutation(src/exchange/roster.cpp
    [=[    return static_cast<double>(own_round - view.own_round_at_move) <= allowed;]=]
    [=[    return static_cast<double>(own_round - view.own_round_at_move) < -allowed;]=])

mutant(always_advancing simulate "--count;400" "violated: peer [0-9]+ stands in for peer [0-9]+, which has made no round")
mutation(src/exchange/roster.cpp
    [=[    return static_cast<double>(own_round - view.own_round_at_move) <= allowed;]=]
    [=[    return static_cast<double>(own_round - view.own_round_at_move) <= 1e9 + allowed;]=])

mutant(goodbye_ignored simulate "--count;400" "violated: peer [0-9]+ said goodbye")
mutation(src/modes/ako_arrivals.cpp
    [=[    parts_.roster.heard_bye(from, bye);]=]
    [=[]=])

# Whoever has adopted the cut leaves after the linger time, whoever still pulls it.
mutant(leaves_while_others_pull simulate "--count;400" "violated: I2: others finished with a cut, but no agreement at peer")
mutation(src/agreement/finish.cpp
    [=[        const Time moved_at = view.live() ? movement_.of(peer) : Time{0};]=]
    [=[        const Time moved_at{0};]=])

# A peer that is started again begins at round zero, whatever others hold of its row ...
mutant(restarted_at_zero simulate "--count;400" "violated: I1: peer [0-9]+ takes the place of a row")
mutation(src/modes/ako_beginning.cpp
    [=[    const Round round = std::max({own.announced, own.relayed_round, held.highest.round});]=]
    [=[    const Round round = std::min({own.announced, own.relayed_round, Round{0}});]=])

# ... or goes on with its row as if no process had had it before ...
mutant(lives_not_counted simulate "--count;400" "violated: I1: a claimed row never was")
mutation(src/modes/ako_beginning.cpp
    [=[        next_incarnation(has_nothing ? 0 : known, settings_.process_id);]=]
    [=[        next_incarnation(has_nothing || known > 0 ? 0 : known, settings_.process_id);]=])

# ... or before all whom it can reach have said what they hold.
mutant(joins_uninformed simulate "--count;400" "violated: peer [0-9]+ (goes on with round|begins at zero, although)")
mutation(src/rows/joining.cpp
    [=[bool Joining::informed() const { return roster_.reached() != 0 && silent() == 0; }]=]
    [=[bool Joining::informed() const { return roster_.reached() != 0; }]=])

# What was learned of a clock outlives the session, in which it may have stood still.
mutant(clock_kept_over_sessions simulate "--count;400" "violated: peer [0-9]+ is wrong about the clock of peer")
mutation(src/exchange/roster.cpp
    [=[    view.clock = {};  // it may have stood still meanwhile, as it does in suspend]=]
    [=[]=])

# How far a peer is, is believed of itself only, so that what the dead did is counted differently.
mutant(samples_not_passed_on simulate "--count;400" "violated: peers [0-9]+ and [0-9]+ know of different samples")
mutation(src/exchange/roster.cpp
    [=[        peers_[other].samples = std::max(peers_[other].samples, progress.samples);]=]
    [=[        if (other == peer) peers_[other].samples = progress.samples;]=])

# A proposer does not take over what may be decided already. (The rest of Paxos: unit/agreement.)
mutant(accepted_cut_ignored simulate "--count;400" "violated: I8: two cuts")
mutation(src/agreement/agreement.cpp
    [=[    if (promise.accepted_ballot > best_accepted_ballot_) {]=]
    [=[    if (promise.accepted_ballot > best_accepted_ballot_ && from == self_) {]=])

# A proposer takes what was accepted last for what was accepted under the highest ballot.
mutant(last_accepted_cut_taken vote "--count;20000" "violated: two cuts are decided")
mutation(src/agreement/agreement.cpp
    [=[    if (promise.accepted_ballot > best_accepted_ballot_) {]=]
    [=[    if (!promise.accepted_ballot.none()) {]=])

# ---- votes that are lost and regained (vote.cpp)

# A later life votes as if it were the first.
mutant(vote_at_once vote "--count;20000" "violated: two cuts are decided")
mutation(src/agreement/agreement.cpp
    [=[    has_vote_ = false;
]=]
    [=[]=])

# One fewer than can have been part of any majority gives a vote back.
mutant(vote_from_one_fewer vote "--count;20000" "violated: two cuts are decided")
mutation(src/agreement/agreement.cpp
    [=[answer_count() >= givers()) {]=]
    [=[answer_count() + 1 >= givers()) {]=])

# A vote is regained without what the earlier life may have accepted.
mutant(vote_without_the_accepted vote "--count;20000" "violated: two cuts are decided")
mutation(src/agreement/agreement.cpp
    [=[    accepted_ballot_ = best_accepted_ballot_;
    accepted_cut_ = cut_;
    promised_ =]=]
    [=[    promised_ =]=])

# The promise of a peer without a vote counts.
mutant(voteless_counted vote "--count;20000" "violated: two cuts are decided")
mutation(src/agreement/agreement.cpp
    [=[    if (!promise.has_vote) return std::nullopt;]=]
    [=[]=])

# The promise of an earlier life counts, although another peer has said that there is a later one.
mutant(earlier_life_counted vote "--count;200000" "violated: two cuts are decided")
mutation(src/agreement/agreement.cpp
    [=[    learn_votes(promise);
]=]
    [=[]=])

# A process regains its vote before it holds what was accepted, which may be lost with those who gave the vote.
mutant(vote_before_it_holds vote "--count;20000" "violated: no cut is decided, although")
mutation(src/agreement/agreement.cpp
    [=[        if (cut_ == accepted_cut_) hold();]=]
    [=[        hold();]=])

# Whoever has no session is taken for gone, as if each dial had found that nobody listens.
mutant(cut_off_taken_for_gone simulate "--count;400" "violated: peer [0-9]+ takes peer [0-9]+ for gone, whose process runs")
mutation(src/modes/ako_traffic.cpp
    [=[        departures_.dialled(peer, counters[peer].nobody_listens(), now);]=]
    [=[        departures_.dialled(peer, true, now);]=])

# A peer that crashed is waited for at the end as long as one that fell silent.
mutant(the_dead_waited_for simulate "--count;2000" "violated: peer [0-9]+ stays [0-9.]+ s longer than anybody can need it")
mutation(src/modes/ako_traffic.cpp
    [=[    departures_.went(peer, left, silence, clock_.now());]=]
    [=[    departures_.went(peer, left, silence + std::chrono::hours(1), clock_.now());]=])

# A peer that hears of a wish takes it for its own.
mutant(wish_taken_for_own simulate "--count;400" "violated: peer [0-9]+ names somebody whom nobody asked for the end")
mutation(src/modes/ako_stop.cpp
    [=[    if (reason == StopReason::requested) asked_ |= asked;]=]
    [=[    if (reason == StopReason::requested) asked_ |= asked | peer_bit(settings_.self);]=])

# A peer that comes back when all others have ended does not notice it.
mutant(left_behind_unnoticed simulate "--count;400;--covered" "violated: .*peers left behind")
mutation(src/modes/ako_compute.cpp
    [=[    left_behind_ = left_behind_ || parts_.mailbox.left_behind();]=]
    [=[]=])

# Every block of an update is taken for its first.
mutant(update_without_a_place simulate "--count;400" "violated: I1: row [0-9]+ is not the sum of its owner's updates")
mutation(src/modes/ako_compute.cpp
    [=[            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(range.first), range.count,]=]
    [=[            std::copy_n(values.begin(), range.count,]=])

# Whoever leaves says that others hold its row without having heard so.
mutant(row_left_behind simulate "--count;1000" "violated: peer [0-9]+ left its row to peer [0-9]+, which does not hold")
mutation(src/rows/leaving.cpp
    [=[        } else if (holds_all(*view.status)) {]=]
    [=[        } else if (view.status) {]=])

# ---- the other modes

# The next sync is read into sums that are still being sent on.
mutant(sums_used_too_early simulate "--modes;--count;400" "violated: ")
mutation(src/buckets/all_reduce.cpp
    [=[    if (!sync.consumed || sync.unsent > 0) return;]=]
    [=[    if (!sync.consumed) return;]=])

# Partial sums that came before the own gradient are dropped.
mutant(ring_forgets_early_sums simulate "--modes;--count;100" "violated: peer [0-9]+ did not finish with the others")
mutation(src/buckets/ring_pass.cpp
    [=[        early_.emplace_back(chunk, count);]=]
    [=[]=])

# What comes of two steps of a butterfly waits in the same memory, as if no partner were ever ahead.
mutant(butterfly_steps_in_one_place simulate "--modes;--count;400" "violated: .*peers, butterfly")
mutation(src/buckets/butterfly.cpp
    [=[        if (other < step) first = all;]=]
    [=[        if (other < step) first = 0;]=])

# A peer of a butterfly passes on its own wish only.
mutant(butterfly_keeps_wishes simulate "--modes;--count;100" "violated: .*peers, butterfly")
mutation(src/buckets/butterfly.cpp
    [=[    sync.wish = stronger(sync.wish, chunk.wish);]=]
    [=[]=])

# A peer that leaves does not say because of whom, and is taken for the one that died.
mutant(goodbye_without_a_reason simulate "--modes;--count;100" "violated: peer [0-9]+ does not name who died")
mutation(src/exchange/links.cpp
    [=[traffic_.because_of(),
            newest_.status.standing.leaving, farewell_};]=]
    [=[std::nullopt, newest_.status.standing.leaving, {}};]=])

# SSP: one round more than agreed.
mutant(ssp_gap_off_by_one simulate "--modes;--count;400" "violated: SSP")
mutation(src/buckets/parameter_keeper.cpp
    [=[clocks_[worker][slice] > *slowest + *gap_;]=]
    [=[clocks_[worker][slice] > *slowest + *gap_ + 1;]=])

# A dead worker is waited for.
mutant(server_waits_for_the_dead simulate "--modes;--count;100" "violated: a worker.s death was not survived")
mutation(src/buckets/parameter_keeper.cpp
    [=[    if (view.over) return false;]=]
    [=[    if (view.over && view.final_round) return false;]=])

# A worker stops when it knows of the budget's end, and not when all do.
mutant(rounds_counted_late simulate "--modes;--count;100" "violated: ")
mutation(src/modes/bucket_budget.cpp
    [=[    return known_.rounds_total + known_.workers;]=]
    [=[    return newest_.rounds_total + known_.workers;]=])

# ---- the elastic ring (elastic.cpp)

# A half of the members is a majority, whichever half.
mutant(half_is_a_majority elastic "--case;a cut network"
    "violated: a cut network: two that finished hold other parameters")
mutation(src/agreement/epoch_vote.cpp
    [=[    return (voters & all & (~all + 1)) != 0;  // with the lowest]=]
    [=[    return true;]=])

# A peer that cannot be reached is taken for dead.
mutant(unaccounted_taken_for_dead elastic "--case;a cut network"
    "violated: a cut network: two that finished hold other parameters")
mutation(src/agreement/epoch_vote.cpp
    [=[    return (missing & ~reach.fell) == 0 && (reach.unaccounted & ~voters) == 0 &&]=]
    [=[    return 0 * (missing & reach.fell) == 0 &&]=])

# A ballot is followed although a higher one was promised to another.
mutant(promise_not_kept elastic "--case;one is killed"
    "violated: one is killed: nobody finished")
mutation(src/agreement/epoch_vote.cpp
    [=[    if (said.asks.none() || said.asks < promised_) return;]=]
    [=[    if (said.asks.none()) return;]=])

# Whoever is not in votes as well.
mutant(all_vote elastic "--tries;0;--count;50"
    "violated: p[0-9]+ holds other parameters")
mutation(src/agreement/epoch_vote.cpp
    [=[    return epoch_.number == 0 || is(peer, heard.process);]=]
    [=[    return true;]=])
mutation(src/agreement/epoch_vote.cpp
    [=[    if (epoch_.number == 0 || member()) answer(said);]=]
    [=[    answer(said);]=])

# A newcomer counts as a contributor of the sync before its first gradient.
mutant(newcomer_counted_too_early elastic "--tries;0;--count;50"
    "violated: step .* is the mean of no set of gradients")
mutation(src/buckets/elastic_sums.cpp
    [=[    pass.contributors = circles_.of(sync).set();]=]
    [=[    pass.contributors = circles_.of(sync).set() | circles_.all().set();]=])

# Whoever is handed a sum takes it for that of those who are in now.
mutant(handed_sum_counted_anew elastic "--case;one is killed"
    "violated: one is killed: digests of who finished together differ")
mutation(src/buckets/elastic_sums.cpp
    [=[        pass.contributors = chunk.contributors;]=]
    [=[        pass.contributors = circles_.of(chunk.sync).set();]=])

# What was under way in the epoch before goes into the sums of this one ...
mutant(chunk_of_the_epoch_before elastic "--case;a newcomer stalls"
    "violated: a newcomer stalls: a peer's own frame was refused: Chunk sent twice")
mutation(src/buckets/elastic_ring.cpp
    [=[    if (chunk.epoch != queues_.epoch() || !begun_here_) {]=]
    [=[    if (chunk.epoch > queues_.epoch() || !begun_here_) {]=])

# ... or what was summed up there stays, in the middle of a redo.
mutant(half_made_sum_kept elastic "--tries;0;--count;50"
    "violated: (what a newcomer took over is wrong|a peer's own frame was refused: Chunk of sync)")
mutation(src/buckets/ring_pass.cpp
    [=[    *this = {};]=]
    [=[    const bool half = summed_ < of_.range.count || of_.range.count == 0;
    const std::size_t summed = part_of_set_ == 0 && half ? summed_ : 0;
    *this = {};
    summed_ = summed;]=])
mutation(src/buckets/ring_pass.cpp
    [=[    return summed_ == of_.range.count;]=]
    [=[    return summed_ >= of_.range.count;]=])

# The state is handed over before the step is in it ...
mutant(state_handed_over_too_early elastic "--case;one comes back"
    "violated: one comes back: what a newcomer took over is wrong")
mutation(src/buckets/state_handover.cpp
    [=[{ return sums_.is_used(bucket, sync_); };]=]
    [=[{ return sums_.is_used(bucket, sync_) || sums_.is_used(bucket, sync_ - 1); };]=])

# ... and the newcomer does not compare the digests.
mutant(newcomer_compares_nothing elastic "--case;one comes back"
    "violated: one comes back: digests of who finished together differ")
mutation(src/buckets/state_handover.cpp
    [=[{ return sums_.is_used(bucket, sync_); };]=]
    [=[{ return sums_.is_used(bucket, sync_) || sums_.is_used(bucket, sync_ - 1); };]=])
mutation(src/modes/elastic_compute.cpp
    [=[    if (digest_of_state() != said.digest)]=]
    [=[    if (said.digest == Digest{})]=])

# After a change of epoch a step that was made already is made again.
mutant(step_made_twice elastic "--case;one is killed"
    "violated: one is killed: a peer's own frame was refused: Status.progress")
mutation(src/modes/elastic_compute.cpp
    [=[        if (syncs_.is_settled(bucket)) continue;]=]
    [=[        const bool anew = place_.epoch > 1 && !syncs_.all_settled();
        if (syncs_.is_settled(bucket) && !anew) continue;]=])

# A newcomer counts with what the others count with only after one more sync.
mutant(newcomer_a_sync_ahead elastic "--case;one comes as the target is reached"
    "violated: .*target is reached: seed 1: the end took")
mutation(src/modes/elastic_budget.cpp
    [=[    before_ = known_ = said.before;]=]
    [=[    before_ = known_ = said.now;]=])

# A peer that has heard that one has left waits for nobody else, though the word of the others is on its way.
mutant(the_rest_not_waited_for elastic "--case;all end"
    "violated: all end: seed [0-9]+: p[0-3] ended with [1-3]")
mutation(src/modes/lockstep_compute.cpp
    [=[if (waits_for_unreachable || roster_.reachable(peer)) return false;]=]
    [=[if (waits_for_unreachable) return false;]=])

# A peer that waits for more has not used the newest sums, and has nothing to hand over.
mutant(too_few_settle_nothing elastic "--case;too few come one by one"
    "violated: too few come one by one: nobody finished")
mutation(src/modes/elastic_compute.cpp
    [=[        step_settle();  // or nothing could be handed to those who come in]=]
    [=[]=])

# Progress counts the round under way, which a peer that evaluates has not begun yet when others have.
mutant(progress_by_the_round_under_way elastic "--case;they share a batch"
    "violated: they share a batch: ")
mutation(src/modes/elastic_budget.cpp
    [=[    std::uint64_t samples =
        sync_samples_ * static_cast<std::uint64_t>(std::popcount(tally.contributors));]=]
    [=[    std::uint64_t samples =
        round_samples_ * static_cast<std::uint64_t>(std::popcount(tally.contributors));]=])

# One that computes no more, while its process answers, is waited for until all break off.
mutant(hung_waited_for elastic "--case;one hangs" "violated: one hangs: ")
mutation(src/modes/elastic_pace.cpp
    [=[        paces_[peer].hangs |= parts_.peers[peer].said.whole && paces_[peer].round < newest;]=]
    [=[        paces_[peer].hangs = false;]=])

# What a newcomer has taken does not show the members that it comes nearer.
mutant(progress_of_a_newcomer_unseen elastic "--case;one comes back over slow links"
    "violated: one comes back over slow links: ")
mutation(src/modes/elastic_pace.cpp
    [=[    paces_[peer].moved_at = at;]=]
    [=[]=])

# What comes of the state does not show the newcomer that all is well.
mutant(state_is_no_sign elastic "--case;one comes back over slow links"
    "violated: one comes back over slow links: p1 did not finish: the members of the run did not take")
mutation(src/modes/elastic_traffic.cpp
    [=[        parts_.board.sign_came(arrived_at);]=]
    [=[        if (parts_.ring.has_state()) parts_.board.sign_came(arrived_at);]=])

# What a newcomer takes does not show the members, who wait for its round, that all is well.
mutant(newcomer_is_no_sign elastic "--case;one comes back over slow links"
    "violated: one comes back over slow links: ")
mutation(src/modes/elastic_pace.cpp
    [=[    paces_[peer].moved_at = at;
    parts_.board.sign_came(at);]=]
    [=[    paces_[peer].moved_at = at;]=])

# A newcomer is put out for what it cannot take yet, as long as this peer's round lasts.
mutant(round_taken_for_a_stall elastic "--case;one comes back to long rounds"
    "violated: one comes back to long rounds: seed [0-9]+: it was put out again")
mutation(src/modes/elastic_pace.cpp
    [=[        if (!parts_.ring.owes(peer)) paces_[peer].moved_at = now;]=]
    [=[        static_cast<void>(now);]=])

# Sums, for which a newcomer has no use yet, go before the state: it seems to take nothing.
mutant(sums_before_the_state elastic "--case;one comes back over slow links"
    "violated: one comes back over slow links: ")
mutation(src/buckets/elastic_ring.cpp
    [=[    if (auto frame = handover_.next(peer, payload_bytes_max)) return frame;]=]
    [=[]=])
mutation(src/buckets/elastic_ring.cpp
    [=[    if (!chunk) return std::nullopt;]=]
    [=[    if (!chunk) return handover_.next(peer, payload_bytes_max);]=])

# Model averaging: what many learners made weighs no more than what one did ...
mutant(learners_weigh_nothing simulate "--modes;--count;20" "violated: model averaging is off one process by")
mutation(src/modes/bucket_compute.cpp
    [=[        rule_->take_update(buckets_[bucket], update, learners);]=]
    [=[        rule_->take_update(buckets_[bucket], update, 1);]=])
mutation(src/modes/bucket_compute.cpp
    [=[    rule_->settle(buckets_[bucket], result_, {rates_[bucket], summary->learners()});]=]
    [=[    rule_->settle(buckets_[bucket], result_, {rates_[bucket], settings_.peer_count()});]=])

# ... or a peer that goes on from a checkpoint has forgotten how many there were.
mutant(learners_forgotten simulate "--modes;--count;20" "violated: averaging that goes on from a checkpoint")
mutation(src/modes/bucket_budget.cpp
    [=[            summary->wish.learners[peer] = static_cast<std::uint8_t>(learners->second);]=]
    [=[]=])

# The network layer: what comes is no sign of life, or what is not read counts as silence.
mutant(liveness_fed_by_nothing net_life "--test-case=any byte is a sign of life" "TEST CASE:  any byte is a sign of life")
mutation(net/silence.cpp
    [=[{ newest_byte_at_ = silent_since_ = now; }]=]
    [=[{ newest_byte_at_ = now; }]=])

mutant(unread_session_is_dead net_life "--test-case=a host without room*" "TEST CASE:  a host without room stops")
mutation(net/silence.cpp
    [=[return unread_since_.value_or(now) - silent_since_;]=]
    [=[return now - silent_since_;]=])
