// See ako_beginning.h.
#include "src/modes/ako_beginning.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "src/exchange/common_start.h"
#include "src/exchange/departures.h"
#include "src/exchange/incarnation.h"
#include "src/numbers/batch_plan.h"

namespace ako {
namespace {

/// Who does not wait needs nobody.
std::size_t start_peers_min(const ModeSettings& settings) {
    return settings.exchange.start_wait_s == 0 ? 0 : settings.start_peers_min();
}

/// Who is there, and can be reached, has a session within this: see Departures.
Joining::Times joining_times(const ExchangeTimes& times) {
    return {2 * times.life_timeout + Departures::redial, times.finish_timeout};
}

/// Whose initial parameters all take over, where they are not the same for all.
constexpr PeerIndex lowest_peer = 0;

/// Has this peer made a round, as far as the sender knows?
bool has_made(const Status& status, PeerIndex peer) {
    return status.standing.progress[peer].round > 0 || status.rows[row_of(peer)].highest.round > 0;
}

/// It waits for the first round of a run, as far as it says.
bool begins_anew(const Status& status, PeerIndex peer) {
    return !status.start.resuming && !status.start.joining && !has_made(status, peer);
}

std::string text_of(const char* format, double value) {
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

}  // namespace

AkoBeginning::AkoBeginning(const ModeSettings& settings, Rows& rows, Roster& roster,
                           InitialValues& initial, Joining::Send send)
    : settings_(settings),
      rows_(rows),
      roster_(roster),
      initial_(initial),
      send_(std::move(send)),
      start_wait_(settings, start_peers_min(settings)),
      joining_(rows.ledger(), roster, send_, joining_times(settings.times())),
      have_from_(settings.checkpoints.empty() ? 0 : peer_bit(settings.self)),
      lowest_process_(settings.process_id) {}

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

bool AkoBeginning::others_train() const {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const PeerView& view = roster_[peer];
        if (!view.heard || !roster_.reachable(peer) || view.joins()) continue;
        if (has_made(*view.status, peer)) return true;
    }
    return false;
}

bool AkoBeginning::heard_all() const {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peer != roster_.self() && roster_.reachable(peer) && !roster_[peer].heard) return false;
    }
    return true;
}

bool AkoBeginning::run_there() const { return run_there_ || (told_of_ & ~met_at_zero_) != 0; }

void AkoBeginning::hear_of_run(PeerIndex from, const Status& status) {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if ((met_at_zero_ & peer_bit(peer)) != 0 || !has_made(status, peer)) continue;
        if (peer == from || peer == settings_.self)
            run_there_ = true;
        else
            told_of_ |= peer_bit(peer);
    }
}

// What others tell of a peer may be newer than its own first word, which is still on its way: that
// one decides. Who cannot be reached has none to say.
bool AkoBeginning::awaits_own_word() const {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const bool told_of = (told_of_ & peer_bit(peer)) != 0;
        if (told_of && roster_.reachable(peer) && !roster_[peer].heard) return true;
    }
    return false;
}

// Who came and went without a word may have been one that is refused.
std::size_t AkoBeginning::absent_count() const {
    std::size_t absent = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peer == roster_.self()) continue;
        if (!roster_[peer].live() || !roster_[peer].status) ++absent;
    }
    return absent;
}

bool AkoBeginning::met_all() const {
    const PeerSet met = resuming_ | anew_ | peer_bit(roster_.self());
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if ((met & peer_bit(peer)) == 0) return false;
    }
    return true;
}

std::string AkoBeginning::why_apart() const {
    const PeerSet self = peer_bit(roster_.self());
    const PeerSet going_on = resuming_ | (settings_.resumes ? self : 0);
    const PeerSet anew = anew_ | (settings_.resumes ? 0 : self);
    if (going_on == 0) return "";
    if (anew != 0) return mixed_start_text(name_list(going_on), name_list(anew));
    if (have_from_ != 0) return "";
    return "none of " + names(going_on) +
           " has a checkpoint to go on from: begin anew, without --resume, or from a saved model "
           "with --set model.initial=FILE";
}

bool AkoBeginning::start_is_over(bool unanswered, Time now) {
    // Who has been met before its first round has just begun, and so does this peer.
    if (run_there_ || others_train()) return true;
    if (!heard_all()) return false;  // what they have to say may tell of a run
    // Who is refused goes at once, so that the others may never have all of them there.
    const std::string apart = why_apart();
    const bool refused = met_all() && !apart.empty();
    const StartWait::State wait =
        refused ? StartWait::State::over : start_wait_.look(absent_count(), unanswered, now);
    if (wait == StartWait::State::failed) fail(Ending::failed, start_wait_.why_not());
    if (wait == StartWait::State::over && !apart.empty()) fail(Ending::failed, apart);
    return wait == StartWait::State::over && apart.empty();
}

void AkoBeginning::wait(bool unanswered, Time now) {
    if (!run_there_ && awaits_own_word()) return;
    run_there_ = run_there();
    start_is_over_ = start_is_over_ || start_is_over(unanswered, now);
    if (!start_is_over_ || !step_initial(now)) return;
    if (!run_there_ && !settings_.resumes) return claim(now);
    state_ = State::joining;
    joining_.begin(now);
}

// ---- initial parameters

bool AkoBeginning::step_initial(Time now) {
    if (initial_.known()) return has_given_initial(now);
    // Whoever has some has them from this peer's earlier process, and they count.
    const bool is_lowest = settings_.self == lowest_peer;
    if (is_lowest && initial_.holders() == 0 && !run_there_ && initial_.untouched()) {
        initial_.keep_own();
        gives_initial_since_ = now;
        return has_given_initial(now);
    }
    takes_initial_ = true;
    for (Puller::Ask& ask : initial_.step(now)) send_(ask.holder, std::move(ask.want));
    if (initial_.holders() != 0) say_takes_initial();
    if (now - initial_.moved_at() > settings_.times().finish_timeout) {
        fail(Ending::failed,
             "the initial parameters, which all take over from peer " +
                 settings_.peer_names[lowest_peer] + ", came no nearer for " +
                 text_of("%g s", settings_.exchange.finish_timeout_s) +
                 (initial_.holders() == 0 ? ", and nobody here has them: start that peer, or begin "
                                            "the run anew"
                                          : ": look at the network between them"));
    }
    return false;
}

// It serves them while it waits, and between two rounds only once it trains. Who asks for nothing
// is not waited for.
bool AkoBeginning::has_given_initial(Time now) {
    if (!gives_initial_since_) return true;
    bool all = true;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peer == settings_.self || !roster_.reachable(peer)) continue;
        all = all && roster_[peer].status && roster_[peer].status->start.initial;
    }
    const Time since = std::max(*gives_initial_since_, initial_.asked_at());
    const Time patience = settings_.times().life_timeout;
    if (!all && now - since <= patience) return false;
    gives_initial_since_.reset();
    return true;
}

std::uint64_t AkoBeginning::samples_from(const Digest& initial) const {
    std::uint64_t samples = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const std::optional<Status>& status = roster_[peer].status;
        const bool own = peer == settings_.self;
        if (own ? initial_.said() == initial : status && status->start.initial == initial)
            samples += roster_[peer].samples;
    }
    return samples;
}

// Those who have come less far give up, so that one process with other values does not end a run.
void AkoBeginning::meet_other_initial(PeerIndex from, const Digest& digest) {
    const Digest& own = *initial_.said();
    const std::uint64_t ours = samples_from(own), theirs = samples_from(digest);
    if (ours > theirs || (ours == theirs && own < digest)) return;
    fail(Ending::broken, "peer " + settings_.peer_names[from] +
                             " trains from other initial parameters than this one, which it " +
                             "could not reach when it began: start this peer again, and it takes " +
                             "those over");
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
    claim(now);
    if (state_ == State::begun) say_joined(now);
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

void AkoBeginning::claim(Time now) {
    const RowHeld held = rows_.ledger().held(rows_.ledger().own());
    const PeerView& own = roster_[roster_.self()];
    if (held.highest == Version{} && state_ == State::joining && silent_holders() != 0) {
        return fail(Ending::failed, "only " + names(silent_holders()) +
                                        " may hold what an earlier process of " + own_name() +
                                        " has learned, and did not answer for " +
                                        text_of("%g s", settings_.exchange.finish_timeout_s) +
                                        ": start this peer again once it does");
    }
    const Incarnation known =
        std::max({joining_.highest(), rows_.incarnation(), held.highest.incarnation});
    // Who has nothing of its row takes the place of none: it begins one apart, to be added up.
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
    settle_run_id();
    takes_initial_ = false;
    rows_.claim(*incarnation, round, now);
    roster_.set_own(round, samples);
    state_ = State::begun;
}

// ---- what others say

void AkoBeginning::heard(PeerIndex from, const Status& status, bool first, Time now) {
    const Incarnation own_row = status.rows[rows_.ledger().own()].highest.incarnation;
    joining_.heard_of(own_row);
    if (first) {
        met_at_zero_ &= ~peer_bit(from);
        if (!has_made(status, from)) met_at_zero_ |= peer_bit(from);
    }
    if (state_ != State::begun) hear_of_start(from, status);
    hear_run_id(from, status);
    if (initial_.differ(status)) meet_other_initial(from, *status.start.initial);
    if (state_ == State::failed) return;
    // Every Status is looked at and not only the first, which its sender may have said before it
    // had heard of the run. A peer that goes on from a checkpoint tells of its disk until it has
    // begun, and one that begins anew may have taken that over.
    const bool from_disk =
        status.start.resuming || (settings_.resumes && begins_anew(status, from));
    if (state_ == State::waiting && !from_disk) hear_of_run(from, status);
    if (state_ != State::begun) return;
    const Rival met = rival(own_row, rows_.incarnation());
    if (met != Rival::none) meet_rival(from, met, now);
}

void AkoBeginning::hear_of_start(PeerIndex from, const Status& status) {
    const auto set = [bit = peer_bit(from)](PeerSet& peers, bool is_in) {
        peers = is_in ? peers | bit : peers & ~bit;
    };
    const bool waits = begins_anew(status, from);
    set(resuming_, status.start.resuming);
    set(anew_, waits);
    set(have_from_, status.start.resuming && !status.start.checkpoints.empty());
    if (waits && status.heartbeat.process_id != 0)
        lowest_process_ = std::min(lowest_process_, status.heartbeat.process_id);
}

void AkoBeginning::hear_run_id(PeerIndex from, const Status& status) {
    if (status.start.run_id == 0 || status.start.run_id == run_id_) return;
    if (status.start.resuming && !settings_.resumes) return;  // it may be refused
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

// Who waited together has heard of the same processes.
void AkoBeginning::settle_run_id() {
    if (run_id_ == 0) run_id_ = lowest_process_;
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
    run_there_ = true;
    state_ = State::joining;
    joining_.begin(now);
}

// ---- for people

std::string AkoBeginning::progress_text() const {
    if (settings_.sample_budget == 0) return "0 %";
    return text_of("%.0f %%", 100 * static_cast<double>(roster_.samples()) /
                                  static_cast<double>(settings_.sample_budget));
}

std::string AkoBeginning::names(PeerSet peers) const {
    std::string text;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peers & peer_bit(peer)) text += (text.empty() ? "" : ", ") + settings_.peer_names[peer];
    }
    return text;
}

std::vector<std::string> AkoBeginning::name_list(PeerSet peers) const {
    std::vector<std::string> list;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peers & peer_bit(peer)) list.push_back(settings_.peer_names[peer]);
    }
    return list;
}

void AkoBeginning::say_what_comes() {
    if (std::exchange(said_what_comes_, true)) return;
    const auto bytes = static_cast<double>(joining_.lacking() * settings_.block_elements * 4);
    settings_.log((run_there_ ? "joins" : "goes on with") +
                  (" a run that is at " + progress_text()) + ": " +
                  text_of("%.3g MB", bytes / 1e6) + " to come from " + names(roster_.reached()));
}

void AkoBeginning::say_takes_initial() {
    if (std::exchange(said_takes_initial_, true)) return;
    const auto bytes = static_cast<double>(initial_.lacking() * settings_.block_elements * 4);
    settings_.log("takes over the initial parameters: " + text_of("%.3g MB", bytes / 1e6) +
                  " to come from " + names(initial_.holders()));
}

void AkoBeginning::say_joined(Time now) {
    const double seconds = seconds_of(now - joining_.began_at());
    std::string text = "has joined after " + text_of("%.1f s", seconds) + ", goes on after round " +
                       std::to_string(roster_[roster_.self()].announced);
    if (joining_.lacking() > 0) {
        text += "; without " + std::to_string(joining_.lacking()) +
                " blocks that somebody had and that came no nearer for " +
                text_of("%g s", settings_.exchange.finish_timeout_s);
    }
    if (joining_.silent() != 0)
        text += "; without what only " + names(joining_.silent()) + " may hold, who did not answer";
    settings_.log(text);
}

}  // namespace ako
