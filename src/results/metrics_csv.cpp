#include "src/results/metrics_csv.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include "src/results/rates.h"

namespace ako {

namespace {

std::string text_of(const std::optional<double>& number) {
    return number && std::isfinite(*number) ? fmt::format("{}", *number) : "";
}

/// As in the metrics line: three digits after the point.
std::string rounded_text(double number) { return text_of(thousandths(number)); }

std::string unless_zero(double number) { return number == 0 ? "" : rounded_text(number); }

std::string staleness(const MetricsLine& line) {
    return line.any_live() ? fmt::to_string(line.staleness_rounds()) : "";
}

std::string part(const MetricsLine& line, RoundPart which) {
    return rounded_text(line.round_parts[which].seconds);
}

struct CsvColumn {
    const char* name;
    std::string (*text)(const MetricsLine&);
};

using Line = MetricsLine;

constexpr std::array<CsvColumn, 25> columns = {{
    {"time", [](const Line& line) { return rounded_text(line.time); }},
    {"phase", [](const Line& line) { return line.phase; }},
    {"round", [](const Line& line) { return fmt::to_string(line.round); }},
    {"samples", [](const Line& line) { return fmt::to_string(line.samples); }},
    {"samples_per_s", [](const Line& line) { return rounded_text(line.samples_per_s); }},
    {"loss", [](const Line& line) { return text_of(line.loss); }},
    {"accuracy", [](const Line& line) { return text_of(line.accuracy); }},
    {"accuracy_at", [](const Line& line) { return text_of(line.accuracy_at); }},
    {"progress", [](const Line& line) { return text_of(line.progress); }},
    {"egress_bytes", [](const Line& line) { return fmt::to_string(line.egress_bytes); }},
    {"ingress_bytes", [](const Line& line) { return fmt::to_string(line.ingress_bytes); }},
    {"egress_mbit", [](const Line& line) { return rounded_text(line.egress_mbit); }},
    {"ingress_mbit", [](const Line& line) { return rounded_text(line.ingress_mbit); }},
    {"cpu_seconds", [](const Line& line) { return rounded_text(line.cpu_seconds); }},
    {"memory_bytes",
     [](const Line& line) {
         return line.memory_bytes == 0 ? "" : fmt::to_string(line.memory_bytes);
     }},
    {"apply_seconds", [](const Line& line) { return part(line, RoundPart::apply); }},
    {"input_seconds", [](const Line& line) { return part(line, RoundPart::input); }},
    {"gradient_seconds", [](const Line& line) { return part(line, RoundPart::gradient); }},
    {"wait_seconds", [](const Line& line) { return part(line, RoundPart::wait); }},
    {"publish_seconds", [](const Line& line) { return part(line, RoundPart::publish); }},
    {"partitions", [](const Line& line) { return unless_zero(line.partitions()); }},
    {"staleness_rounds", staleness},
    {"noise_scale", [](const Line& line) { return text_of(line.noise_scale); }},
    {"learners", [](const Line& line) { return fmt::to_string(line.learners); }},
    {"losses_not_finite", [](const Line& line) { return fmt::to_string(line.losses_not_finite); }},
}};

}  // namespace

std::string metrics_csv_head() {
    std::string text;
    for (const CsvColumn& column : columns) {
        if (!text.empty()) text += ',';
        text += column.name;
    }
    return text;
}

std::string to_csv_text(const MetricsLine& line) {
    std::string text;
    for (const CsvColumn& column : columns) {
        if (!text.empty()) text += ',';  // the first field, a time, is never empty
        text += column.text(line);
    }
    return text;
}

}  // namespace ako
