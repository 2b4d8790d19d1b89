// See promises.h.
#include "tests/sim/promises.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tests/sim/sim_times.h"

namespace ako::sim {

Promises::Promises(const Scenario& scenario, const SimCluster& cluster, const Faults& faults,
                   Coverage& coverage)
    : scenario_(scenario),
      world_(cluster.world()),
      network_(cluster.network()),
      peers_(cluster),
      faults_(faults),
      coverage_(coverage),
      started_at_(scenario.peers.size(), Time::max()),
      heard_at_(scenario.peers.size(), Time::max()),
      trained_at_(scenario.peers.size()),
      died_at_(scenario.peers.size(), Time{0}),
      rounds_at_(scenario.peers.size()),
      stopped_at_(scenario.peers.size()),
      stopped_in_(scenario.peers.size()),
      adopted_at_(scenario.peers.size()),
      left_(scenario.peers.size() * scenario.peers.size()),
      ways_(scenario.peers.size() * scenario.peers.size()),
      standing_in_(scenario.peers.size(), 0),
      best_(scenario.peers.size()) {}

// ---- times

Time Promises::hop() const {
    // Two frames may be before it, the network half looks every poll_interval, the compute half
    // every wait_step.
    const Time again = scenario_.resets() ? ms(50) : Time{0};  // until a session stands
    return scenario_.delay + 3 * scenario_.frame_time() + poll_interval + wait_step + again;
}

Time Promises::stop_bound() const { return hop() + 2 * scenario_.slowest_round(); }

bool Promises::rows_come_in_time() const {
    return stop_bound() + 2 * scenario_.row_time() + 4 * hop() < scenario_.finish_exchange;
}

Time Promises::cut_time() const {
    return static_cast<std::int64_t>(peers_.size() + 1) * scenario_.row_time();
}

std::vector<PeerIndex> Promises::survivors() const {
    std::vector<PeerIndex> found;
    for (PeerIndex peer = 0; peer < peers_.size(); ++peer) {
        if (peers_[peer]->state == SimPeer::State::ended) found.push_back(peer);
    }
    return found;
}

bool Promises::settles_in_time(PeerIndex owner) const {
    // A question's patience is longer than its way and back, as half a second is on real links:
    // else what is under way is taken for lost, and a window holds little more than one block.
    const Time answer = scenario_.answer_time();
    if (2 * scenario_.delay > answer) return false;
    // After its life time-out its rows are asked for, of one holder after the other.
    const Time asked = static_cast<std::int64_t>(peers_.size()) * (answer + 2 * hop());
    return died_at_[owner] + life_timeout + asked + 2 * scenario_.row_time() <
           first_stop().value_or(Time{0}) + scenario_.finish_exchange;
}

std::optional<Time> Promises::first_stop() const {
    std::optional<Time> first;
    for (const PeerIndex peer : survivors()) {
        if (stopped_at_[peer] && (!first || *stopped_at_[peer] < *first)) first = stopped_at_[peer];
    }
    return first;
}

bool Promises::hangs_near(PeerIndex peer, Time at) const {
    return faults_.struck(FaultKind::hang, peer, at - stop_bound(), at + stop_bound());
}

bool Promises::was_settled(PeerIndex peer, Time at) const {
    return started_at_[peer] + ms(100) <= at && trained_at_[peer] && *trained_at_[peer] <= at;
}

bool Promises::took_part(PeerIndex peer) const {
    const std::optional<Time> first = first_stop();
    if (!first || heard_at_[peer] > *first) return false;
    // May leave before a cut heals.
    if (scenario_.hurried(peer) && !scenario_.network_stands()) return false;
    // The others do not wait for who leaves; where nobody stays, it comes too late for their end.
    if (faults_.struck(FaultKind::leave, peer, Time{0}, world_.now())) return false;
    // The older of two processes of one name may have been the one that took part.
    if (faults_.struck(FaultKind::second, peer, Time{0}, world_.now())) return false;
    for (const Strike& strike : faults_.struck()) {
        const bool stands = strike.kind == FaultKind::hang || strike.kind == FaultKind::pause ||
                            strike.kind == FaultKind::suspend;
        // The others have lingered for it and left.
        if (strike.peer == peer && stands && strike.until >= *first + ms(1000)) return false;
    }
    return true;
}

PeerSet Promises::can_agree() const {
    PeerSet able = 0;
    for (const PeerIndex peer : survivors()) {
        if (took_part(peer)) able |= peer_bit(peer);
    }
    const Time first = first_stop().value_or(Time{0});
    for (const Strike& strike : faults_.struck()) {
        // What heals sooner, the others linger for.
        if (strike.side == 0 || strike.until <= first + ms(1600)) continue;
        const auto majority = static_cast<int>(peers_.size() / 2 + 1);
        const PeerSet here = able & strike.side;
        const PeerSet there = able & ~strike.side;
        able = std::popcount(here) >= majority    ? here
               : std::popcount(there) >= majority ? there
                                                  : 0;
    }
    return able;
}

// ---- what is seen

void Promises::started(PeerIndex peer) { started_at_[peer] = world_.now(); }

void Promises::begins_anew(PeerIndex peer) {
    begun_anew_ |= peer_bit(peer);
    died_at_[peer] = Time{0};
    heard_at_[peer] = Time::max();
    trained_at_[peer].reset();
    rounds_at_[peer].clear();
    stopped_at_[peer].reset();
    adopted_at_[peer].reset();
    for (PeerIndex other = 0; other < peers_.size(); ++other) {
        left_[peer * peers_.size() + other].reset();
        left_[other * peers_.size() + peer].reset();
        ways_[peer * peers_.size() + other] = ways_[other * peers_.size() + peer] = {};
    }
    standing_in_[peer] = 0;
    best_[peer].clear();
    proposed_.erase(peer);
}

void Promises::arrived(PeerIndex from, PeerIndex to, const Header& header) {
    count_protocol(from, to, header);
    heard_at_[from] = std::min(heard_at_[from], world_.now());
    if (const auto* status = std::get_if<Status>(&header)) learn_way(from, to, *status);
    if (std::holds_alternative<Bye>(header)) left_[to * peers_.size() + from] = world_.now();
}

void Promises::count_protocol(PeerIndex from, PeerIndex to, const Header& header) {
    if (const auto* prepare = std::get_if<Prepare>(&header)) {
        coverage_.saw(Event::proposal);
        if (proposers_ != 0 && (proposers_ & peer_bit(from)) == 0) {
            coverage_.saw(Event::second_proposer);
        }
        proposers_ |= peer_bit(from);
        proposed_[from] = prepare->ballot;
    } else if (const auto* promise = std::get_if<Promise>(&header)) {
        const auto proposed = proposed_.find(to);
        if (proposed != proposed_.end() && promise->ballot > proposed->second) {
            coverage_.saw(Event::outbid);
        }
    } else if (const auto* accept = std::get_if<Accept>(&header)) {
        if (accept->cut != accept->ballot) coverage_.saw(Event::reproposal);
    } else if (const auto* want = std::get_if<Want>(&header)) {
        if (want->exact) coverage_.saw(Event::cut_pulled);
    } else if (const auto* partial = std::get_if<Partial>(&header)) {
        if (partial->relayed) coverage_.saw(Event::relayed_partial);
    } else if (std::holds_alternative<Bye>(header)) {
        coverage_.saw(Event::goodbye);
    }
}

void Promises::drained(PeerIndex peer) {
    const AkoPeer& p = *peers_[peer];
    for (PeerIndex other = 0; other < peers_.size(); ++other) {
        if (other != peer) check_clock(peer, other);
        // One that had no room arrives as soon as this drain has made some, and is in the next.
        const std::optional<Time> left = left_[peer * peers_.size() + other];
        if (other == peer || !left || *left == world_.now()) continue;
        // A new session after a Bye takes it back, and its event may still wait in the mailbox; and
        // another process may have been there since.
        const bool again = !network_.said_bye(*network_.newest(other), *network_.newest(peer)) ||
                           faults_.struck(FaultKind::second, other, Time{0}, world_.now());
        const Presence presence = (*p.half.peers())[other].presence;
        if (again || presence == Presence::left) continue;
        throw Violation(name("peer", other) + " said goodbye, and " + name("peer", peer) +
                        " does not hold it for one that left");
    }
    if (!scenario_.network_stands()) return;
    auto& best = best_[peer];
    const Ledger& ledger = p.half.rows().ledger();
    if (best.empty()) best = PerRow<RowMap>(peers_.size(), RowMap(ledger.blocks().count()));
    for (const RowIndex row : ledger.all()) {
        if (row == ledger.own()) continue;
        for (BlockIndex block = 0; block < ledger.blocks().count(); ++block) {
            best[row][block] = std::max(best[row][block], ledger.version(row, block));
        }
    }
}

// ---- clocks

void Promises::learn_way(PeerIndex from, PeerIndex to, const Status& status) {
    Way& way = ways_[to * peers_.size() + from];
    const Time began = network_.session_began(*network_.newest(from), *network_.newest(to));
    if (way.session_began != began) way = {began, Time{0}};
    const Time sent_at = peers_[from]->clock.virtual_of(status.heartbeat.sent_at);
    way.longest = std::max(way.longest, world_.now() - sent_at);
}

// What is taken for the way of a frame is between nothing and the longest that a Status of this
// session took, there or back, as long as no clock stands in it.
void Promises::check_clock(PeerIndex peer, PeerIndex other) const {
    const std::size_t n = peers_.size();
    const PeerClock& own = peers_[peer]->clock;
    const PeerClock& theirs = peers_[other]->clock;
    const Way& here = ways_[peer * n + other];
    const Way& there = ways_[other * n + peer];
    if (!network_.newest(other) ||
        !network_.joined(*network_.newest(peer), *network_.newest(other))) {
        return;  // or it is the clock of an older process
    }
    const Time began = network_.session_began(*network_.newest(peer), *network_.newest(other));
    if (here.session_began != began || std::max(own.stood_at(), theirs.stood_at()) >= began) return;
    const auto thought = (*peers_[peer]->half.peers())[other].clock.to_local(theirs.now());
    if (!thought) return;
    const Time wrong = *thought - own.now();
    const Time back = there.session_began == began ? there.longest : Time{0};
    // Clocks that go at different rates come apart from the moment at which they were compared.
    const double apart = std::abs(own.rate() - theirs.rate()) *
                         seconds_of(world_.now() - began + here.longest + back + ms(200));
    constexpr double rate_max = 1.06;  // at which either may have measured the way
    const Time allowed = from_seconds(rate_max * seconds_of(std::max(here.longest, back)) + apart);
    if (wrong <= allowed && wrong >= -allowed) return;
    throw Violation(name("peer", peer) + " is wrong about the clock of" + name(" peer", other) +
                    " by " + std::to_string(seconds_of(wrong)) + " s, allowed " +
                    std::to_string(seconds_of(allowed)));
}

// ---- the final exchange

void Promises::died(PeerIndex peer) { died_at_[peer] = world_.now(); }

// Each peer that it names as holding its row holds it to the last round.
void Promises::left(PeerIndex peer) {
    died_at_[peer] = world_.now();
    const AkoPeer& left = *peers_[peer];
    const Version last = left.half.rows().ledger().held(row_of(peer)).lowest;
    for (const PeerIndex other : left.report->handed_to) {
        const AkoPeer& holder = *peers_[other];
        if (!is_first(other) || holder.half.rows().ledger().held(row_of(peer)).lowest >= last)
            continue;
        throw Violation(name("peer", peer) + " left its row to " + name("peer", other) +
                        ", which does not hold all of it");
    }
}

void Promises::stopped(PeerIndex peer) {
    stopped_at_[peer] = world_.now();
    stopped_in_[peer] = peers_[peer]->half.round();
}

void Promises::adopted(PeerIndex peer) {
    if (adopted_at_[peer]) return;
    adopted_at_[peer] = world_.now();
    const Ledger& ledger = peers_[peer]->half.rows().ledger();
    bool overrides = false;
    first_adopted_at_ = first_adopted_at_.value_or(world_.now());
    if (world_.now() - *first_adopted_at_ > from_seconds(scenario_.linger_s)) {
        coverage_.saw(Event::long_pull);
    }
    for (const RowIndex row : AllRows(best_[peer].size())) {
        for (BlockIndex block = 0; block < best_[peer][row].size(); ++block) {
            overrides |= best_[peer][row][block] > ledger.version(row, block);
        }
    }
    if (overrides) coverage_.saw(Event::cut_overrides);
}

// ---- at the end

void Promises::check_stops() const {
    if (!scenario_.network_stands()) return;
    const std::optional<Time> first = first_stop();
    if (!first) return;  // nobody of those who are left has stopped
    // A peer that stops first and hangs at that moment has told nobody yet.
    for (const PeerIndex peer : survivors()) {
        const bool hangs = faults_.struck(FaultKind::hang, peer, *first, *first);
        if (stopped_at_[peer] == first && hangs) return;
    }
    for (const PeerIndex peer : survivors()) {
        if (!was_settled(peer, *first) || hangs_near(peer, *first)) continue;
        const Time late = *stopped_at_[peer] - *first;
        if (late <= stop_bound()) continue;
        throw Violation(name("peer", peer) + " stopped " + std::to_string(seconds_of(late)) +
                        " s after the first, allowed " + std::to_string(seconds_of(stop_bound())));
    }
}

// The cut holds every survivor's final round, and of the dead the newest that a survivor had. What
// gives way after that may come too late for a proposal that is under way.
void Promises::check_cut() const {
    if (!scenario_.network_stands() || !rows_come_in_time()) return;
    const Time first = first_stop().value_or(Time{0});
    for (const PeerIndex peer : survivors()) {
        if (!was_settled(peer, first) || hangs_near(peer, first)) return;
    }
    for (const PeerIndex peer : survivors()) {
        if (!peers_[peer]->report->agreed) continue;
        const Ledger& ledger = peers_[peer]->half.rows().ledger();
        for (const RowIndex row : ledger.all()) {
            const PeerIndex owner = owner_of(row);
            const bool lives = peers_[owner]->state == SimPeer::State::ended;
            for (BlockIndex block = 0; block < ledger.blocks().count(); ++block) {
                const Round held = ledger.version(row, block).round;
                if (lives && (held < stopped_in_[owner] || held > peers_[owner]->half.round())) {
                    throw Violation("the cut holds round " + std::to_string(held) + " of " +
                                    name("peer", owner) + ", which lives and has made " +
                                    std::to_string(peers_[owner]->half.round()));
                }
                for (const PeerIndex other : survivors()) {
                    if (lives || !settles_in_time(owner) || best_[other][row][block].round <= held)
                        continue;
                    throw Violation("the cut holds round " + std::to_string(held) +
                                    " of a block of " + name("peer", owner) + ", which died; " +
                                    name("peer", other) + " had round " +
                                    std::to_string(best_[other][row][block].round));
                }
            }
        }
    }
}

// Without faults: the last to stop has what it takes to hear of each other's rows and to agree.
// Where the proposer loses patience before the rows are there, all are pulled as it holds them, by
// questions.
void Promises::check_times() const {
    if (!scenario_.faultless() || (!rows_come_in_time() && !scenario_.narrow())) return;
    // Stop, Prepare, Promise, Accept, WantCut, the map, Accepted, Status, Status with the digest.
    const Time map = from_seconds(static_cast<double>(peers_.size() * scenario_.header_bytes) /
                                  scenario_.bytes_per_second);
    const Time rows =
        rows_come_in_time() ? 2 * scenario_.row_time() : scenario_.finish_exchange + cut_time();
    const Time bound = stop_bound() + rows + 12 * hop() + 2 * map + goodbye;
    const Time took = world_.now() - *first_stop();
    if (took <= bound) return;
    throw Violation("the end took " + std::to_string(seconds_of(took)) + " s, allowed " +
                    std::to_string(seconds_of(bound)));
}

// What is gossiped is the same everywhere in the end.
void Promises::check_known() const {
    if (!scenario_.network_stands()) return;
    const AkoPeer* first = nullptr;
    for (const PeerIndex peer : survivors()) {
        const AkoPeer& p = *peers_[peer];
        if (!p.report->agreed || !took_part(peer)) continue;
        for (const PeerIndex other : survivors()) {
            // Rounds may have been made by an earlier process, or without a batch, to give way.
            const std::uint64_t used = peers_[other]->report->samples[other];
            if (is_first(other) && used != rounds_at_[other].size()) {
                throw Violation(name("peer", other) + " miscounts its own samples");
            }
            if (!took_part(other) || p.report->samples[other] == used) continue;
            throw Violation(name("peer", peer) + " knows of " +
                            std::to_string(p.report->samples[other]) + " samples of " +
                            name("peer", other) + ", which has used " + std::to_string(used));
        }
        if (first == nullptr) first = &p;
        for (PeerIndex other = 0; other < peers_.size(); ++other) {
            const bool came_late =
                peers_[other]->state == SimPeer::State::ended && !took_part(other);
            // What the report makes of it is not what the schedule of the run went by.
            const auto known = [&](const AkoPeer& one) {
                return is_first(other) ? (*one.half.peers())[other].samples
                                       : one.report->samples[other];
            };
            if (came_late || known(p) == known(*first)) continue;
            throw Violation(name("peers", first->settings.self) + name(" and", peer) +
                            " know of different samples of " + name("peer", other));
        }
        const bool verdict = p.half.standing().newest_verdict.has_value();
        if (verdict != first->half.standing().newest_verdict.has_value()) {
            throw Violation(name("peer", peer) + " does not know what others know of the target");
        }
    }
}

// Nobody stays at the end for one that it never met, be it that an earlier process of its name did.
bool Promises::met_majority(PeerIndex peer) const {
    const auto has_met = [&](PeerIndex one, PeerIndex other) {
        return (*peers_[one]->half.peers())[other].presence != Presence::absent;
    };
    std::size_t met = 1;
    for (PeerIndex other = 0; other < peers_.size(); ++other) {
        met += other != peer && has_met(peer, other) && has_met(other, peer);
    }
    return met >= peers_.size() / 2 + 1;
}

// Once a cut is decided, only those who have it can hand it on; who is hurried does not wait for
// the lost.
bool Promises::met_the_agreed(PeerIndex peer) const {
    const std::vector<PeerIndex> all = survivors();
    return std::any_of(all.begin(), all.end(), [&](PeerIndex other) {
        const PeerView& view = (*peers_[other]->half.peers())[peer];
        const bool waits =
            scenario_.hurried(other) ? view.live() : view.presence != Presence::absent;
        return other != peer && peers_[other]->report->agreed && waits;
    });
}

void Promises::check_agreement() const {
    const PeerSet able = can_agree();
    PeerSet with_votes = 0;
    bool somebody = false;
    for (const PeerIndex peer : survivors()) {
        somebody |= peers_[peer]->report->agreed;
        if (!peers_[peer]->report->agreed) coverage_.saw(Event::no_agreement);
        if (is_first(peer)) with_votes |= able & peer_bit(peer);
    }
    // A peer that began anew has its vote back once so many promise it.
    const std::size_t majority = peers_.size() / 2 + 1;
    const bool regained =
        static_cast<std::size_t>(std::popcount(with_votes)) >= peers_.size() - majority + 1;
    const PeerSet voters = regained ? able : with_votes;
    if (static_cast<std::size_t>(std::popcount(voters)) < majority) return;
    for (const PeerIndex peer : survivors()) {
        const FinishReport& report = *peers_[peer]->report;
        if (report.agreed || (able & peer_bit(peer)) == 0 || !met_majority(peer)) continue;
        if (somebody && !met_the_agreed(peer)) continue;
        throw Violation(
            (somebody ? "I2: others finished with a cut, but no agreement" : "no agreement") +
            name(" at peer", peer) + " although a majority lived: " + report.why_not);
    }
}

void Promises::check_asked() const {
    for (const PeerIndex peer : survivors()) {
        const FinishReport& report = *peers_[peer]->report;
        if (!report.agreed || report.stop != StopReason::requested) continue;
        PeerSet known = 0;
        for (const PeerIndex other : report.asked) known |= peer_bit(other);
        if (known == 0)
            throw Violation(name("peer", peer) + " does not know who asked for the end");
        if ((known & ~faults_.asked()) != 0) {
            throw Violation(name("peer", peer) + " names somebody whom nobody asked for the end");
        }
    }
}

void Promises::ended() const {
    check_stops();
    check_asked();
    check_agreement();
    check_cut();
    check_known();
    check_times();
}

}  // namespace ako::sim
