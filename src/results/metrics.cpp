#include "src/results/metrics.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ako {

namespace {

constexpr Time line_distance = std::chrono::seconds(1);
/// Rates over less than this would say more about the moment than about the link.
constexpr Time rate_window_min = std::chrono::milliseconds(500);
constexpr double bits_per_byte = 8;

double seconds_of(Time time) { return std::chrono::duration<double>(time).count(); }

double milliseconds_of(Time time) { return seconds_of(time) * 1e3; }

double median(std::vector<std::uint64_t> numbers) {
    if (numbers.empty()) return 0;
    std::sort(numbers.begin(), numbers.end());
    const std::size_t half = numbers.size() / 2;
    const auto middle = static_cast<double>(numbers[half]);
    return numbers.size() % 2 == 1 ? middle : (static_cast<double>(numbers[half - 1]) + middle) / 2;
}

double mbit_between(std::uint64_t before, std::uint64_t after, double seconds) {
    return static_cast<double>(after - before) * bits_per_byte / seconds / 1e6;
}

}  // namespace

Metrics::Metrics(const std::string& stem, std::function<void(const MetricsLine&)> listener,
                 const std::function<void(const std::string&)>& say,
                 std::vector<std::string> peer_names, PeerIndex self, const Transport& transport,
                 const Clock& clock, bool goes_on)
    : listener_(std::move(listener)),
      peer_names_(std::move(peer_names)),
      self_(self),
      transport_(transport),
      clock_(clock),
      began_(clock.now()),
      files_(stem, goes_on, say),
      due_at_(began_ + line_distance),
      before_at_(began_) {
    line_.phase = "waiting";
    for (PeerIndex j = 0; j < peer_names_.size(); ++j) {
        if (j == self_) continue;
        line_.links.emplace_back();
        line_.links.back().peer = peer_names_[j];
    }
    before_ = line_;
}

void Metrics::round_done(const RoundReport& report) {
    line_.phase = "training";
    line_.waiting_for.clear();
    line_.round = report.round;
    line_.samples += report.samples;
    line_.progress = report.progress;
    line_.noise_scale = report.noise_scale;
    line_.learners = report.learners;
    ++rounds_since_;
    if (report.loss) {
        loss_sum_ += static_cast<double>(*report.loss);
        ++losses_since_;
        loss_trend_.add(*report.loss, report.progress);
    }
    const Time now = clock_.now();
    if (now >= due_at_) write_line(now);
}

void Metrics::reached(RoundMoment moment) {
    times_.reached(moment, clock_.now());
    if (moment == RoundMoment::may_train && times_.rounds() == 0) totals_at_first_ = totals();
    if (moment == RoundMoment::ended) totals_at_last_ = totals();
}

void Metrics::milestone_passed(const Milestone& milestone) {
    evaluating_ = {};
    evaluating_.seconds = seconds_of(clock_.now() - times_.began_at().value_or(Time{}));
    evaluating_.round = milestone.round;
    evaluating_.samples = static_cast<std::uint64_t>(
        std::llround(milestone.progress * static_cast<double>(sample_budget_)));
    evaluating_.progress = milestone.progress;
    if (milestones_ != nullptr)
        milestones_->append(evaluating_, times_.began_at().value_or(Time{}), milestone.parameters);
}

void Metrics::evaluation_done(const Verdict& verdict) {  // the next line has the newest of all
    curve_.push_back(evaluating_);
    curve_.back().accuracy = static_cast<double>(verdict.accuracy);
    curve_.back().loss = loss_of(verdict);
}

void Metrics::serving() {
    line_.phase = "serving";
    serving_since_ = clock_.now();
    totals_at_first_ = totals();
    write_line(*serving_since_);
}

void Metrics::stopping(const std::string&) {
    line_.phase = "finishing";
    write_line(clock_.now());
    if (times_.rounds() == 0) return;
    figures_ = make_figures();
    egress_mbit_ = mbit_between(totals_at_first_.egress_bytes, totals_at_last_.egress_bytes,
                                seconds_of(times_.training()));
}

TrainingFigures Metrics::make_figures() const {
    const RoundTimes::Figures spent = times_.figures();
    const Totals& end = totals_at_last_;
    const auto rounds = static_cast<double>(times_.rounds());
    const auto per_round = [rounds](std::uint64_t before, std::uint64_t after) {
        return static_cast<double>(after - before) / rounds;
    };
    const auto round_ms = [&spent](double share) {
        return milliseconds_of(spent.round.quantile(share));
    };
    TrainingFigures figures;
    figures.train_seconds = seconds_of(times_.training());
    figures.round_ms = {round_ms(0.1), round_ms(0.5), round_ms(0.9), round_ms(0.99), round_ms(1)};
    figures.gradient_ms_p50 = milliseconds_of(spent.gradient.quantile(0.5));
    figures.wait_ms_p50 = milliseconds_of(spent.wait.quantile(0.5));
    figures.compute_share = spent.compute_share();
    figures.cpu_seconds = end.cpu_seconds - totals_at_first_.cpu_seconds;
    figures.cpu_ms_per_round = figures.cpu_seconds * 1e3 / rounds;
    figures.partitions = line_.partitions();
    // Of less than a second there is only how it ended.
    figures.staleness_rounds =
        stalest_.empty() ? static_cast<double>(line_.staleness_rounds()) : median(stalest_);
    if (figures.train_seconds > 0)
        figures.samples_per_s = static_cast<double>(line_.samples) / figures.train_seconds;
    figures.egress_bytes_per_round = per_round(totals_at_first_.egress_bytes, end.egress_bytes);
    figures.ingress_bytes_per_round = per_round(totals_at_first_.ingress_bytes, end.ingress_bytes);
    return figures;
}

Metrics::Totals Metrics::totals() const {
    Totals totals;
    for (const LinkCounters& link : transport_.counters()) {
        totals.egress_bytes += link.egress_bytes;
        totals.ingress_bytes += link.ingress_bytes;
    }
    totals.cpu_seconds = process_cpu_seconds();
    return totals;
}

void Metrics::finished(const FinishReport& report) {
    const Time now = clock_.now();
    if (const auto began = times_.began_at())
        ended_after_ = seconds_of(now - *began) - report.after_seconds;
    if (serving_since_ && now > *serving_since_)
        egress_mbit_ = mbit_between(totals_at_first_.egress_bytes, totals().egress_bytes,
                                    seconds_of(now - *serving_since_));
    line_.agreed = report.agreed;
    line_.phase = "evaluating";
    write_line(now);
}

void Metrics::waits(const std::vector<PeerIndex>& missing) {
    const Time now = clock_.now();
    if (now < due_at_) return;
    // A wait between two rounds of the same second is part of the training.
    const bool at_work = line_.phase == "finishing" || line_.phase == "serving";
    const bool joins = exchange_ != nullptr && exchange_->standing().joining;
    if (!at_work && rounds_since_ == 0) line_.phase = joins ? "joining" : "waiting";
    line_.waiting_for.clear();
    for (const PeerIndex peer : missing) line_.waiting_for.push_back(peer_names_[peer]);
    write_line(now);
}

const MetricsLine& Metrics::last() {
    if (line_.phase == "evaluating") line_.phase = "done";
    write_line(clock_.now());
    return line_;
}

void Metrics::update_totals() {
    const std::vector<LinkCounters> counters = transport_.counters();
    line_.egress_bytes = 0;
    line_.ingress_bytes = 0;
    for (PeerIndex j = 0; j < counters.size(); ++j) {
        if (j == self_) continue;
        LinkLine& link = link_to(j);
        link.egress_bytes = counters[j].egress_bytes;
        link.ingress_bytes = counters[j].ingress_bytes;
        link.sessions = counters[j].sessions;
        link.rejects = counters[j].rejects;
        link.round_trip_ms = counters[j].path.round_trip_ms;
        link.delivery_mbit = counters[j].path.delivery_mbit;
        link.retransmits = counters[j].path.retransmits;
        line_.egress_bytes += link.egress_bytes;
        line_.ingress_bytes += link.ingress_bytes;
    }
    const ProcessUsage process = process_usage();
    line_.cpu_seconds = process.cpu_seconds;
    line_.memory_bytes = process.memory_bytes;
    line_.memory_limit = process.memory_limit;
    line_.round_parts = times_.parts();
    if (exchange_ != nullptr) update_standing(counters);
    update_usage(process, counters);
}

void Metrics::update_standing(const std::vector<LinkCounters>& counters) {
    const Standing standing = exchange_->standing();
    line_.progress = standing.progress;
    for (const LinkView& view : exchange_->links()) {
        LinkLine& link = link_to(view.peer);
        const PeerStanding before = link.standing();
        link.presence = view.presence;
        link.live = view.live;
        link.advancing = view.advancing;
        link.joining = view.joining;
        const bool has_session = view.presence == Presence::up;
        link.why = has_session     ? ""
                   : view.farewell ? ended_and_stays_text(*view.farewell, view.round)
                                   : counters[view.peer].last_error;
        link.ended = view.farewell ? word(view.farewell->cause) : "";
        link.partitions = view.partitions;
        link.staleness_rounds = view.staleness_rounds;
        link.staleness_ms = view.staleness_ms;
        link.age_ms = view.age_ms;
        link.answer_ms = view.answer_ms;
        link.damaged_blocks = view.damaged_blocks;
        link.diverged_blocks = view.diverged_blocks;
        link.round = view.round;
        link.samples = view.samples;
        link.loss = view.loss;
        if (link.standing() != before) link.since = line_.time;
    }
    if (const auto& verdict = standing.newest_verdict) {
        line_.accuracy = std::round(static_cast<double>(verdict->accuracy) * 1e6) / 1e6;
        line_.accuracy_at = verdict->progress;
    }
}

void Metrics::update_usage(const ProcessUsage& process, const std::vector<LinkCounters>& counters) {
    // What a round waits for is part of it; before the first and after the last it stays as it was.
    const bool waits = line_.phase == "waiting" && times_.rounds() > 0;
    if (line_.phase != "training" && line_.phase != "serving" && !waits) return;
    UsageSample sample{line_.time,
                       line_.round,
                       line_.round_parts[RoundPart::gradient].seconds,
                       line_.round_parts[RoundPart::input].seconds,
                       line_.round_parts.exchange_seconds(),
                       process,
                       {}};
    for (PeerIndex peer = 0; peer < counters.size(); ++peer) {
        if (peer == self_) continue;
        const LinkCounters& link = counters[peer];
        sample.links.push_back({link.full_seconds, link.egress_bytes, link.path.round_trip_ms,
                                static_cast<double>(link_to(peer).staleness_rounds)});
    }
    usage_.add(std::move(sample));
    line_.usage = usage_.usage();
    const std::vector<LinkUsage> links = usage_.links();
    for (std::size_t k = 0; k < links.size(); ++k) line_.links[k].usage = links[k];
}

void Metrics::update_rates(Time now) {
    const double seconds = seconds_of(now - before_at_);
    line_.samples_per_s = static_cast<double>(line_.samples - before_.samples) / seconds;
    line_.egress_mbit = mbit_between(before_.egress_bytes, line_.egress_bytes, seconds);
    line_.ingress_mbit = mbit_between(before_.ingress_bytes, line_.ingress_bytes, seconds);
    for (std::size_t i = 0; i < line_.links.size(); ++i) {
        LinkLine& link = line_.links[i];
        const LinkLine& before = before_.links[i];
        link.egress_mbit = mbit_between(before.egress_bytes, link.egress_bytes, seconds);
        link.ingress_mbit = mbit_between(before.ingress_bytes, link.ingress_bytes, seconds);
        link.samples_per_s = static_cast<double>(link.samples - before.samples) / seconds;
    }
    before_ = line_;
    before_at_ = now;
}

void Metrics::write_line(Time now) {
    line_.time = seconds_of(now - began_);
    update_totals();
    if (now - before_at_ >= rate_window_min) update_rates(now);
    if (line_.phase == "training") stalest_.push_back(line_.staleness_rounds());
    if (losses_since_ > 0) line_.loss = loss_sum_ / losses_since_;
    // Whole seconds since the start, however long rounds are: launch looks once a second.
    due_at_ = began_ + ((now - began_) / line_distance + 1) * line_distance;
    loss_sum_ = 0;
    rounds_since_ = losses_since_ = 0;
    files_.write(line_);
    listener_(line_);
}

}  // namespace ako
