// One round of a peer, as seen by the compute thread: drain, stand in, train, add, publish.
#include "src/modes/ako_compute.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ako/assert.h"
#include "src/group/coverage.h"
#include "src/group/run_bounds.h"
#include "src/numbers/finite.h"

namespace ako {
namespace {

std::optional<Time> answers_within(const ExchangeSettings& exchange) {
    if (exchange.want_timeout_ms == 0) return std::nullopt;
    return std::chrono::milliseconds(exchange.want_timeout_ms);
}

FinishTimes finish_times(const ExchangeSettings& exchange) {
    return {from_seconds(exchange.finish_exchange_s), from_seconds(exchange.finish_linger_s),
            from_seconds(exchange.finish_timeout_s)};
}

/// In the final exchange all have to get the whole row anew, for which less than this is not worth
/// it: of all together that gives way of what was learned apart, to whoever came back.
constexpr double share_at_end_min = 0.05;

}  // namespace

AkoCompute::AkoCompute(const ModeSettings& settings, std::span<float> initial, Mailbox& mailbox,
                       Outbox& outbox, Snapshots& snapshots)
    : settings_(settings),
      blocks_(initial.size(), settings.block_elements),
      plan_(settings.training, settings.peer_count()),
      mailbox_(mailbox),
      outbox_(outbox),
      rows_(settings.self, settings.peer_count(), blocks_, initial, outbox, snapshots,
            settings.peer_count() == 1 ? Precision::float32 : settings.exchange.precision),
      roster_(settings.self, settings.peer_count(), answers_within(settings.exchange)),
      optimizer_(initial.size(), settings.training, settings.layers),
      finish_(
          rows_.ledger(), roster_,
          [this](PeerIndex peer, Header header)
              AKO_COMPUTE_THREAD { outbox_.send(peer, std::move(header)); },
          finish_times(settings.exchange), settings.process_id),
      relaying_(rows_.ledger(), roster_, outbox_),
      initial_(initial, blocks_, roster_, settings.initial_of_lowest),
      beginning_(settings, rows_, roster_, initial_,
                 [this](PeerIndex peer, Header header)
                     AKO_COMPUTE_THREAD { outbox_.send(peer, std::move(header)); }),
      bound_(settings.exchange.staleness_rounds_max,
             std::chrono::milliseconds(settings.exchange.life_timeout_ms), rows_.ledger(), roster_),
      attendance_(roster_, std::chrono::milliseconds(settings.exchange.life_timeout_ms)),
      growth_(plan_),
      ages_(settings.peer_count()),
      refused_(settings.peer_count()) {
    outbox_.lift_grants(true);
    if (!settings_.checkpoints.empty()) {
        const Result<Checkpoint> read = settings_.read_checkpoint(settings_.checkpoints.front());
        if (!read) throw StartupError(read.error().what, without_this_checkpoint);
        const Result<void> restored = restore(*read);
        if (!restored)
            throw StartupError(read->path + ": " + restored.error().what, without_this_checkpoint);
        settings_.log("has its rows from a checkpoint of round " + std::to_string(read->id.round));
    }
    if (settings_.resumes)
        finish_.resume(rows_.ledger().held(rows_.ledger().own()).highest.incarnation);
    post_status(true);
}

// ---- rounds

std::optional<Next> AkoCompute::begin_round(Time now) {
    drain(now);
    finish_.step(now);
    left_behind_ = left_behind_ || mailbox_.left_behind();
    if (beginning_.state() != AkoBeginning::State::begun) {
        std::optional<Next> next = begin(now);
        answer();
        if (next || beginning_.state() != AkoBeginning::State::begun) return next;
    }
    if (progress() >= 1.0) hear_stop(StopReason::budget_spent);
    if (stop_ != StopReason::none) return stopped();
    if (left_behind_) return Next::finish(left_behind_text);
    if (asked_to_leave_) return leave(now);
    meet(now);
    const bool waits = too_stale(now);
    if (waits || !rows_.gives_way()) answer();
    if (waits) return std::nullopt;
    update_scale_ = settings_.exchange.rule == Rule::anchored ? attendance_.scale() : 1;
    update_standing_in(now);
    if (settings_.coverage != nullptr) settings_.coverage->follow(roster_, round_);
    return Next::train(images());
}

std::optional<Next> AkoCompute::begin(Time now) {
    if (beginning_.state() == AkoBeginning::State::failed)
        return Next::give_up(beginning_.ending(), beginning_.why_not());
    if (stop_ != StopReason::none || asked_to_leave_) {
        // Once somebody has trained, there is something to finish together. Who is asked before
        // that goes alone and tells nobody, so a stop that is heard of says that somebody has, also
        // where that one's own word is still on its way.
        const PeerSet self = peer_bit(settings_.self);
        const bool own_wish = stop_ == StopReason::none ||
                              (stop_ == StopReason::requested && asked_ == self);
        const bool nothing_yet = roster_.samples() == 0 || beginning_.waits_to_go_on();
        if (own_wish && nothing_yet && !beginning_.run_there())
            return Next::give_up(Ending::failed, never_began);
        if (stop_ == StopReason::none) return leave(now);
        // What is agreed on at the end is made of them.
        if (beginning_.step_initial(now)) {
            beginning_.stop(now);
            return stopped();
        }
        post_status(false);
        if (beginning_.state() != AkoBeginning::State::failed) return std::nullopt;
        return Next::give_up(beginning_.ending(), beginning_.why_not());
    }
    const AkoBeginning::State before = beginning_.state();
    const AkoBeginning::State state = beginning_.step(mailbox_.unanswered() != 0, now);
    if (state == AkoBeginning::State::failed)
        return Next::give_up(beginning_.ending(), beginning_.why_not());
    if (state != AkoBeginning::State::begun) {
        // Others pull from it what has come of the lost, and serve it if it joins.
        post_status(state != before);
        return std::nullopt;
    }
    round_ = roster_[settings_.self].announced;
    samples_ = roster_[settings_.self].samples;
    attendance_.begin(now);
    kept_share_ = 1;
    if (!std::exchange(keeps_velocity_, false))  // what it carried is gone
        optimizer_ = Sgd(blocks_.element_count(), settings_.training, settings_.layers);
    outbox_.lift_grants(false);
    post_status(state != before);
    return std::nullopt;
}

bool AkoCompute::too_stale(Time now) {
    if (!bound_.active()) return false;
    // Others wait for this peer to hold what they sent, so it says so at once.
    bool rose = false;
    for (const RowIndex row : rows_.ledger().all()) {
        rose = rose || rows_.ledger().held(row).lowest.round > lowest_told_[row];
    }
    if (rose) post_status(true);
    const bool wait = bound_.must_wait(now);
    if (wait != std::exchange(held_back_, wait)) outbox_.lift_grants(wait);
    for (const PeerIndex peer : bound_.take_given_up()) {
        ++peers_given_up_;
        settings_.log("peer " + name(peer) + " does not move: not waited for until it does " +
                      "(staleness_rounds_max)");
    }
    return wait;
}

std::vector<PeerIndex> AkoCompute::missing() const {
    std::vector<PeerIndex> absent;
    for (PeerIndex peer = 0; peer < settings_.peer_count(); ++peer) {
        if (!roster_[peer].live()) absent.push_back(peer);
    }
    return absent;
}

Result<void> AkoCompute::end_round(const Learned& learned, const RoundResult& result, Time now) {
    if (!all_finite(values_of(learned))) {
        const std::string loss =
            result.loss ? " (loss " + std::to_string(*result.loss) + ")" : std::string();
        return fail(Error::Kind::numbers, std::string("the ") + noun_of(learned) + " of round " +
                                              std::to_string(round_ + 1) + " is not finite" + loss);
    }
    if (!rows_.add(round_ + 1, update_of(learned), now)) {
        return fail(Error::Kind::numbers,
                    "the sum of this peer's updates is not finite or beyond 2^24 in round " +
                        std::to_string(round_ + 1) + ": the training diverges");
    }
    kept_share_ = 1;
    answer();
    growth_.end_round(progress(), growth_.wish(), result.noise_scale);
    ++round_;
    samples_ += result.samples;
    loss_ = result.loss;
    roster_.set_own(round_, samples_);
    if (settings_.coverage != nullptr) settings_.coverage->round_ended();
    post_status(false);
    return {};
}

Rows::MakeUpdate AkoCompute::update_of(const Learned& learned) {
    const std::span<const float> values = values_of(learned);
    if (std::holds_alternative<Update>(learned)) {
        const auto scale = static_cast<float>(update_scale_);
        return [values, scale](Range range, std::span<float> update) {
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(range.first), range.count,
                        update.begin());
            for (float& element : update) element *= scale;
        };
    }
    if (optimizer_.measures()) optimizer_.measure({0, values.size()}, values, 1, replica());
    const double rate = update_scale_ * plan_.learning_rate(progress(), growth_.wish());
    return [this, values, rate](Range range, std::span<float> update)
               AKO_COMPUTE_THREAD { optimizer_.step(range, values, replica(), rate, update); };
}

std::size_t AkoCompute::images() const {
    std::size_t place = 0, participants = 1;
    // The published rule weighs every row by 1 / peer_count, whoever is there.
    const bool all = settings_.exchange.rule == Rule::plain;
    for (PeerIndex peer = 0; peer < settings_.peer_count(); ++peer) {
        if (peer == settings_.self || !(all || attendance_.takes_part(peer))) continue;
        ++participants;
        if (peer < settings_.self) ++place;
    }
    return plan_.share(plan_.global(progress(), growth_.wish()), place, participants);
}

void AkoCompute::meet(Time now) {
    if (settings_.exchange.rule == Rule::plain) return;
    PeerSet before = 0;
    for (PeerIndex peer = 0; peer < settings_.peer_count(); ++peer) {
        if (attendance_.takes_part(peer)) before |= peer_bit(peer);
    }
    for (const Attendance::Return& back : attendance_.look(now)) {
        const Round since = rows_.replica().apart_since(back.peer);
        if (!rows_.give_way(back.peer, back.share, back.before)) continue;
        kept_share_ *= 1 - back.share;
        const double percent = 100 * back.share;
        if (percent < 1) continue;  // of who stood still, or was slow
        settings_.log("peer " + name(back.peer) + " made " + std::to_string(back.rounds) +
                      " rounds apart from this one: of what was learned here since round " +
                      std::to_string(since) + ", " + std::to_string(std::lround(percent)) +
                      " % gives way to that");
    }
    for (PeerIndex peer = 0; peer < settings_.peer_count(); ++peer) {
        if ((before & peer_bit(peer)) != 0 && !attendance_.takes_part(peer)) rows_.heard_of(peer);
    }
}

void AkoCompute::meet_at_the_end(Time now) {
    if (!may_add_nothing() || !finish_.decided().none()) return;
    meet(now);
    if (1 - kept_share_ < share_at_end_min) return;
    if (add_nothing(now)) finish_.rows_change(now);
}

bool AkoCompute::close_row(Time now) {
    if (rows_.precision() != Precision::adaptive || !may_add_nothing()) return false;
    if (posted_ && posted_->final_round) return false;  // as one that left, it has said its last
    return add_nothing(now);
}

bool AkoCompute::may_add_nothing() const {
    // Who has made no round in a row of its own has nothing to give.
    return !finish_.frozen() && rows_.claimed() && round_ > 0 &&
           round_ < RunBounds::of(settings_).round_max;
}

bool AkoCompute::add_nothing(Time now) {
    const auto nothing = [](Range, std::span<float> update) {
        std::fill(update.begin(), update.end(), 0.0f);
    };
    if (!rows_.add(round_ + 1, nothing, now)) return false;  // what was there before stays
    kept_share_ = 1;
    roster_.set_own(++round_, samples_);
    return true;
}

void AkoCompute::update_standing_in(Time now) {
    for (PeerIndex peer = 0; peer < settings_.peer_count(); ++peer) {
        if (peer == settings_.self) continue;
        const bool stand_in =
            settings_.exchange.rule == Rule::anchored && roster_.advancing(peer, round_);
        rows_.stand_in(peer, stand_in, now);
    }
}

// ---- stopping

void AkoCompute::hear_stop(StopReason reason, PeerSet asked) {
    // What the training came to by itself outweighs what was asked for, whoever hears of it first.
    const bool may_change = stop_ == StopReason::none || stop_ == StopReason::requested;
    if (may_change && reason != StopReason::none) stop_ = reason;
    if (reason == StopReason::requested) asked_ |= asked;
}

std::vector<PeerIndex> AkoCompute::asked() const {
    std::vector<PeerIndex> peers;
    if (stop_ != StopReason::requested) return peers;
    for (PeerIndex peer = 0; peer < settings_.peer_count(); ++peer) {
        if (asked_ & peer_bit(peer)) peers.push_back(peer);
    }
    return peers;
}

Next AkoCompute::stopped() const {
    if (stop_ != StopReason::requested) return Next::finish(sentence(stop_));
    std::vector<std::string> names;
    for (const PeerIndex peer : asked()) names.push_back(name(peer));
    const std::string why = sentence(stop_) + (": " + asked_text(names));
    if (!(asked_ & peer_bit(settings_.self))) settings_.log(why);
    return Next::finish(why);
}

void AkoCompute::announce(const Verdict& verdict) {
    verdict_ = verdict;
    post_status(false);
}

// ---- checkpoints

bool AkoCompute::save(Checkpoint& out) {
    if (!claimed()) return false;
    out.id = {settings_.process_id, round_};
    out.samples = samples_;
    out.progress = progress();
    rows_.save(out);
    out.put("velocity", optimizer_.velocity());
    out.numbers["batch_doublings"] = growth_.wish();
    out.numbers["run_id"] = beginning_.run_id();
    std::vector<std::uint64_t>& known = out.words["progress"];
    known.clear();
    for (const Progress& peer : roster_.progress())
        known.insert(known.end(), {peer.round, peer.samples});
    if (settings_.coverage != nullptr) {
        // What this peer has in hand is not said: it may take it once more.
        const Covered covered = settings_.coverage->said();
        out.numbers["covered_pass"] = covered.pass;
        out.put("covered", covered.done);
        out.put("covered_next", covered.done_next);
    }
    return true;
}

Result<void> AkoCompute::restore(const Checkpoint& from) {
    const std::size_t peers = settings_.peer_count();
    const auto known = from.word_list("progress", 2 * peers);
    if (!known) return tl::make_unexpected(known.error());
    const auto run_id = from.number("run_id");
    if (!run_id) return tl::make_unexpected(run_id.error());
    if (settings_.coverage != nullptr) {
        const auto pass = from.number("covered_pass");
        const auto done = from.word_list("covered"), done_next = from.word_list("covered_next");
        if (!pass) return tl::make_unexpected(pass.error());
        if (!done) return tl::make_unexpected(done.error());
        if (!done_next) return tl::make_unexpected(done_next.error());
        Covered covered;
        covered.pass = static_cast<std::uint32_t>(*pass);
        covered.done.assign(done->begin(), done->end());
        covered.done_next.assign(done_next->begin(), done_next->end());
        settings_.coverage->hear(settings_.self, covered);
    }
    const auto doublings = from.number("batch_doublings");
    if (!doublings) return tl::make_unexpected(doublings.error());
    growth_.hear_of(*doublings);
    if (const auto rows = rows_.restore(from); !rows) return rows;
    if (const auto copied = from.copy("velocity", optimizer_.velocity()); !copied) return copied;
    std::vector<Progress> progress;
    for (std::size_t k = 0; k < peers; ++k)
        progress.push_back({(*known)[2 * k], (*known)[2 * k + 1]});
    roster_.restore(progress);
    beginning_.restored(*run_id);
    keeps_velocity_ = true;
    return {};
}

// ---- what others may ask

double AkoCompute::progress() const {
    if (settings_.sample_budget == 0) return 1.0;
    return std::min(
        1.0, static_cast<double>(roster_.samples()) / static_cast<double>(settings_.sample_budget));
}

void AkoCompute::copy_parameters(std::span<float> out) const { rows_.copy_anchor(out); }

Standing AkoCompute::standing() const {
    const bool evaluates = roster_.lowest_live() == settings_.self;
    return {round_, progress(), evaluates, verdict_, samples_, joins()};
}

LinkView AkoCompute::link(PeerIndex peer, Time now) const {
    const PeerView& view = roster_[peer];
    LinkView link = roster_.link_view(peer);
    link.joining = view.live() && view.joins();
    link.advancing = roster_.advancing(peer, round_);
    const Round lowest = rows_.ledger().held(row_of(peer)).lowest.round;
    if (view.announced > lowest) link.staleness_rounds = view.announced - lowest;
    const Time oldest = rows_.oldest_seal(row_of(peer));
    if (oldest != Time{0}) {
        link.staleness_ms = std::chrono::duration<double, std::milli>(now - oldest).count();
    }
    link.age_ms = std::chrono::duration<double, std::milli>(ages_[peer].median()).count();
    link.answer_ms = std::chrono::duration<double, std::milli>(roster_.answer_time(peer)).count();
    link.damaged_blocks = refused_[peer].damaged;
    link.diverged_blocks = refused_[peer].diverged;
    return link;
}

void AkoCompute::post_status(bool urgent) {
    Status status;
    status.loss = loss_;
    status.progress = roster_.progress();
    const Ledger& ledger = rows_.ledger();
    for (const RowIndex row : ledger.all()) status.rows.push_back(ledger.held(row));
    lowest_told_.clear();
    for (const RowHeld& held : status.rows) lowest_told_.push_back(held.lowest.round);
    status.stop = stop_;
    status.asked = asked_;
    status.joining = beginning_.takes_in() && !leaving_;
    status.process_id = settings_.process_id;
    status.resuming = settings_.resumes && beginning_.state() != AkoBeginning::State::begun;
    status.run_id = beginning_.run_id();
    if (status.resuming) status.checkpoints = settings_.checkpoints;
    status.initial = initial_.said();
    status.batch_doublings = static_cast<std::uint8_t>(growth_.wish());
    if ((finish_began_ || leaving_) && rows_.claimed()) status.final_round = round_;
    status.leaving = leaving_.has_value();
    if (settings_.coverage != nullptr) status.covered = settings_.coverage->said();
    status.accepted = finish_.accepted();
    status.decided = finish_.decided();
    status.digest = finish_.digest();
    status.verdict = verdict_;
    status.cut_blocks = initial_.known() ? finish_.cut().held() : initial_.held();
    status.has_vote = finish_.has_vote();
    status.may_have_voted = finish_.may_have_voted();
    if (!urgent && posted_ == status) return;  // what is no news waits for the next heartbeat
    posted_ = status;
    mailbox_.post(std::move(status), urgent);
}

}  // namespace ako
