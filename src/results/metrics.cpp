#include "src/results/metrics.h"

#include <cmath>
#include <utility>

namespace ako {

namespace {

constexpr Time line_distance = std::chrono::seconds(1);

}  // namespace

Metrics::Metrics(const std::string& stem, std::function<void(const MetricsLine&)> listener,
                 const std::function<void(const std::string&)>& say,
                 std::vector<std::string> peer_names, PeerIndex self, const Transport& transport,
                 const Clock& clock, bool goes_on)
    : listener_(std::move(listener)),
      peer_names_(std::move(peer_names)),
      clock_(clock),
      began_(clock.now()),
      files_(stem, goes_on, say),
      newest_(peer_names_, self, transport, began_),
      due_at_(began_ + line_distance),
      account_(transport) {}

void Metrics::round_done(const RoundReport& report) {
    newest_.round_done(report);
    if (report.loss) loss_trend_.add(*report.loss, report.progress);
    const Time now = clock_.now();
    if (now >= due_at_) write_line(now);
}

void Metrics::milestone_passed(const Milestone& milestone) {
    const Time began = training_began().value_or(Time{});
    evaluating_ = {};
    evaluating_.seconds = seconds_of(clock_.now() - began);
    evaluating_.round = milestone.round;
    evaluating_.samples = static_cast<std::uint64_t>(
        std::llround(milestone.progress * static_cast<double>(sample_budget_)));
    evaluating_.progress = milestone.progress;
    if (milestones_ != nullptr) milestones_->append(evaluating_, began, milestone.parameters);
}

void Metrics::evaluation_done(const Verdict& verdict) {  // the next line has the newest of all
    curve_.push_back(evaluating_);
    curve_.back().accuracy = static_cast<double>(verdict.accuracy);
    curve_.back().loss = loss_of(verdict);
}

void Metrics::serving() {
    newest_.enter("serving");
    const Time now = clock_.now();
    account_.serving(now);
    write_line(now);
}

void Metrics::stopping(const std::string&) {
    newest_.enter("finishing");
    write_line(clock_.now());
    account_.stopping(newest_.line());
}

void Metrics::finished(const FinishReport& report) {
    const Time now = clock_.now();
    if (const auto began = training_began())
        ended_after_ = seconds_of(now - *began) - report.after_seconds;
    account_.finished(now);
    newest_.set_agreed(report.agreed);
    newest_.enter("evaluating");
    write_line(now);
}

void Metrics::waits(const std::vector<PeerIndex>& missing) {
    const Time now = clock_.now();
    if (now < due_at_) return;
    std::vector<std::string> names;
    names.reserve(missing.size());
    for (const PeerIndex peer : missing) names.push_back(peer_names_[peer]);
    newest_.wait_for(std::move(names));
    write_line(now);
}

const MetricsLine& Metrics::last() {
    if (newest_.is_in("evaluating")) newest_.enter("done");
    write_line(clock_.now());
    return newest_.line();
}

void Metrics::write_line(Time now) {
    newest_.update(now, account_.times());
    if (newest_.is_in("training")) account_.second_passed(newest_.line());
    // Whole seconds since the start, however long rounds are: launch looks once a second.
    due_at_ = began_ + ((now - began_) / line_distance + 1) * line_distance;
    files_.write(newest_.line());
    listener_(newest_.line());
}

}  // namespace ako
