// See ako_beginning.h.
#include "src/modes/ako_beginning.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "src/exchange/common_start.h"
#include "src/exchange/departures.h"
#include "src/exchange/incarnation.h"
#include "src/numbers/batch_plan.h"
#include "src/numbers/printed_number.h"

namespace ako {
namespace {

/// So many are to be there to begin; a peer that does not wait needs nobody.
std::size_t start_peers_min(const ModeSettings& settings) {
    return settings.exchange.start_wait_s == 0 ? 0 : settings.start_peers_min();
}

/// `meet`: within this a peer that is there, and can be reached, has a session (see Departures).
Joining::Times joining_times(const ExchangeTimes& times) {
    return {2 * times.life_timeout + Departures::redial, times.finish_timeout};
}

}  // namespace

AkoBeginning::AkoBeginning(const ModeSettings& settings, Rows& rows, Roster& roster,
                           InitialValues& initial, const Joining::Send& send)
    : settings_(settings),
      rows_(rows),
      roster_(roster),
      start_wait_(settings, start_peers_min(settings)),
      others_(settings, roster),
      handover_(settings, roster, initial, send),
      joining_(rows.ledger(), roster, send, joining_times(settings.times())) {}

AkoBeginning::State AkoBeginning::step(bool unanswered, Time now) {
    if (state_ == State::waiting) wait(unanswered, now);
    if (state_ == State::joining) join(now);
    return state_;
}

void AkoBeginning::stop(Time now) {
    if (!rows_.claimed() && !had_process_before()) claim(now);
}

bool AkoBeginning::had_process_before() const {
    return joining_.highest() != 0 || roster_[roster_.self()].relayed_round > 0;
}

void AkoBeginning::fail(Ending ending, std::string why) {
    state_ = State::failed;
    ending_ = ending;
    why_not_ = std::move(why);
}

// ---- waiting

bool AkoBeginning::start_is_over(bool unanswered, Time now) {
    // A peer that was met before its first round has just begun, and so does this peer.
    if (run_there() || others_.train()) return true;
    if (!others_.heard_all()) return false;  // what they have to say may tell of a run
    // A peer that is refused goes at once, so that the others may never have all of them there.
    const std::string apart = others_.why_apart();
    const bool refused = others_.met_all() && !apart.empty();
    const StartWait::State wait =
        refused ? StartWait::State::over
                : start_wait_.look(std::popcount(others_.absent()), unanswered, now);
    if (wait == StartWait::State::failed) fail(Ending::failed, start_wait_.why_not());
    if (wait == StartWait::State::over && !apart.empty()) fail(Ending::failed, apart);
    if (wait != StartWait::State::over || !apart.empty()) return false;
    // Whoever begins before two others have met makes one of them a peer that comes into a run that
    // is under way, whose word of the other's row is not from a disk, and costs it its vote.
    if (!could_begin_at_) could_begin_at_ = now;
    return !goes_on() || others_.all_have_sessions() ||
           now - *could_begin_at_ >= joining_times(settings_.times()).meet;
}

void AkoBeginning::wait(bool unanswered, Time now) {
    if (others_.awaits_own_word()) return;
    if (run_there()) others_.keep_run_there();
    start_is_over_ = start_is_over_ || start_is_over(unanswered, now);
    if (!start_is_over_ || !step_initial(now)) return;
    if (!run_there() && !goes_on()) return claim(now);
    others_.keep_going_on();
    state_ = State::joining;
    joining_.begin(now);
}

bool AkoBeginning::step_initial(Time now) {
    const InitialHandover::State state = handover_.step(others_.run_certain(), now);
    if (state == InitialHandover::State::failed) fail(Ending::failed, handover_.why_not());
    return state == InitialHandover::State::done;
}

// ---- joining

void AkoBeginning::join(Time now) {
    const bool over = joining_.step(now);
    if (joining_.informed()) say_what_comes();
    if (!over) return;
    if (joining_.another()) {
        rows_.set_aside(joining_.to_add());
        return joining_.put_aside(now);
    }
    const PeerSet in_part = rows_in_part();
    if ((in_part & peer_bit(roster_.self())) != 0)
        return fail(Ending::failed, "of what " + own_name() +
                                        " has learned only a part is on the disks of those who are "
                                        "here: start it again once " +
                                        settings_.names(others_.absent()) + " can be reached");
    claim(now);
    if (state_ == State::begun) say_joined(now, in_part);
}

PeerSet AkoBeginning::silent_holders() const {
    const RowIndex row = rows_.ledger().own();
    PeerSet holders = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const bool silent = (joining_.silent() & peer_bit(peer)) != 0;
        const std::optional<Status>& status = roster_[peer].status;
        if (silent && status && status->rows[row].highest.round > 0) holders |= peer_bit(peer);
    }
    return holders;
}

PeerSet AkoBeginning::rows_in_part() const {
    PeerSet owners = 0;
    // In a run that is under way nobody has more of a row than its owner had sent.
    if (!goes_on() || run_there() || others_.absent() == 0) return 0;
    for (const RowIndex row : rows_.ledger().all()) {
        const RowHeld held = rows_.ledger().held(row);
        if (held.highest != Version{} && held.lowest == Version{})
            owners |= peer_bit(owner_of(row));
    }
    return owners;
}

void AkoBeginning::claim(Time now) {
    const RowHeld held = rows_.ledger().held(rows_.ledger().own());
    const PeerView& own = roster_[roster_.self()];
    if (held.highest == Version{} && state_ == State::joining && silent_holders() != 0) {
        return fail(Ending::failed, "only " + settings_.names(silent_holders()) +
                                        " may hold what an earlier process of " + own_name() +
                                        " has learned, and did not answer for " +
                                        printed("%g s", settings_.exchange.finish_timeout_s) +
                                        ": start this peer again once it does");
    }
    const Incarnation known =
        std::max({joining_.highest(), rows_.incarnation(), held.highest.incarnation});
    // A peer that has nothing of its row replaces no row: it begins one apart, to be added up.
    const bool has_nothing =
        held.highest == Version{} && rows_.incarnation() == 0 && !joining_.has_put_aside();
    const std::optional<Incarnation> incarnation =
        next_incarnation(has_nothing ? 0 : known, settings_.process_id);
    if (!incarnation)
        return fail(Ending::broken, "the row of " + own_name() +
                                        " has had more processes than can be counted (" +
                                        std::to_string(lives_max) +
                                        "): end the run, and begin one anew from a saved model "
                                        "with --set model.initial=FILE");
    const Round round = std::max({own.announced, own.relayed_round, held.highest.round});
    // What a Status says of samples may be older than a block of the row; a round is a batch, or
    // more.
    const BatchPlan plan(settings_.training, settings_.peer_count());
    const std::uint64_t samples = std::max(own.samples, round * plan.share_min());
    // Peers that waited together have heard of the same processes.
    if (run_id_ == 0) run_id_ = others_.lowest_process();
    handover_.end();
    rows_.claim(*incarnation, round, now);
    roster_.set_own(round, samples);
    state_ = State::begun;
}

// ---- what others say

void AkoBeginning::heard(PeerIndex from, const Status& status, bool first, Time now) {
    const Incarnation own_row = status.rows[rows_.ledger().own()].highest.incarnation;
    joining_.heard_of(own_row);
    if (first) others_.heard_first(from, status);
    if (state_ != State::begun) others_.heard_start(from, status);
    hear_run_id(from, status);
    if (handover_.gives_way_to(status)) {
        fail(Ending::broken, "peer " + settings_.peer_names[from] +
                                 " trains from other initial parameters than this one, which it " +
                                 "could not reach when it began: start this peer again, and it " +
                                 "takes those over");
    }
    if (state_ == State::failed) return;
    // Every Status is looked at and not only the first, which its sender may have said before it
    // had heard of the run. A peer that goes on from a checkpoint tells of its disk until it has
    // begun, and one that begins anew may have taken that over.
    const bool from_disk = status.start.resuming || (goes_on() && begins_anew(status, from));
    if (state_ == State::waiting && !from_disk) others_.heard_of_run(from, status);
    if (state_ != State::begun) return;
    const Rival met = rival(own_row, rows_.incarnation());
    if (met != Rival::none) meet_rival(from, met, now);
}

void AkoBeginning::hear_run_id(PeerIndex from, const Status& status) {
    if (status.start.run_id == 0 || status.start.run_id == run_id_) return;
    if (status.start.resuming && !goes_on()) return;  // it may be refused
    if (state_ != State::begun && !settings_.checkpoints.empty()) {
        const std::string what =
            status.start.resuming ? " goes on from a checkpoint" : " trains in a run";
        return fail(Ending::failed,
                    "peer " + settings_.peer_names[from] + what +
                        " that is of another run than this peer's checkpoint: go on from "
                        "checkpoints of one run, or remove those of " +
                        own_name() + ", and it has its row from the others");
    }
    // Two halves that did not know of each other come to the same.
    if (run_id_ == 0 || (!status.start.resuming && status.start.run_id < run_id_))
        run_id_ = status.start.run_id;
}

void AkoBeginning::meet_rival(PeerIndex from, Rival rival, Time now) {
    const std::string another = "another process has trained as " + own_name();
    if (++rivals_ > rivals_max) {
        return fail(Ending::broken, another + " again and again, and peer " +
                                        settings_.peer_names[from] +
                                        " goes on with its row: end one of the two");
    }
    settings_.log(another + (rival == Rival::begun_apart
                                 ? ", each apart from the other: joins again, with what both made"
                                 : " and goes on with its row: joins again, from there"));
    rows_.disclaim();
    roster_.forget_own();
    said_what_comes_ = false;
    others_.keep_run_there();
    state_ = State::joining;
    joining_.begin(now);
}

// ---- for people

std::string AkoBeginning::progress_text() const {
    if (settings_.sample_budget == 0) return "0 %";
    return printed("%.0f %%", 100 * static_cast<double>(roster_.samples()) /
                                  static_cast<double>(settings_.sample_budget));
}

void AkoBeginning::say_what_comes() {
    if (std::exchange(said_what_comes_, true)) return;
    const auto bytes = static_cast<double>(joining_.lacking() * settings_.block_elements * 4);
    settings_.log((others_.run_certain() ? "joins" : "goes on with") +
                  (" a run that is at " + progress_text()) + ": " +
                  printed("%.3g MB", bytes / 1e6) + " to come from " +
                  settings_.names(roster_.reached()));
}

void AkoBeginning::say_joined(Time now, PeerSet in_part) {
    const double seconds = seconds_of(now - joining_.began_at());
    std::string text = "has joined after " + printed("%.1f s", seconds) + ", goes on after round " +
                       std::to_string(roster_[roster_.self()].announced);
    if (joining_.lacking() > 0) {
        text += "; without " + std::to_string(joining_.lacking()) +
                " blocks that somebody had and that came no nearer for " +
                printed("%g s", settings_.exchange.finish_timeout_s);
    }
    if (joining_.silent() != 0)
        text += "; without what only " + settings_.names(joining_.silent()) +
                " may hold, who did not answer";
    if (in_part != 0)
        text += "; with a part of the rows of " + settings_.names(in_part) +
                ", of which the disks of " + settings_.names(others_.absent()) +
                ", who are not here, may have the rest";
    settings_.log(text);
}

}  // namespace ako
