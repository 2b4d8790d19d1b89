#include "src/results/newest_line.h"

#include <utility>

#include "src/results/rates.h"

namespace ako {

namespace {

/// Rates over less than this would say more about the moment than about the link.
constexpr Time rate_window_min = std::chrono::milliseconds(500);

}  // namespace

NewestLine::NewestLine(const std::vector<std::string>& peer_names, PeerIndex self,
                       const Transport& transport, Time began)
    : self_(self), transport_(transport), began_(began), before_at_(began) {
    line_.phase = "waiting";
    for (PeerIndex j = 0; j < peer_names.size(); ++j) {
        if (j == self_) continue;
        line_.links.emplace_back();
        line_.links.back().peer = peer_names[j];
    }
    before_ = line_;
}

void NewestLine::round_done(const RoundReport& report) {
    line_.phase = "training";
    line_.waiting_for.clear();
    line_.round = report.round;
    line_.samples += report.samples;
    line_.progress = report.progress;
    line_.noise_scale = report.noise_scale;
    line_.learners = report.learners;
    ++rounds_since_;
    if (!report.loss) return;
    loss_sum_ += static_cast<double>(*report.loss);
    ++losses_since_;
}

void NewestLine::wait_for(std::vector<std::string> missing) {
    // A wait between two rounds of the same second is part of the training.
    const bool at_work = is_in("finishing") || is_in("serving");
    const bool joins = exchange_ != nullptr && exchange_->standing().joining;
    if (!at_work && rounds_since_ == 0) line_.phase = joins ? "joining" : "waiting";
    line_.waiting_for = std::move(missing);
}

void NewestLine::update(Time now, const RoundTimes& times) {
    line_.time = seconds_of(now - began_);
    line_.round_parts = times.parts();
    const std::vector<LinkCounters> counters = transport_.counters();
    take_counters(counters);
    const ProcessUsage process = process_usage();
    line_.cpu_seconds = process.cpu_seconds;
    line_.memory_bytes = process.memory_bytes;
    line_.memory_limit = process.memory_limit;
    if (exchange_ != nullptr) take_standing(counters);
    // What a round waits for is part of it; before the first and after the last it stays as it was.
    const bool waits = is_in("waiting") && times.rounds() > 0;
    if (is_in("training") || is_in("serving") || waits) take_usage(process, counters);
    if (now - before_at_ >= rate_window_min) take_rates(now);
    if (losses_since_ > 0) line_.loss = loss_sum_ / losses_since_;
    loss_sum_ = 0;
    rounds_since_ = losses_since_ = 0;
}

void NewestLine::take_counters(const std::vector<LinkCounters>& counters) {
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
}

void NewestLine::take_standing(const std::vector<LinkCounters>& counters) {
    const Standing standing = exchange_->standing();
    line_.progress = standing.progress;
    for (const LinkView& view : exchange_->links()) {
        LinkLine& link = link_to(view.peer);
        const PeerStanding before = standing_of(link);
        link.presence = view.presence;
        link.live = view.live;
        link.advancing = view.advancing;
        link.joining = view.joining;
        link.left_out = view.left_out;
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
        if (standing_of(link) != before) link.since = line_.time;
    }
    if (const auto& verdict = standing.newest_verdict) {
        line_.accuracy = rounded(verdict->accuracy);
        line_.accuracy_at = verdict->progress;
    }
}

void NewestLine::take_usage(const ProcessUsage& process,
                            const std::vector<LinkCounters>& counters) {
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

void NewestLine::take_rates(Time now) {
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

}  // namespace ako
