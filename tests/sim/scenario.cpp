// See scenario.h.
#include "tests/sim/scenario.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "src/exchange/mode_settings.h"
#include "src/numbers/answer_time.h"
#include "tests/sim/draw_schedule.h"
#include "tests/sim/sim_times.h"

namespace ako::sim {
namespace {

std::size_t draw_peer_count(Random& random) {
    return random.chance(0.9) ? random.between(2, 5) : random.between(6, 16);
}

void draw_peers(Scenario& scenario, Random& random, std::size_t count) {
    const Time usual = random.time(ms(4), ms(20));
    const bool uneven = random.chance(0.3);
    const bool staggered = random.chance(0.2);
    for (std::size_t peer = 0; peer < count; ++peer) {
        PeerPlan plan;
        plan.round_time = uneven ? random.time(usual, 6 * usual) : usual;
        plan.clock_offset = random.time(ms(0), ms(100'000));
        plan.partitions = random.chance(0.4) ? static_cast<unsigned>(random.between(1, 40)) : 0;
        if (staggered) plan.starts_at = random.time(ms(0), ms(150));
        scenario.peers.push_back(plan);
    }
}

/// Into one peer, or everywhere: a block takes longer than the 40 ms of want_timeout, and a row
/// longer than the linger. To one another these are as in production at the slowest rate that
/// Finish::bound allows for: a block takes less than four times want_timeout, the linger is that of
/// several blocks, and a header is little beside a block, so that questions and what keeps links
/// alive leave room. Half of the first proposers wait until all rows are there.
void draw_narrow_links(Scenario& scenario, Random& random) {
    scenario.block_elements = 32;
    scenario.element_count = random.between(320, 416);
    scenario.payload_blocks = 1;
    scenario.linger_s = 0.8;
    scenario.heartbeat_ms = 60;
    scenario.header_bytes = 4;
    scenario.rounds = static_cast<double>(random.between(10, 25));
    scenario.bytes_per_second = random.real(1.2e3, 1.6e3);
    if (random.chance(0.7)) {
        scenario.narrow_into = static_cast<PeerIndex>(random.below(scenario.peers.size()));
    }
    if (random.chance(0.5)) scenario.finish_exchange = 4 * scenario.row_time() + ms(1500);
}

constexpr double narrow_from = 0.95;

Weather draw_weather(Random& random) {
    const double drawn = random.real();
    if (drawn < 0.1) return Weather::calm;
    if (drawn < 0.3) return Weather::deaths;
    return drawn < narrow_from ? Weather::rough : Weather::narrow;
}

/// In one of so many seeds rounds end with updates.
constexpr std::uint64_t own_optimizers_every = 4;
/// In one of so many, unless it has a bound, whether the peers wait is chosen.
constexpr std::uint64_t staleness_chosen_every = 5;

bool breaks_network(const Fault& fault) {
    switch (fault.kind) {
        case FaultKind::kill:
        case FaultKind::vanish:
        case FaultKind::restart:
        case FaultKind::reboot:
        case FaultKind::late:
        case FaultKind::hang:
        case FaultKind::hurry:
        case FaultKind::leave:
        case FaultKind::stop:
        case FaultKind::target:
            return false;
        case FaultKind::cut:
            return fault.lasts > Time{0} || fault.trigger != Trigger::stop;
        default:
            return true;
    }
}

double in_ms(Time time) { return std::chrono::duration<double, std::milli>(time).count(); }

}  // namespace

Scenario Scenario::from_seed(std::uint64_t seed) {
    Random random(seed);
    Scenario scenario;
    scenario.seed = seed;
    scenario.adaptive = seed % 2 == 1;
    scenario.own_optimizers = seed % own_optimizers_every == 0;
    scenario.observes_answers = seed % 2 == 0;
    scenario.weather = draw_weather(random);
    scenario.element_count = random.between(5, 90);
    scenario.rule = random.chance(0.85) ? Rule::anchored : Rule::plain;
    scenario.rounds = static_cast<double>(random.between(10, 50));
    draw_peers(scenario, random, draw_peer_count(random));
    scenario.bytes_per_second = random.chance(0.5) ? 1e6 : random.real(1.5e4, 2e5);
    scenario.delay = random.time(ms(0), random.chance(0.3) ? ms(60) : ms(4));
    if (random.chance(0.3)) scenario.reorder = random.real(0.05, 0.5);
    // Large frames on slow links are under way for more rounds than there are snapshots.
    scenario.payload_blocks = random.chance(0.3) ? 16 : random.between(1, 4);
    if (random.chance(0.15)) scenario.start_wait_s = 0;
    scenario.nesterov = random.chance(0.5);
    if (scenario.narrow()) draw_narrow_links(scenario, random);
    scenario.faults = draw_schedule(scenario, random);
    if (scenario.has(FaultKind::stop) || scenario.has(FaultKind::target)) {
        scenario.rounds = 1000;  // far beyond
    }
    // What a receiver drops is sent again in the next round only, for which all may wait then.
    const bool harmed = scenario.has(FaultKind::flip) || scenario.has(FaultKind::infinite);
    if (random.chance(0.25) && !harmed) {
        scenario.staleness_rounds_max = static_cast<unsigned>(random.between(1, 12));
    } else if (seed % staleness_chosen_every == 0 && !harmed) {
        scenario.staleness_rounds_max.reset();
        scenario.rounds = std::max(scenario.rounds, 80.0);  // a try, and what follows
        for (PeerPlan& plan : scenario.peers) plan.partitions = 0;
    }
    if (random.chance(0.5)) scenario.layers = random.between(2, 5);
    return scenario;
}

std::vector<Range> Scenario::layer_ranges() const {
    std::vector<Range> ranges;
    for (std::size_t layer = 0; layer < layers; ++layer) {
        const auto end_of = [this](std::size_t count) {
            return element_count * count * (count + 1) / (layers * (layers + 1));
        };
        ranges.push_back({end_of(layer), end_of(layer + 1) - end_of(layer)});
    }
    return ranges;
}

// ---- what the schedule says

bool Scenario::network_stands() const {
    return std::none_of(faults.begin(), faults.end(), breaks_network);
}

bool Scenario::faultless() const {
    return std::all_of(faults.begin(), faults.end(), [](const Fault& fault) {
        return fault.kind == FaultKind::stop || fault.kind == FaultKind::target;
    });
}

bool Scenario::has(FaultKind kind) const {
    return std::any_of(faults.begin(), faults.end(),
                       [kind](const Fault& fault) { return fault.kind == kind; });
}

bool Scenario::begins_anew() const {
    return has(FaultKind::restart) || has(FaultKind::reboot) || has(FaultKind::second);
}

bool Scenario::resets() const {
    return std::any_of(faults.begin(), faults.end(), [](const Fault& fault) {
        return fault.kind == FaultKind::cut && fault.lasts == Time{0};
    });
}

double Scenario::amount(FaultKind kind, double otherwise) const {
    for (const Fault& fault : faults) {
        if (fault.kind == kind) return fault.amount;
    }
    return otherwise;
}

bool Scenario::hurried(PeerIndex peer) const {
    return std::any_of(faults.begin(), faults.end(), [peer](const Fault& fault) {
        return fault.kind == FaultKind::hurry && fault.peer == peer;
    });
}

Time Scenario::starts_at(PeerIndex peer) const {
    for (const Fault& fault : faults) {
        if (fault.kind == FaultKind::late && fault.peer == peer) return fault.at;
    }
    return peers[peer].starts_at;
}

// ---- times

Time Scenario::frame_time() const {
    const double bytes =
        static_cast<double>(payload_blocks * block_elements * sizeof(float) + header_bytes);
    return from_seconds(bytes / bytes_per_second);
}

Time Scenario::row_time() const {
    const auto blocks = static_cast<double>((element_count + block_elements - 1) / block_elements);
    const double bytes = blocks * (static_cast<double>(block_elements * sizeof(float)) +
                                   static_cast<double>(header_bytes));
    // Less what Status takes of the link.
    const double left = bytes_per_second - 1e3 * static_cast<double>(header_bytes) / heartbeat_ms;
    return from_seconds(bytes / left);
}

Time Scenario::answer_time() const { return observes_answers ? AnswerTime::first : want_timeout; }

Time Scenario::slowest_round() const {
    Time slowest{0};
    for (const PeerPlan& plan : peers) slowest = std::max(slowest, plan.round_time * 11 / 10);
    return slowest;
}

std::string Scenario::text() const {
    std::ostringstream out;
    static constexpr const char* weathers[] = {"calm", "deaths", "rough", "narrow"};
    out << "seed " << seed << ": " << weathers[static_cast<int>(weather)] << ", n " << peers.size()
        << ", " << element_count << " parameters in " << layers << " layers, "
        << (rule == Rule::anchored ? "anchored" : "plain") << (nesterov ? ", Nesterov, " : ", ")
        << (own_optimizers ? "own optimizers, " : "") << rounds << " rounds, " << bytes_per_second
        << " B/s, delay " << in_ms(delay) << " ms";
    if (narrow_into) out << ", narrow into " << *narrow_into;
    if (reorder > 0) out << ", reorder " << reorder;
    if (start_wait_s == 0) out << ", nobody waits at the start";
    if (!staleness_rounds_max) out << ", staleness as chosen";
    if (staleness_rounds_max.value_or(0) > 0)
        out << ", staleness at most " << *staleness_rounds_max;
    out << "; faults: " << (faults.empty() ? "none" : sim::text(faults));
    return out.str();
}

}  // namespace ako::sim
