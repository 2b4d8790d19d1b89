// See scenario.h.
#include "tests/sim/scenario.h"

#include <sstream>

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

void draw_faults(Scenario& scenario, Random& random) {
    const std::size_t count = scenario.peers.size();
    if (random.chance(0.35)) scenario.loss = random.real(0.0005, 0.02);
    if (random.chance(0.3)) scenario.reorder = random.real(0.05, 0.5);
    if (random.chance(0.35)) {
        const std::size_t victims = random.between(1, std::max<std::size_t>(1, (count - 1) / 2));
        for (std::size_t k = 0; k < victims; ++k) {
            PeerPlan& plan = scenario.peers[random.below(count)];
            plan.killed_at = random.time(ms(5), ms(600));
            plan.killed_silently = random.chance(0.4);
        }
    }
    if (random.chance(0.3)) {
        PeerPlan& plan = scenario.peers[random.below(count)];
        plan.hangs_at = random.time(ms(20), ms(300));
        plan.hangs_for = random.time(ms(50), ms(400));
    }
    const auto some_side = [&] {
        return PeerSet{1 + random.below((std::uint64_t{1} << count) - 2)};
    };
    if (random.chance(0.2)) {
        const Time at = random.time(ms(10), ms(400));
        scenario.cuts.push_back({some_side(), at, at + random.time(ms(20), ms(400))});
    }
    if (random.chance(0.35)) {
        scenario.cut_at_finish = true;
        scenario.finish_cut_side = some_side();
        scenario.finish_cut_for = random.time(ms(50), ms(1500));
    }
    if (random.chance(0.25)) {
        scenario.kill_at_finish = true;
        scenario.finish_victim = static_cast<PeerIndex>(random.below(count));
        scenario.finish_kill_after = random.time(ms(0), ms(150));
    }
    if (random.chance(0.35)) {
        scenario.cut_at_accept = true;
        scenario.accept_cut_for = random.time(ms(50), ms(1500));
    }
    scenario.kill_at_decision = random.chance(0.2);
    if (random.chance(0.25)) {
        const auto from = static_cast<PeerIndex>(random.below(count));
        const auto to = static_cast<PeerIndex>((from + random.between(1, count - 1)) % count);
        scenario.slow_link = LinkLimit{from, to, random.real(0.06, 0.15)};
    }
    // Large frames on slow links are under way for more rounds than there are snapshots.
    scenario.payload_blocks = random.chance(0.3) ? 16 : random.between(1, 4);
}

}  // namespace

Scenario Scenario::from_seed(std::uint64_t seed) {
    Random random(seed);
    Scenario scenario;
    scenario.seed = seed;
    scenario.element_count = random.between(5, 90);
    scenario.rule = random.chance(0.85) ? Rule::anchored : Rule::plain;
    scenario.rounds = static_cast<double>(random.between(10, 50));
    draw_peers(scenario, random, draw_peer_count(random));
    scenario.bytes_per_second = random.chance(0.5) ? 1e6 : random.real(1.5e4, 2e5);
    scenario.delay = random.time(ms(0), random.chance(0.3) ? ms(60) : ms(4));
    scenario.rates_change = random.chance(0.3);
    if (random.chance(0.2)) scenario.pool_bytes = random.between(64, 1024);
    draw_faults(scenario, random);
    if (random.chance(0.25)) {
        scenario.staleness_rounds_max = static_cast<unsigned>(random.between(1, 12));
    }
    scenario.nesterov = random.chance(0.5);
    return scenario;
}

std::string Scenario::text() const {
    std::ostringstream out;
    const auto in_ms = [](Time time) {
        return std::chrono::duration<double, std::milli>(time).count();
    };
    out << "seed " << seed << ": n " << peers.size() << ", " << element_count << " parameters, "
        << (rule == Rule::anchored ? "anchored" : "plain") << (nesterov ? ", Nesterov, " : ", ")
        << rounds << " rounds, " << bytes_per_second << " B/s, delay " << in_ms(delay) << " ms";
    if (loss > 0) out << ", loss " << loss;
    if (reorder > 0) out << ", reorder " << reorder;
    if (slow_link) {
        out << ", " << slow_link->mbit << " Mbit/s from " << slow_link->from << " to "
            << slow_link->to;
    }
    if (rates_change) out << ", rates change";
    if (staleness_rounds_max > 0) out << ", staleness at most " << staleness_rounds_max;
    for (std::size_t peer = 0; peer < peers.size(); ++peer) {
        const PeerPlan& plan = peers[peer];
        if (plan.killed_at) {
            out << ", " << peer << " dies" << (plan.killed_silently ? " silently" : "") << " at "
                << in_ms(*plan.killed_at);
        }
        if (plan.hangs_at) {
            out << ", " << peer << " hangs at " << in_ms(*plan.hangs_at) << " for "
                << in_ms(plan.hangs_for);
        }
    }
    for (const Cut& cut : cuts) {
        out << ", cut of " << cut.one_side << " from " << in_ms(cut.at) << " to "
            << in_ms(cut.until);
    }
    if (cut_at_finish) {
        out << ", cut of " << finish_cut_side << " at the finish for " << in_ms(finish_cut_for);
    }
    if (cut_at_accept) {
        out << ", the first to accept is cut off for " << in_ms(accept_cut_for);
    }
    if (kill_at_decision) out << ", the first to know the decision dies";
    if (kill_at_finish) {
        out << ", " << finish_victim << " dies " << in_ms(finish_kill_after) << " into the finish";
    }
    return out.str();
}

}  // namespace ako::sim
