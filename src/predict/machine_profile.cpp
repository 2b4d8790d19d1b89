// See machine_profile.h.
#include "src/predict/machine_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ako/assert.h"
#include "ako/error.h"

namespace ako {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format = "ako profile 1";
constexpr const char* measure_again = "measure it again: ako profile FILE -o FOLDER";

const char* word(GradientStep::Kind kind) {
    switch (kind) {
        case GradientStep::Kind::await:
            return "await";
        case GradientStep::Kind::ready:
            return "ready";
        case GradientStep::Kind::end:
            break;
    }
    return "end";
}

GradientStep::Kind kind_of(const std::string& word) {
    return word == "await"   ? GradientStep::Kind::await
           : word == "ready" ? GradientStep::Kind::ready
                             : GradientStep::Kind::end;
}

/// The point of the line through (a, value_a) and (b, value_b); never below zero.
double on_line(double at, double a, double value_a, double b, double value_b) {
    return std::max(0.0, value_a + (value_b - value_a) * (at - a) / (b - a));
}

Json json_of(const GradientProfile& gradient) {
    Json steps = Json::array();  // a line of text each, for people
    for (const GradientStep& step : gradient.steps)
        steps.push_back(fmt::format("{} {} {} {:.6g}", word(step.kind), step.range.first,
                                    step.range.count, step.seconds));
    return {{"batch", gradient.batch},
            {"seconds", gradient.seconds},
            {"least", gradient.least},
            {"spread", gradient.spread},
            {"steps", steps}};
}

GradientProfile gradient_from(const Json& json) {
    GradientProfile gradient{
        json.at("batch"), json.at("seconds"), json.at("least"), json.at("spread"), {}};
    for (const Json& step : json.at("steps")) {
        std::istringstream words(step.get<std::string>());
        std::string kind;
        GradientStep next;
        words >> kind >> next.range.first >> next.range.count >> next.seconds;
        next.kind = kind_of(kind);
        gradient.steps.push_back(next);
    }
    return gradient;
}

/// Can it be asked? Gradients of rising batches with the same steps, of which the last is the end.
bool is_whole(const MachineProfile& profile) {
    if (profile.gradients.empty() || !profile.exchange.contains("ring")) return false;
    std::size_t before = 0;
    for (const GradientProfile& gradient : profile.gradients) {
        const std::vector<GradientStep>& steps = gradient.steps;
        if (gradient.batch <= before || gradient.seconds <= 0 || steps.empty() ||
            steps.back().kind != GradientStep::Kind::end ||
            steps.size() != profile.gradients.front().steps.size())
            return false;
        before = gradient.batch;
    }
    return profile.cores > 0;
}

}  // namespace

GradientProfile MachineProfile::gradient_of(std::size_t batch) const {
    AKO_ASSERT(!gradients.empty(), "a profile without gradients");
    if (gradients.size() == 1) {
        GradientProfile scaled = gradients.front();
        const double factor = static_cast<double>(batch) / static_cast<double>(scaled.batch);
        for (GradientStep& step : scaled.steps) step.seconds *= factor;
        scaled.batch = batch;
        scaled.seconds *= factor;
        scaled.least *= factor;
        return scaled;
    }
    std::size_t upper = 1;
    while (upper + 1 < gradients.size() && gradients[upper].batch < batch) ++upper;
    const GradientProfile& low = gradients[upper - 1];
    const GradientProfile& high = gradients[upper];
    const auto between = [&](double of_low, double of_high) {
        return on_line(static_cast<double>(batch), static_cast<double>(low.batch), of_low,
                       static_cast<double>(high.batch), of_high);
    };
    GradientProfile found{batch, between(low.seconds, high.seconds), between(low.least, high.least),
                          between(low.spread, high.spread), low.steps};
    for (std::size_t k = 0; k < found.steps.size(); ++k)
        found.steps[k].seconds = between(low.steps[k].seconds, high.steps[k].seconds);
    return found;
}

const ExchangeProfile& MachineProfile::exchange_of(const std::string& mode) const {
    const auto own = exchange.find(mode);
    if (own != exchange.end()) return own->second;
    const auto ring = exchange.find("ring");  // buckets
    AKO_ASSERT(ring != exchange.end(), "a profile without a ring");
    return ring->second;
}

std::string to_json_text(const MachineProfile& profile) {
    Json json{{"format", format}, {"version", profile.version}};
    json["network"] = {{"parameters", profile.parameter_count}, {"digest", profile.network}};
    json["machine"] = {{"text", profile.text},
                       {"cores", profile.cores},
                       {"quota_cores", profile.quota_cores},
                       {"quota_period_s", profile.quota_period_s},
                       {"memory_bytes", profile.memory_bytes}};
    json["gradients"] = Json::array();
    for (const GradientProfile& gradient : profile.gradients)
        json["gradients"].push_back(json_of(gradient));
    json["crowded"] = profile.crowded;
    json["round_s"] = profile.round_s;
    json["process_bytes"] = profile.process_bytes;
    json["process_batch"] = profile.process_batch;
    json["period_lost_s"] = profile.period_lost_s;
    for (const auto& [mode, exchange] : profile.exchange)
        json["exchange"][mode] = {{"s_per_byte", exchange.s_per_byte},
                                  {"bytes_share", exchange.bytes_share},
                                  {"round_s", exchange.round_s}};
    json["measured_by"] = profile.measured_by;
    return json.dump(1) + "\n";
}

MachineProfile read_profile(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw StartupError(file + ": cannot be read", measure_again);
    try {
        const Json json = Json::parse(in);
        if (json.at("format") != format)
            throw StartupError(file + ": is no profile of this version's format", measure_again);
        MachineProfile profile;
        profile.version = json.at("version");
        profile.network = json.at("network").at("digest");
        profile.parameter_count = json.at("network").at("parameters");
        const Json& machine = json.at("machine");
        profile.text = machine.at("text");
        profile.cores = machine.at("cores");
        profile.quota_cores = machine.at("quota_cores");
        profile.quota_period_s = machine.at("quota_period_s");
        profile.memory_bytes = machine.at("memory_bytes");
        for (const Json& gradient : json.at("gradients"))
            profile.gradients.push_back(gradient_from(gradient));
        profile.crowded = json.at("crowded");
        profile.round_s = json.at("round_s");
        profile.process_bytes = json.at("process_bytes");
        profile.process_batch = json.value("process_batch", std::size_t{0});
        profile.period_lost_s = json.at("period_lost_s");
        for (const auto& [mode, exchange] : json.at("exchange").items())
            profile.exchange[mode] = {exchange.at("s_per_byte"), exchange.at("bytes_share"),
                                      exchange.at("round_s")};
        profile.measured_by = json.at("measured_by");
        if (!is_whole(profile))
            throw StartupError(file + ": lacks gradients, steps of them, or the mode ring",
                               measure_again);
        return profile;
    } catch (const nlohmann::json::exception& error) {
        throw StartupError(file + ": is no profile: " + error.what(), measure_again);
    }
}

}  // namespace ako
