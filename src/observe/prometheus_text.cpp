// See prometheus_text.h.
#include "src/observe/prometheus_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace ako {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

/// A backslash, a quote and a line break have to be escaped in a label's value.
std::string escaped(const std::string& text) {
    std::string out;
    for (const char letter : text) {
        if (letter == '\\' || letter == '"') out += '\\';
        if (letter == '\n')
            out += "\\n";
        else
            out += letter;
    }
    return out;
}

std::string label_text(const Labels& labels) {
    std::string text;
    for (const auto& [name, value] : labels)
        text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, escaped(value));
    return text.empty() ? text : "{" + text + "}";
}

std::string number_text(double number) {
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
    return fmt::format("{}", number);
}

/// Metrics one after the other, each with its samples together, as the format wants it.
class Exposition {
  public:
    enum class Type { gauge, counter, histogram };

    /// Nothing if it is the one that is being written.
    void begin(const char* name, Type type, const char* help) {
        if (name_ == name) return;
        name_ = name;
        constexpr std::array<const char*, 3> types = {"gauge", "counter", "histogram"};
        text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                             types.at(static_cast<std::size_t>(type)));
    }
    /// `suffix`: of a histogram.
    void sample(double value, const Labels& labels = {}, const char* suffix = "") {
        text_ += fmt::format("{}{}{} {}\n", name_, suffix, label_text(labels), number_text(value));
    }
    void gauge(const char* name, const char* help, double value) {
        begin(name, Type::gauge, help);
        sample(value);
    }
    void gauge(const char* name, const char* help, std::optional<double> value) {
        if (value) gauge(name, help, *value);
    }
    void counter(const char* name, const char* help, double value) {
        begin(name, Type::counter, help);
        sample(value);
    }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
    std::string name_;
};

constexpr auto gauge = Exposition::Type::gauge;
constexpr auto counter = Exposition::Type::counter;

double seconds_of_ms(double milliseconds) { return milliseconds * 1e-3; }

std::optional<double> known(double number) {
    return number > 0 ? std::optional(number) : std::nullopt;
}

double whole(std::uint64_t number) { return static_cast<double>(number); }

void add_run(Exposition& out, const ObservedRun& run) {
    out.begin("ako_build_info", gauge, "The program that this peer runs; always 1.");
    out.sample(1, {{"version", run.version}, {"commit", run.commit}});
    out.begin("ako_run_info", gauge, "The run that this peer takes part in; always 1.");
    out.sample(1, {{"run", run.run}, {"name", run.peer}, {"mode", run.mode}, {"model", run.model}});
    if (run.memory.empty()) return;
    out.begin("ako_memory_planned_bytes", gauge,
              "What this peer was expected to need, by purpose.");
    for (const auto& [purpose, bytes] : run.memory)
        out.sample(whole(bytes), {{"purpose", purpose}});
}

void add_round_parts(Exposition& out, const RoundParts& parts) {
    out.begin("ako_round_seconds", Exposition::Type::histogram,
              "Of this peer's rounds, by part: apply (what has come), input (until a batch is "
              "there), gradient, wait (for others), publish (what the round taught).");
    for (const RoundPart part : round_parts) {
        const PartDurations& took = parts[part];
        const std::pair<std::string, std::string> label = {"part", word(part)};
        std::uint64_t count = 0;
        for (std::size_t bin = 0; bin < took.counts.size(); ++bin) {
            count += took.counts.at(bin);
            const bool last = bin == PartDurations::bounds.size();
            const std::string bound = last ? "+Inf" : number_text(PartDurations::bounds.at(bin));
            out.sample(whole(count), {label, {"le", bound}}, "_bucket");
        }
        out.sample(took.seconds, {label}, "_sum");
        out.sample(whole(count), {label}, "_count");
    }
}

void add_training(Exposition& out, const MetricsLine& line) {
    out.begin("ako_phase_info", gauge, "What this peer does now; always 1.");
    out.sample(1, {{"phase", line.phase}});
    out.gauge("ako_uptime_seconds", "Since this peer's process began.", line.time);
    out.counter("ako_rounds_total", "Rounds that this peer has made.", whole(line.round));
    out.counter("ako_samples_total", "Samples that this peer has trained on.", whole(line.samples));
    out.gauge("ako_progress_ratio", "Of the sample budget of all peers.", line.progress);
    out.gauge("ako_training_loss", "Mean over the rounds of the last second.", line.loss);
    out.counter("ako_losses_not_finite_total", "Rounds whose loss is not a number.",
                whole(line.losses_not_finite));
    out.gauge("ako_gradient_noise_scale_samples",
              "Batch of all peers from which on more samples per step are worth little.",
              line.noise_scale);
    if (line.checkpoints) {
        out.gauge("ako_checkpoint_interval_seconds",
                  "Between two checkpoints, where they are made as often as pays.",
                  line.checkpoints->seconds);
        out.gauge("ako_checkpoint_time_ratio", "Of the time of training that they take.",
                  line.checkpoints->share);
    }
    out.gauge("ako_learners", "Replicas of this peer that made its newest round.",
              whole(line.learners));
    out.gauge("ako_test_accuracy_ratio", "Of the newest evaluation by any peer.", line.accuracy);
    if (line.agreed)
        out.gauge("ako_finish_agreed_ratio",
                  "Whether the final exchange agreed on the parameters: 1 or 0.",
                  *line.agreed ? 1.0 : 0.0);
    add_round_parts(out, line.round_parts);
    out.counter("process_cpu_seconds_total", "Of all threads, user and system.", line.cpu_seconds);
    out.gauge("process_resident_memory_bytes", "What the process has resident.",
              whole(line.memory_bytes));
    if (line.memory_limit > 0)
        out.gauge("ako_memory_limit_bytes", "What its control group may have resident.",
                  whole(line.memory_limit));
    if (line.usage.seconds > 0) {
        out.gauge("ako_compute_running_ratio",
                  "Share of the last seconds in which the thread that trains had a processor.",
                  line.usage.compute_running);
        out.gauge("ako_compute_runnable_ratio", "Share in which it could have run and had none.",
                  line.usage.compute_runnable);
        out.gauge("ako_throttled_ratio", "Share in which the quota of its control group was spent.",
                  line.usage.throttled);
        out.gauge("ako_major_faults_per_second", "Pages that were read from a disk.",
                  line.usage.major_faults_per_s);
    }
    out.gauge("ako_sent_bytes_per_second", "To all peers, on the wire, over the last second.",
              line.egress_mbit * 1e6 / 8);
    out.gauge("ako_received_bytes_per_second", "From all peers, on the wire, over the last second.",
              line.ingress_mbit * 1e6 / 8);
}

using OfLink = std::function<std::optional<double>(const LinkLine&)>;

struct LinkMetric {
    const char* name;
    Exposition::Type type;
    const char* help;
    OfLink of;
};

const std::vector<LinkMetric>& link_metrics() {
    static const std::vector<LinkMetric> all = {
        {"ako_link_up_ratio", gauge, "Whether a session with the peer stands: 1 or 0.",
         [](const LinkLine& link) { return link.presence == Presence::up ? 1.0 : 0.0; }},
        {"ako_link_live_ratio", gauge, "Whether the peer was heard from lately: 1 or 0.",
         [](const LinkLine& link) { return link.live ? 1.0 : 0.0; }},
        {"ako_link_advancing_ratio", gauge, "Whether the peer's rounds move on: 1 or 0.",
         [](const LinkLine& link) { return link.advancing ? 1.0 : 0.0; }},
        {"ako_link_full_ratio", gauge,
         "Share of the last seconds in which the link to the peer had as much to carry as it "
         "could.",
         [](const LinkLine& link) { return link.usage.full; }},
        {"ako_link_sent_bytes_total", counter, "To the peer, on the wire.",
         [](const LinkLine& link) { return whole(link.egress_bytes); }},
        {"ako_link_received_bytes_total", counter, "From the peer, on the wire.",
         [](const LinkLine& link) { return whole(link.ingress_bytes); }},
        {"ako_link_partitions", gauge,
         "Observed P: rounds between two sends of the same block to the peer.",
         [](const LinkLine& link) { return known(link.partitions); }},
        {"ako_link_staleness_rounds", gauge,
         "Newest round of the peer that was announced, less the oldest that is held of its row.",
         [](const LinkLine& link) { return whole(link.staleness_rounds); }},
        {"ako_link_staleness_seconds", gauge, "Age of the oldest block held of the peer's row.",
         [](const LinkLine& link) { return seconds_of_ms(link.staleness_ms); }},
        {"ako_link_partial_age_seconds", gauge,
         "Age of the newest partials when they arrived from the peer; their median.",
         [](const LinkLine& link) { return seconds_of_ms(link.age_ms); }},
        {"ako_link_answer_timeout_seconds", gauge, "So long an answer of the peer is waited for.",
         [](const LinkLine& link) { return seconds_of_ms(link.answer_ms); }},
        {"ako_link_sessions_total", counter, "Sessions with the peer that came up.",
         [](const LinkLine& link) { return whole(link.sessions); }},
        {"ako_link_retransmits_total", counter, "TCP segments sent to the peer again.",
         [](const LinkLine& link) { return whole(link.retransmits); }},
        {"ako_link_round_trip_seconds", gauge, "Smoothed round trip to the peer, by TCP.",
         [](const LinkLine& link) { return known(seconds_of_ms(link.round_trip_ms)); }},
        {"ako_link_delivery_bytes_per_second", gauge,
         "TCP's newest estimate of what arrives at the peer.",
         [](const LinkLine& link) { return known(link.delivery_mbit * 1e6 / 8); }},
        {"ako_peer_rounds_total", counter, "Rounds of the peer, as far as heard here.",
         [](const LinkLine& link) { return whole(link.round); }},
        {"ako_peer_samples_total", counter, "Samples of the peer, as far as heard here.",
         [](const LinkLine& link) { return whole(link.samples); }},
        {"ako_peer_training_loss", gauge, "Of the peer's newest round, as it last said.",
         [](const LinkLine& link) { return link.loss; }},
    };
    return all;
}

void add_links(Exposition& out, const MetricsLine& line) {
    for (const LinkMetric& metric : link_metrics()) {
        for (const LinkLine& link : line.links) {
            const std::optional<double> value = metric.of(link);
            if (!value) continue;
            out.begin(metric.name, metric.type, metric.help);
            out.sample(*value, {{"peer", link.peer}});
        }
    }
    for (const LinkLine& link : line.links) {
        for (const auto& [field, count] : link.rejects) {
            out.begin("ako_link_rejects_total", counter,
                      "How often one end refused the other: the field of the greeting, or a "
                      "frame.");
            out.sample(whole(count), {{"peer", link.peer}, {"field", field}});
        }
    }
    for (const LinkLine& link : line.links) {
        out.begin("ako_link_standing_seconds", gauge,
                  "For so long the standing of ako_link_presence_info has been what it is.");
        out.sample(line.time - link.since, {{"peer", link.peer}});
    }
    for (const LinkLine& link : line.links) {
        out.begin("ako_refused_blocks_total", counter,
                  "Blocks of the peer's row that were refused here, whoever sent them: damaged on "
                  "the way, or values that diverged.");
        out.sample(whole(link.damaged_blocks), {{"peer", link.peer}, {"reason", "damaged"}});
        out.sample(whole(link.diverged_blocks), {{"peer", link.peer}, {"reason", "diverged"}});
    }
    for (const LinkLine& link : line.links) {
        out.begin("ako_link_presence_info", gauge, "What is known of the peer; always 1.");
        out.sample(1, {{"peer", link.peer},
                       {"presence", word(link.presence)},
                       {"standing", word(standing_of(link))}});
    }
    for (const LinkLine& link : line.links) {
        if (link.ended.empty()) continue;
        out.begin("ako_link_ended_info", gauge, "How the peer ended, by a failure; always 1.");
        out.sample(1, {{"peer", link.peer}, {"cause", link.ended}, {"why", link.why}});
    }
}

}  // namespace

std::string prometheus_text(const Observed& observed) {
    Exposition out;
    add_run(out, observed.run);
    add_training(out, observed.line);
    add_links(out, observed.line);
    return out.take();
}

}  // namespace ako
