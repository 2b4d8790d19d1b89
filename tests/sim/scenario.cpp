// See scenario.h.
#include "tests/sim/scenario.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "src/group/mode_settings.h"
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

PeerPlan& some_peer(Scenario& scenario, Random& random) {
    return scenario.peers[random.below(scenario.peers.size())];
}

PeerSet some_side(const Scenario& scenario, Random& random) {
    return PeerSet{1 + random.below((std::uint64_t{1} << scenario.peers.size()) - 2)};
}

std::pair<PeerIndex, PeerIndex> some_link(const Scenario& scenario, Random& random) {
    const std::size_t count = scenario.peers.size();
    const auto from = static_cast<PeerIndex>(random.below(count));
    return {from, static_cast<PeerIndex>((from + random.between(1, count - 1)) % count)};
}

/// Peers die, hang, come late or want to end.
void draw_deaths(Scenario& scenario, Random& random) {
    const std::size_t count = scenario.peers.size();
    if (random.chance(0.35)) {
        const std::size_t victims = random.between(1, std::max<std::size_t>(1, (count - 1) / 2));
        for (std::size_t k = 0; k < victims; ++k) {
            PeerPlan& plan = some_peer(scenario, random);
            plan.killed_at = random.time(ms(5), ms(600));
            plan.killed_silently = random.chance(0.4);
        }
    }
    if (random.chance(0.3)) {
        PeerPlan& plan = some_peer(scenario, random);
        plan.hangs_at = random.time(ms(20), ms(300));
        // Much longer than the final exchange takes, and than the others may wait.
        plan.hangs_for =
            random.chance(0.15) ? random.time(ms(7000), ms(9000)) : random.time(ms(50), ms(400));
    }
    scenario.finish_victim = static_cast<PeerIndex>(random.below(count));
    scenario.reset_at_finish = random.chance(0.4);
    if (random.chance(0.25)) {
        scenario.kill_at_finish = true;
        scenario.finish_kill_silent = random.chance(0.5);
        scenario.finish_kill_after = random.time(ms(0), ms(150));
    }
    if (random.chance(0.1)) some_peer(scenario, random).starts_at = random.time(ms(450), ms(900));
    if (random.chance(0.1)) some_peer(scenario, random).hurried = true;
}

void draw_stop_wish(Scenario& scenario, Random& random) {
    scenario.stop_wish = StopWish{
        static_cast<PeerIndex>(random.below(scenario.peers.size())), random.time(ms(60), ms(400)),
        random.chance(0.5) ? StopReason::requested : StopReason::target_reached};
    // Who comes after the others have left would train alone.
    for (const PeerPlan& plan : scenario.peers) {
        scenario.stop_wish->at = std::max(scenario.stop_wish->at, plan.starts_at + ms(100));
    }
    scenario.rounds = 1000;  // far beyond
}

void draw_broken_network(Scenario& scenario, Random& random) {
    if (random.chance(0.35)) scenario.loss = random.real(0.0005, 0.02);
    if (random.chance(0.2)) {
        const Time at = random.time(ms(10), ms(400));
        scenario.cuts.push_back(
            {some_side(scenario, random), at, at + random.time(ms(20), ms(400))});
    }
    if (random.chance(0.2)) {
        const auto [from, to] = some_link(scenario, random);
        const Time at = random.time(ms(10), ms(600));
        scenario.silences.push_back({from, to, at, at + random.time(ms(20), ms(600))});
    }
    if (random.chance(0.2)) {
        PeerPlan& plan = some_peer(scenario, random);
        plan.paused_at = random.time(ms(20), ms(600));
        plan.paused_for = random.time(ms(50), ms(900));
        plan.clock_stops = random.chance(0.4);
    }
    if (random.chance(0.15)) scenario.flipped_bit = random.real(0.001, 0.05);
    if (random.chance(0.1)) scenario.not_finite = random.real(0.001, 0.05);
    if (random.chance(0.1)) scenario.damaged_header = random.real(0.0005, 0.01);
    if (random.chance(0.25)) {
        const auto [from, to] = some_link(scenario, random);
        scenario.slow_link = LinkLimit{from, to, random.real(0.06, 0.15)};
    }
    scenario.rates_change = random.chance(0.3);
    if (random.chance(0.2)) scenario.pool_bytes = random.between(64, 1024);
}

/// Cuts at the moments that the agreement is most sensitive to.
void draw_broken_finish(Scenario& scenario, Random& random) {
    if (random.chance(0.35)) {
        scenario.cut_at_finish = true;
        scenario.finish_cut_side = some_side(scenario, random);
        scenario.finish_cut_for = random.time(ms(50), ms(1500));
    }
    if (random.chance(0.35)) {
        scenario.cut_at_accept = true;
        scenario.accept_cut_for = random.time(ms(50), ms(1500));
    }
    if (random.chance(0.2)) {
        scenario.kill_at_decision = true;
    } else if (random.chance(0.25)) {
        scenario.cut_at_decision = true;
        scenario.decision_cut_for = random.time(ms(50), ms(1500));
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

/// In half of them somebody was alone until the first process was dead, and may meet the second
/// before it hears of the first. Two that trained with different ones stay apart, and a stop that
/// one wishes for is not heard by the other.
void draw_second_life(Scenario& scenario, Random& random) {
    const auto [peer, alone] = some_link(scenario, random);
    const SecondLife life{peer, random.time(ms(20), ms(700)),
                          life_timeout + random.time(ms(1), ms(300))};
    scenario.second_life = life;
    if (random.chance(0.5)) {
        const Time until = life.killed_at + random.time(ms(0), life.again_after + ms(100));
        scenario.cuts.push_back({peer_bit(alone), Time{0}, until});
    }
    scenario.stop_wish.reset();
    scenario.rounds = static_cast<double>(random.between(10, 25));
}

/// Stands still from before the stop until the others have waited for it and left.
void draw_straggler(Scenario& scenario, Random& random) {
    const std::size_t count = scenario.peers.size();
    scenario.straggler =
        static_cast<PeerIndex>((scenario.stop_wish->peer + random.between(1, count - 1)) % count);
    PeerPlan& plan = scenario.peers[*scenario.straggler];
    plan.paused_at = random.time(ms(20), scenario.stop_wish->at);
    plan.paused_for = random.time(ms(6000), ms(8000));
    plan.clock_stops = false;
}

constexpr double narrow_from = 0.95;

Weather draw_weather(Random& random) {
    const double drawn = random.real();
    if (drawn < 0.1) return Weather::calm;
    if (drawn < 0.3) return Weather::deaths;
    return drawn < narrow_from ? Weather::rough : Weather::narrow;
}

}  // namespace

/// Of so many seeds one, in which rounds end with updates.
constexpr std::uint64_t own_optimizers_every = 4;

Scenario Scenario::from_seed(std::uint64_t seed) {
    Random random(seed);
    Scenario scenario;
    scenario.seed = seed;
    scenario.own_optimizers = seed % own_optimizers_every == 0;
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
    if (scenario.weather == Weather::rough || scenario.weather == Weather::deaths) {
        draw_deaths(scenario, random);
    }
    if (scenario.weather == Weather::rough) {
        draw_broken_network(scenario, random);
        draw_broken_finish(scenario, random);
    }
    if (scenario.weather == Weather::narrow) draw_narrow_links(scenario, random);
    if (random.chance(0.2)) draw_stop_wish(scenario, random);
    // What a receiver drops is sent again in the next round only, for which all may wait then.
    const bool harmed = scenario.flipped_bit > 0 || scenario.not_finite > 0;
    if (random.chance(0.25) && !harmed) {
        scenario.staleness_rounds_max = static_cast<unsigned>(random.between(1, 12));
    }
    scenario.nesterov = random.chance(0.5);
    if (scenario.weather == Weather::rough && random.chance(0.1)) {
        draw_second_life(scenario, random);
    }
    if (scenario.weather == Weather::rough && scenario.stop_wish && random.chance(0.2)) {
        draw_straggler(scenario, random);
    }
    return scenario;
}

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

Time Scenario::slowest_round() const {
    Time slowest{0};
    for (const PeerPlan& plan : peers) slowest = std::max(slowest, plan.round_time * 11 / 10);
    return slowest;
}

namespace {

double in_ms(Time time) { return std::chrono::duration<double, std::milli>(time).count(); }

}  // namespace

void Scenario::write_finish(std::ostream& out) const {
    for (const Cut& cut : cuts) {
        out << ", cut of " << cut.one_side << " from " << in_ms(cut.at) << " to "
            << in_ms(cut.until);
    }
    if (cut_at_finish) {
        out << ", cut of " << finish_cut_side << " at the finish for " << in_ms(finish_cut_for);
    }
    if (reset_at_finish) out << ", sessions of " << finish_victim << " end at the finish";
    if (cut_at_accept) {
        out << ", the first to accept is cut off for " << in_ms(accept_cut_for);
    }
    if (kill_at_decision) out << ", the first to know the decision dies";
    if (cut_at_decision) {
        out << ", the first to know the decision is cut off for " << in_ms(decision_cut_for);
    }
    if (kill_at_finish) {
        out << ", " << finish_victim << (finish_kill_silent ? " dies silently " : " dies ")
            << in_ms(finish_kill_after) << " into the finish";
    }
}

std::string Scenario::text() const {
    std::ostringstream out;
    static constexpr const char* weathers[] = {"calm", "deaths", "rough", "narrow"};
    out << "seed " << seed << ": " << weathers[static_cast<int>(weather)] << ", n " << peers.size()
        << ", " << element_count << " parameters, "
        << (rule == Rule::anchored ? "anchored" : "plain") << (nesterov ? ", Nesterov, " : ", ")
        << (own_optimizers ? "own optimizers, " : "") << rounds << " rounds, " << bytes_per_second
        << " B/s, delay " << in_ms(delay) << " ms";
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
    for (std::size_t peer = 0; peer < peers.size(); ++peer) {
        const PeerPlan& plan = peers[peer];
        if (plan.starts_at > Time{0}) out << ", " << peer << " comes at " << in_ms(plan.starts_at);
        if (plan.hurried) out << ", " << peer << " is in a hurry";
        if (plan.paused_at) {
            out << ", " << peer << (plan.clock_stops ? " and its clock stand" : " stands")
                << " still at " << in_ms(*plan.paused_at) << " for " << in_ms(plan.paused_for);
        }
    }
    for (const Silence& silence : silences) {
        out << ", silence from " << silence.from << " to " << silence.to << " from "
            << in_ms(silence.at) << " to " << in_ms(silence.until);
    }
    if (second_life) {
        out << ", " << second_life->peer << " dies at " << in_ms(second_life->killed_at)
            << " and another process begins in its name " << in_ms(second_life->again_after)
            << " later";
    }
    if (flipped_bit > 0) out << ", flipped bits " << flipped_bit;
    if (not_finite > 0) out << ", infinite blocks " << not_finite;
    if (damaged_header > 0) out << ", damaged headers " << damaged_header;
    if (narrow_into) out << ", only into " << *narrow_into;
    if (stop_wish) {
        out << ", " << stop_wish->peer
            << (stop_wish->reason == StopReason::requested ? " is asked to stop at "
                                                           : " reaches the target at ")
            << in_ms(stop_wish->at);
    }
    write_finish(out);
    return out.str();
}

}  // namespace ako::sim
