// See ako_compute.h.
#include "src/modes/ako_compute.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/agreement/finish_report.h"
#include "src/agreement/why_not_agreed.h"
#include "src/exchange/coverage.h"
#include "src/numbers/digest.h"
#include "src/numbers/finite.h"

namespace ako {
namespace {

constexpr const char* left_behind_text =
    "the others ended while this peer stood still or was cut off";

/// A round is posted in so many parts at most.
constexpr BlockIndex parts_of_round = 8;

/// What an own round adds: the optimizer's step at `rate` for a gradient, an update as it is times
/// `scale`.
Rows::MakeUpdate update_of(const Learned& learned, Sgd& optimizer, std::span<const float> replica,
                           double rate, double scale) {
    const std::span<const float> values = values_of(learned);
    if (std::holds_alternative<Update>(learned)) {
        const auto factor = static_cast<float>(scale);
        return [values, factor](Range range, std::span<float> update) {
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(range.first), range.count,
                        update.begin());
            for (float& element : update) element *= factor;
        };
    }
    if (optimizer.measures()) optimizer.measure({0, values.size()}, values, 1, replica);
    return [&optimizer, replica, values, rate](Range range, std::span<float> update) {
        optimizer.step(range, values, replica, rate, update);
    };
}

}  // namespace

AkoCompute::AkoCompute(const ModeSettings& settings, std::span<float> initial, Mailbox& mailbox,
                       Outbox& outbox, Snapshots& snapshots)
    : parts_(settings, initial, mailbox, outbox, snapshots),
      meetings_(parts_),
      word_(parts_),
      arrivals_(parts_, word_),
      step_(parts_, word_),
      optimizer_(initial.size(), settings.training, settings.layers),
      ready_end_(initial.size()) {
    parts_.outbox.lift_grants(true);
    if (!parts_.settings.checkpoints.empty()) {
        Result<Checkpoint> read =
            parts_.settings.read_checkpoint(parts_.settings.checkpoints.front());
        if (!read) throw StartupError(read.error().what, without_this_checkpoint);
        const Result<void> restored = restore(*read);
        if (!restored)
            throw StartupError(read->path + ": " + restored.error().what, without_this_checkpoint);
        parts_.settings.log("has its rows from a checkpoint of round " +
                            std::to_string(read->id.round));
        restored_ = std::make_shared<const Checkpoint>(*std::move(read));
    }
    if (parts_.settings.resumes)
        parts_.finish.resume(
            parts_.rows.ledger().held(parts_.rows.ledger().own()).highest.incarnation);
    post_status(true);
}

// ---- rounds

std::optional<Next> AkoCompute::begin_round(Time now) {
    arrivals_.take_in(now);
    parts_.finish.step(now);
    left_behind_ = left_behind_ || parts_.mailbox.left_behind();
    if (state() != AkoBeginning::State::begun) {
        std::optional<Next> next = begin(now);
        arrivals_.answer();
        if (next || state() != AkoBeginning::State::begun) return next;
    }
    if (parts_.budget.spent()) parts_.stop.hear(StopReason::budget_spent);
    if (parts_.stop.due()) return parts_.stop.next();
    if (left_behind_) return Next::finish(left_behind_text);
    if (asked_to_leave_) return leave(now);
    meetings_.meet(now);
    const bool waits = step_.must_wait(now);
    if (waits || !parts_.rows.gives_way()) arrivals_.answer();
    if (waits) return std::nullopt;
    meetings_.begin_round(now);
    if (parts_.settings.coverage != nullptr)
        parts_.settings.coverage->follow(parts_.roster, parts_.budget.round());
    return Next::train(parts_.budget.samples_of_round(meetings_.attendance()));
}

std::optional<Next> AkoCompute::begin(Time now) {
    if (state() == AkoBeginning::State::failed)
        return Next::give_up(parts_.beginning.ending(), parts_.beginning.why_not());
    if (parts_.stop.due() || asked_to_leave_) return end_before_begun(now);
    const AkoBeginning::State before = state();
    const AkoBeginning::State after = parts_.beginning.step(parts_.mailbox.unanswered() != 0, now);
    if (after == AkoBeginning::State::failed)
        return Next::give_up(parts_.beginning.ending(), parts_.beginning.why_not());
    if (after != AkoBeginning::State::begun) {
        // Others pull from it what has come of the lost, and serve it if it joins.
        post_status(after != before);
        return std::nullopt;
    }
    parts_.budget.begin();
    meetings_.begin(now);
    if (!std::exchange(keeps_velocity_, false))  // what it carried is gone
        optimizer_ =
            Sgd(parts_.blocks.element_count(), parts_.settings.training, parts_.settings.layers);
    step_.begin();
    post_status(after != before);
    return std::nullopt;
}

std::optional<Next> AkoCompute::end_before_begun(Time now) {
    // Peers finish together once somebody has trained. A peer that is asked to end before that goes
    // alone and tells nobody. So a stop that is heard of means that somebody has trained, even if
    // that peer's own word is still on its way.
    const bool goes_on = parts_.beginning.state() == AkoBeginning::State::waiting &&
                         parts_.beginning.goes_on();  // with what is on disks, and no run
    const bool nothing_yet = parts_.roster.samples() == 0 || goes_on;
    if (parts_.stop.is_own() && nothing_yet && !parts_.beginning.run_there())
        return Next::give_up(Ending::failed, never_began);
    if (!parts_.stop.due()) return leave(now);
    // What is agreed on at the end is made of them.
    if (parts_.beginning.step_initial(now)) {
        parts_.beginning.stop(now);
        return parts_.stop.next();
    }
    post_status(false);
    if (state() != AkoBeginning::State::failed) return std::nullopt;
    return Next::give_up(parts_.beginning.ending(), parts_.beginning.why_not());
}

std::vector<PeerIndex> AkoCompute::missing() const {
    std::vector<PeerIndex> absent;
    for (PeerIndex peer = 0; peer < parts_.settings.peer_count(); ++peer) {
        if (!parts_.roster[peer].live()) absent.push_back(peer);
    }
    return absent;
}

bool AkoCompute::gradient_ready(Range range, std::span<const float> gradient, Time now) {
    if (optimizer_.measures()) return false;  // all of a gradient, before its first step
    const Blocks& blocks = parts_.blocks;
    const BlockIndex first = blocks.first_from(ready_end_.add(range));
    const BlockIndex left = parts_.rows.left_to_add();
    if (first == 0 || first >= left) return false;  // all of it: end_round follows
    if (left - first < std::max(blocks.count() / parts_of_round, 1u)) return false;
    const std::size_t begin = blocks.range(first).first;
    const Range last = blocks.range(left - 1);
    // end_round refuses what is not finite.
    if (diverged_ || !all_finite(gradient.subspan(begin, last.first + last.count - begin)))
        return false;
    const double scale = meetings_.scale();
    const auto update =
        update_of(Gradient{gradient}, optimizer_, replica(), scale * parts_.budget.rate(), scale);
    diverged_ = !parts_.rows.add_early(parts_.budget.round() + 1, first, update, now);
    return !diverged_;
}

Result<void> AkoCompute::end_round(const Learned& learned, const RoundResult& result, Time now) {
    if (!all_finite(values_of(learned))) {
        const std::string loss =
            result.loss ? " (loss " + std::to_string(*result.loss) + ")" : std::string();
        return fail(Error::Kind::numbers, std::string("the ") + noun_of(learned) + " of round " +
                                              std::to_string(parts_.budget.round() + 1) +
                                              " is not finite" + loss);
    }
    const double scale = meetings_.scale();
    const double rate = scale * parts_.budget.rate();
    const auto update = update_of(learned, optimizer_, replica(), rate, scale);
    ready_end_ = ReadyEnd(parts_.blocks.element_count());
    if (diverged_ || !parts_.rows.add(parts_.budget.round() + 1, update, now)) {
        return fail(Error::Kind::numbers,
                    "the sum of this peer's updates is not finite or beyond 2^24 in round " +
                        std::to_string(parts_.budget.round() + 1) + ": the training diverges");
    }
    meetings_.row_changed();
    arrivals_.answer();
    parts_.budget.end_round(result);
    word_.set_loss(result.loss);
    if (parts_.settings.coverage != nullptr) parts_.settings.coverage->round_ended();
    post_status(parts_.budget.wants_word());
    return {};
}

// ---- checkpoints

bool AkoCompute::save(Checkpoint& out) {
    if (!parts_.rows.claimed()) return false;
    out.id = {parts_.settings.process_id, parts_.budget.round()};
    out.samples = parts_.budget.samples();
    out.progress = parts_.budget.progress();
    parts_.rows.save(out);
    out.put("velocity", optimizer_.velocity());
    out.numbers["batch_doublings"] = parts_.budget.doublings();
    out.numbers["run_id"] = parts_.beginning.run_id();
    std::vector<std::uint64_t>& known = out.words["progress"];
    known.clear();
    for (const Progress& peer : parts_.roster.progress())
        known.insert(known.end(), {peer.round, peer.samples});
    if (parts_.settings.coverage != nullptr) {
        // What this peer has in hand is not said: it may take it once more.
        const Covered covered = parts_.settings.coverage->said();
        out.numbers["covered_pass"] = covered.pass;
        out.put("covered", covered.done);
        out.put("covered_next", covered.done_next);
    }
    return true;
}

Result<void> AkoCompute::restore(const Checkpoint& from) {
    const std::size_t peers = parts_.settings.peer_count();
    const auto known = from.word_list("progress", 2 * peers);
    if (!known) return tl::make_unexpected(known.error());
    const auto run_id = from.number("run_id");
    if (!run_id) return tl::make_unexpected(run_id.error());
    if (parts_.settings.coverage != nullptr) {
        const auto pass = from.number("covered_pass");
        const auto done = from.word_list("covered"), done_next = from.word_list("covered_next");
        if (!pass) return tl::make_unexpected(pass.error());
        if (!done) return tl::make_unexpected(done.error());
        if (!done_next) return tl::make_unexpected(done_next.error());
        Covered covered;
        covered.pass = static_cast<std::uint32_t>(*pass);
        covered.done.assign(done->begin(), done->end());
        covered.done_next.assign(done_next->begin(), done_next->end());
        parts_.settings.coverage->hear(parts_.settings.self, covered);
    }
    const auto doublings = from.number("batch_doublings");
    if (!doublings) return tl::make_unexpected(doublings.error());
    parts_.budget.hear_of_doublings(*doublings);
    if (auto rows = parts_.rows.restore(from); !rows) return rows;
    if (auto copied = from.copy("velocity", optimizer_.velocity()); !copied) return copied;
    std::vector<Progress> progress;
    for (std::size_t k = 0; k < peers; ++k)
        progress.push_back({(*known)[2 * k], (*known)[2 * k + 1]});
    parts_.roster.restore(progress);
    parts_.beginning.restored(*run_id);
    keeps_velocity_ = true;
    return {};
}

// ---- what others may ask

void AkoCompute::announce(const Verdict& verdict) {
    word_.set_verdict(verdict);
    post_status(false);
}

void AkoCompute::copy_parameters(std::span<float> out) const { parts_.rows.copy_anchor(out); }

Standing AkoCompute::standing() const {
    const bool evaluates = parts_.roster.lowest_live() == parts_.settings.self;
    return {
        parts_.budget.round(), parts_.budget.progress(), evaluates,
        word_.verdict(),       parts_.budget.samples(),  state() == AkoBeginning::State::joining};
}

LinkView AkoCompute::link(PeerIndex peer, Time now) const {
    const PeerView& view = parts_.roster[peer];
    LinkView link = parts_.roster.link_view(peer);
    link.joining = view.live() && view.joins();
    link.advancing = parts_.roster.advancing(peer, parts_.budget.round());
    link.left_out = (parts_.staleness.waits().left_out & peer_bit(peer)) != 0;
    const Round lowest = parts_.rows.ledger().held(row_of(peer)).lowest.round;
    if (view.announced > lowest) link.staleness_rounds = view.announced - lowest;
    const Time oldest = parts_.rows.oldest_seal(row_of(peer));
    if (oldest != Time{0}) {
        link.staleness_ms = std::chrono::duration<double, std::milli>(now - oldest).count();
    }
    link.answer_ms =
        std::chrono::duration<double, std::milli>(parts_.roster.answer_time(peer)).count();
    arrivals_.describe(peer, link);
    return link;
}

// ---- leaving before the end

Next AkoCompute::leave(Time now) {
    if (!Leaving::somebody_stays(parts_.roster)) {
        // What is agreed on is made of the initial parameters.
        if (!parts_.initial.known()) return Next::give_up(Ending::failed, never_began);
        request_stop(StopReason::requested);
        parts_.beginning.stop(now);
        return parts_.stop.next();
    }
    begin_leaving(now);
    post_status(true);
    return Next::finish("asked to leave: the others go on without this peer");
}

void AkoCompute::begin_leaving(Time now) {
    parts_.outbox.drop_part();  // of a round that was refused
    leaving_.emplace(parts_.rows.ledger(), parts_.roster, parts_.settings.times().life_timeout,
                     parts_.settings.times().leave_timeout, now);
    parts_.outbox.lift_grants(true);
}

bool AkoCompute::step_leave(Time now) {
    arrivals_.take_in(now);
    arrivals_.answer();
    parts_.finish.step(now);  // they may need its vote, or its answer, for as long as it is there
    if (!parts_.stop.due() && Leaving::somebody_stays(parts_.roster)) {
        post_status(false);
        const bool may_go = leaving_->step(now);
        if (may_go && !leaving_->enough_stay())
            parts_.settings.log("too few stay to agree at the end: that needs " +
                                std::to_string(parts_.settings.peer_count() / 2 + 1) + " of the " +
                                std::to_string(parts_.settings.peer_count()) +
                                " peers of the file");
        return may_go;
    }
    if (!parts_.initial.known()) return true;
    if (!parts_.stop.due())
        parts_.settings.log("nobody goes on without this peer any more: it stops for all");
    leaving_.reset();
    parts_.beginning.stop(now);
    return false;
}

bool AkoCompute::step_hand_over(Time now) {
    if (finish_began_ || !parts_.rows.claimed() || parts_.budget.round() == 0) return true;
    arrivals_.take_in(now);
    arrivals_.answer();
    parts_.finish.step(now);
    if (parts_.stop.due() || !Leaving::somebody_stays(parts_.roster)) return true;
    const bool first = !leaving_;
    if (first) begin_leaving(now);
    post_status(first);
    return leaving_->step(now);
}

// ---- the end

bool AkoCompute::step_finish(Time now, bool hurried) {
    if (leaving_) {
        const bool may_go = step_leave(now);
        if (leaving_) return may_go;
    }
    const bool first = !finish_began_;
    const bool closed = first && begin_finish(now);
    const CutId accepted = parts_.finish.accepted();
    const CutId decided = parts_.finish.decided();
    arrivals_.take_in(now);
    if (!closed) meetings_.meet_at_the_end(now);  // one round in a step
    arrivals_.answer();
    parts_.finish.step(now);
    const bool adopts = parts_.finish.ready_to_adopt();
    if (adopts) adopt(now);
    post_status(first || adopts || accepted != parts_.finish.accepted() ||
                decided != parts_.finish.decided());

    // A peer in a hurry does not wait for a majority that would have to come back.
    const bool hopeless =
        !agreement_possible(parts_.roster, parts_.finish) ||
        (hurried && parts_.roster.live_count() < parts_.settings.peer_count() / 2 + 1 &&
         now - *finish_began_ > parts_.settings.times().life_timeout);
    const bool timed_out = !parts_.finish.adopted() && (hopeless || parts_.finish.timed_out(now));
    end_times_.look(parts_.finish, parts_.finish.adopted() || timed_out, now);
    return timed_out || parts_.finish.done(now, hurried);
}

bool AkoCompute::begin_finish(Time now) {
    finish_began_ = now;
    parts_.outbox.drop_part();
    end_times_.begin(now);
    parts_.outbox.lift_grants(true);
    if (!parts_.stop.due() && !left_behind_) request_stop(StopReason::requested);
    // As one that left, it may have said its last round already.
    const bool closed = !word_.has_said_last_round() && meetings_.close_row(now);
    parts_.finish.begin(now);
    return closed;
}

void AkoCompute::adopt(Time now) {
    parts_.finish.adopt_cut(parts_.rows.open_for_cut(), now);
    Sha256 hash;
    for (const std::span<const float> row : parts_.rows.ledger().rows()) hash.add(row);
    std::vector<float> anchor(parts_.blocks.element_count());
    copy_parameters(anchor);
    hash.add(std::span<const float>(anchor));
    parts_.finish.set_digest(hash.finish());
}

FinishReport AkoCompute::report(std::span<float> out, Time now) {
    copy_parameters(out);
    FinishReport report = finish_report(parts_.settings, parts_.roster, parts_.finish, end_times_);
    report.rounds = parts_.budget.round();
    report.progress = parts_.budget.progress();
    report.stop = parts_.stop.reason();
    report.asked = parts_.stop.asked_for_it();
    if (parts_.settings.coverage != nullptr) report.seen = parts_.settings.coverage->seen();
    if (leaving_) {
        report.left = true;
        report.left_early.push_back({parts_.settings.self, report.rounds, report.progress});
        report.why_not.clear();
        report.seconds = seconds_of(leaving_->taken(now));
        for (PeerIndex peer = 0; peer < parts_.settings.peer_count(); ++peer) {
            if (leaving_->handed_to() & peer_bit(peer)) report.handed_to.push_back(peer);
        }
    }
    if (!report.agreed && left_behind_) report.why_not = left_behind_text + ("; " + report.why_not);
    return report;
}

}  // namespace ako
