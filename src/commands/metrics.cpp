#include "src/commands/metrics.h"

#include <cmath>
#include <utility>

#include "ako/error.h"

namespace ako {

namespace {

constexpr Time line_distance = std::chrono::seconds(1);
/// Rates over less than this would say more about the moment than about the link.
constexpr Time rate_window_min = std::chrono::milliseconds(500);
constexpr double bits_per_byte = 8;

double seconds_of(Time time) { return std::chrono::duration<double>(time).count(); }

double mbit_between(std::uint64_t before, std::uint64_t after, double seconds) {
    return static_cast<double>(after - before) * bits_per_byte / seconds / 1e6;
}

}  // namespace

Metrics::Metrics(const std::string& path, std::function<void(const MetricsLine&)> listener,
                 std::vector<std::string> peer_names, PeerIndex self, const Transport& transport,
                 const Clock& clock)
    : listener_(std::move(listener)),
      peer_names_(std::move(peer_names)),
      self_(self),
      transport_(transport),
      clock_(clock),
      began_(clock.now()),
      file_(path),
      due_at_(began_ + line_distance),
      before_at_(began_) {
    if (!file_) throw StartupError(path + ": cannot be written", "is the output folder writable?");
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
    line_.images += report.samples;
    line_.progress = report.progress;
    loss_sum_ += static_cast<double>(report.loss);
    ++rounds_since_;
    const Time now = clock_.now();
    if (now >= due_at_) write_line(now);
}

void Metrics::evaluation_done(const Verdict&) {}  // the next line has the newest verdict

void Metrics::serving() {
    line_.phase = "serving";
    write_line(clock_.now());
}

void Metrics::stopping(const std::string&) {
    line_.phase = "finishing";
    write_line(clock_.now());
}

void Metrics::finished(const FinishReport&) {
    line_.phase = "evaluating";
    write_line(clock_.now());
}

void Metrics::waits(const std::vector<PeerIndex>& missing) {
    const Time now = clock_.now();
    if (now < due_at_) return;
    // A wait between two rounds of the same second is part of the training.
    const bool at_work = line_.phase == "finishing" || line_.phase == "serving";
    if (!at_work && rounds_since_ == 0) line_.phase = "waiting";
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
        line_.egress_bytes += link.egress_bytes;
        line_.ingress_bytes += link.ingress_bytes;
    }
    if (exchange_ == nullptr) return;
    line_.progress = exchange_->progress();
    for (const LinkView& view : exchange_->links()) {
        LinkLine& link = link_to(view.peer);
        link.live = view.live;
        link.advancing = view.advancing;
        link.partitions = view.partitions;
        link.staleness_rounds = view.staleness_rounds;
        link.staleness_ms = view.staleness_ms;
        link.age_ms = view.age_ms;
    }
    if (const auto verdict = exchange_->newest_verdict()) {
        line_.accuracy = std::round(static_cast<double>(verdict->accuracy) * 1e6) / 1e6;
        line_.accuracy_at = verdict->progress;
    }
}

void Metrics::update_rates(Time now) {
    const double seconds = seconds_of(now - before_at_);
    line_.images_per_s = static_cast<double>(line_.images - before_.images) / seconds;
    line_.egress_mbit = mbit_between(before_.egress_bytes, line_.egress_bytes, seconds);
    line_.ingress_mbit = mbit_between(before_.ingress_bytes, line_.ingress_bytes, seconds);
    for (std::size_t i = 0; i < line_.links.size(); ++i) {
        LinkLine& link = line_.links[i];
        const LinkLine& before = before_.links[i];
        link.egress_mbit = mbit_between(before.egress_bytes, link.egress_bytes, seconds);
        link.ingress_mbit = mbit_between(before.ingress_bytes, link.ingress_bytes, seconds);
    }
    before_ = line_;
    before_at_ = now;
}

void Metrics::write_line(Time now) {
    line_.time = seconds_of(now - began_);
    update_totals();
    if (now - before_at_ >= rate_window_min) update_rates(now);
    if (rounds_since_ > 0) line_.loss = loss_sum_ / rounds_since_;
    // Whole seconds since the start, however long rounds are: launch looks once a second.
    due_at_ = began_ + ((now - began_) / line_distance + 1) * line_distance;
    loss_sum_ = 0;
    rounds_since_ = 0;
    file_ << to_json_text(line_) << std::endl;
    listener_(line_);
}

}  // namespace ako
