// Where more machines stop paying, foretold and seen, with more machines than there are at hand:
// rings of up to 64 peers, as many as a cluster file may have, in the simulator: the real exchange
// on links with a rate and a delay, in virtual time. A batch is divided among them.
//     simulated_peaks
// Prints the samples per second of each number of machines. Exit 1: a peak is further than one
// tested number from where the step model has it, or the curve does not fall after it.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "src/predict/step_model.h"
#include "tests/sim/mode_run.h"

namespace {

using namespace ako;

constexpr std::array<std::size_t, 10> machines_tried = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64};
constexpr std::size_t layer_count = 4;
constexpr std::size_t batch = 768;  // of all machines together: each number tried divides it

struct Setting {
    const char* name;
    std::size_t parameters;
    double gradient_s;  ///< of the whole batch, on one machine
    double mbit;
    Time delay;  ///< of links, one way: drawn from half to twice that
};

constexpr std::array<Setting, 3> settings_tried = {{
    {"0.8 MB at 1000 Mbit/s, 1 ms", 200'000, 2.0, 1000, sim::ms(1)},
    {"0.2 MB at 100 Mbit/s, 3 ms", 50'000, 1.0, 100, sim::ms(3)},
    {"2 MB at 300 Mbit/s, 1 ms", 500'000, 4.0, 300, sim::ms(1)},
}};
/// Of delays that are drawn so, the mean.
constexpr double mean_delay = 1.25;

std::vector<Range> layers_of(const Setting& setting) {
    std::vector<Range> layers;
    for (std::size_t k = 0; k < layer_count; ++k)
        layers.push_back({k * setting.parameters / layer_count, setting.parameters / layer_count});
    return layers;
}

ModeSettings ring_of(const Setting& setting, std::size_t machines) {
    ModeSettings settings;
    settings.exchange.mode = Mode::ring;
    for (std::size_t k = 0; k < machines; ++k)
        settings.peer_names.push_back("p" + std::to_string(k));
    settings.layers = layers_of(setting);
    // What goes straight to all others shares no link in the simulator.
    settings.straight_bytes_max = 0;
    settings.training.batch.local = batch / machines;
    settings.training.learning_rate = 0.01;
    return settings;
}

/// When a run of so many rounds is over, seconds.
double simulated_end(const Setting& setting, std::size_t machines, std::size_t rounds) {
    sim::ModeScenario scenario;
    scenario.settings = ring_of(setting, machines);
    scenario.settings.sample_budget = batch * rounds;
    scenario.peers.resize(machines);
    for (sim::ModePlan& peer : scenario.peers)
        peer.round_time = Time(static_cast<Time::rep>(1e9 * setting.gradient_s /
                                                      static_cast<double>(machines)));
    scenario.quality.bytes_per_second = setting.mbit * 1e6 / 8;
    scenario.quality.delay = setting.delay;
    scenario.payload_max = 64 << 10;
    const Buckets usual(scenario.settings.layers, setting.parameters);
    scenario.bucket_bytes_min = Buckets::bytes_min;
    scenario.bucket_bytes_split = Buckets::bytes_split;
    const std::vector<float> initial(setting.parameters, 0.0F);
    const auto gradient = [](PeerIndex, Round, std::span<const float>, std::span<float> out) {
        std::fill(out.begin(), out.end(), 1e-3F);
    };
    const sim::ModeOutcome ran = sim::ModeRun(scenario, initial, gradient).run();
    double end = 0;
    for (const sim::ModeEnd& it : ran.ends) end = std::max(end, seconds_of(it.at));
    return end;
}

double simulated_round(const Setting& setting, std::size_t machines) {
    constexpr std::size_t few = 4, more = 12;
    return (simulated_end(setting, machines, more) - simulated_end(setting, machines, few)) /
           (more - few);
}

/// The whole batch on one machine: passes of equally long layers, forth and back.
MachineProfile profile_of(const Setting& setting) {
    MachineProfile profile;
    profile.parameter_count = setting.parameters;
    profile.cores = 2;  // for both threads
    profile.exchange["ring"] = {};
    GradientProfile& gradient = profile.gradients.emplace_back();
    gradient.batch = batch;
    gradient.seconds = gradient.least = setting.gradient_s;
    // Of draws between 0.8 and 1.2, over all layers and both ways.
    gradient.spread = 0.4 / 3.46 / 2.83;
    const double pass_s = setting.gradient_s / (2 * layer_count);
    const std::vector<Range> layers = layers_of(setting);
    using Kind = GradientStep::Kind;
    for (std::size_t k = 0; k < layers.size(); ++k)
        gradient.steps.push_back({Kind::await, layers[k], k == 0 ? 0 : pass_s});
    for (std::size_t k = layers.size(); k-- > 0;)
        gradient.steps.push_back({Kind::ready, layers[k], k + 1 == layers.size() ? 2 * pass_s
                                                                                 : pass_s});
    gradient.steps.push_back({Kind::end, {}, 0});
    return profile;
}

double predicted_round(const Setting& setting, std::size_t machines) {
    const MachineProfile profile = profile_of(setting);
    StepQuestion question;
    question.mode = ring_of(setting, machines);
    question.batch = batch / machines;
    question.layers = question.mode.layers;
    question.latency_s = mean_delay * seconds_of(setting.delay);
    question.goodput = 1;  // no TCP
    for (std::size_t k = 0; k < machines; ++k)
        question.machines.push_back({&profile, profile.cores, 0, setting.mbit, setting.mbit});
    return predict_step(question)->round_s;
}

std::size_t peak(const std::vector<double>& rates) {
    return static_cast<std::size_t>(std::max_element(rates.begin(), rates.end()) - rates.begin());
}

/// Prints the curves; are the peaks within one tested number of each other, and do curves fall?
bool peaks_agree(const Setting& setting) {
    std::vector<double> seen, foretold;
    std::printf("%s\n  machines  samples/s  foretold\n", setting.name);
    for (const std::size_t machines : machines_tried) {
        seen.push_back(batch / simulated_round(setting, machines));
        foretold.push_back(batch / predicted_round(setting, machines));
        std::printf("  %8zu %10.0f %9.0f\n", machines, seen.back(), foretold.back());
        std::fflush(stdout);
    }
    const std::size_t at = peak(seen), said = peak(foretold);
    std::printf("  most with %zu, foretold with %zu\n\n", machines_tried[at],
                machines_tried[said]);
    const bool falls = at + 1 < seen.size() && seen.back() < seen[at];
    return falls && (at > said ? at - said : said - at) <= 1;
}

}  // namespace

int main() try {
    bool agree = true;
    for (const Setting& setting : settings_tried) agree = peaks_agree(setting) && agree;
    return agree ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
