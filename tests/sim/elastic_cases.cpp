// See elastic_cases.h.
#include "tests/sim/elastic_cases.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/sim/sim_times.h"
#include "tests/sim/violation.h"

namespace ako::sim {
namespace {

using Kind = ElasticFault::Kind;

void require(bool holds, const std::string& what) {
    if (!holds) throw Violation(what);
}

/// All of these processes finished together.
void require_finished(const ElasticOutcome& ran, std::initializer_list<PeerIndex> peers) {
    for (const PeerIndex peer : peers)
        require(ran.ends[peer].state == SimPeer::State::ended && ran.ends[peer].report.agreed,
                "p" + std::to_string(peer) + " did not finish: " + ran.ends[peer].why);
}

/// Beside the time in which a loss is noticed: what the members take to agree and to go on.
constexpr Time recovery_max = ms(2000);

void quiet(std::uint64_t) {
    const ElasticOutcome ran = ElasticRun(small_ring(4, 50)).run();
    require_finished(ran, {0, 1, 2, 3});
    require(ran.rounds == 50, "rounds " + std::to_string(ran.rounds));
    require(ran.ends[0].report.samples_total == 4 * 4 * 50, "samples are not those of the budget");
}

/// However late the last word of one comes to another, that one is named at the end.
void all_end(std::uint64_t tries_max) {
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(50, tries_max); ++seed) {
        ElasticScenario scenario = small_ring(4, 5, seed);
        scenario.quality.delay = ms(40);
        const ElasticOutcome ran = ElasticRun(scenario).run();
        require_finished(ran, {0, 1, 2, 3});
        for (PeerIndex peer = 0; peer < 4; ++peer) {
            const std::size_t with = ran.ends[peer].report.finished_with.size();
            require(with == 4, "seed " + std::to_string(seed) + ": p" + std::to_string(peer) +
                                   " ended with " + std::to_string(with));
        }
    }
}

/// Any one of four, at any moment, so also in the middle of a reduction.
void one_is_killed(std::uint64_t tries_max) {
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(200, tries_max); ++seed) {
        ElasticScenario scenario = small_ring(4, 60, seed);
        Random random(seed);
        const auto victim = static_cast<PeerIndex>(random.below(4));
        const bool silently = random.chance(0.5);
        scenario.quality.bytes_per_second = random.real(5e4, 1e6);
        scenario.faults = {{silently ? Kind::kill_silently : Kind::kill,
                            ms(200) + Time(static_cast<Time::rep>(random.below(300'000'000))),
                            victim}};
        const ElasticOutcome ran = ElasticRun(scenario).run();
        for (PeerIndex peer = 0; peer < 4; ++peer)
            if (peer != victim) require_finished(ran, {peer});
        const FinishReport& report = ran.ends[victim == 0 ? 1 : 0].report;
        require(report.samples_total >= 4 * 4 * 60 && report.samples_total < 4 * 4 * 62,
                std::to_string(report.samples_total) + " samples");
        require(report.lost == std::vector<PeerIndex>{victim}, "the loss is not reported");
        require(ran.longest_pause <= life_timeout + recovery_max,
                "seed " + std::to_string(seed) + ": no round for " +
                    std::to_string(seconds_of(ran.longest_pause)) + " s");
    }
}

/// A process that is started again takes the state over and finishes with the others.
void one_comes_back(std::uint64_t tries_max) {
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(100, tries_max); ++seed) {
        ElasticScenario scenario = small_ring(4, 150, seed);
        Random random(seed);
        const auto victim = static_cast<PeerIndex>(random.below(4));
        scenario.momentum = random.chance(0.5) ? 0.9 : 0;
        scenario.faults = {{Kind::kill, random.time(ms(200), ms(500)), victim},
                           {Kind::start, random.time(ms(600), ms(900)), victim}};
        const ElasticOutcome ran = ElasticRun(scenario).run();
        require_finished(ran, {0, 1, 2, 3});
        require(ran.ends[0].report.samples == ran.ends[victim].report.samples,
                "who came back counts other samples");
        require(ran.longest_pause <= life_timeout + recovery_max, "it held the others up");
    }
}

/// It is in as soon as its link can have carried the state, and a little.
void one_comes_back_to_a_large_model(std::uint64_t tries_max) {
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(10, tries_max); ++seed) {
        ElasticScenario scenario = small_ring(4, 12, seed);
        scenario.layers = {{0, 20'000}};
        scenario.payload_max = 4096;
        scenario.momentum = 0.9;
        scenario.quality.bytes_per_second = 2e5;
        scenario.faults = {{Kind::kill, ms(1000 + 50 * static_cast<std::int64_t>(seed)), 1},
                           {Kind::start, ms(3000), 1}};
        const ElasticOutcome ran = ElasticRun(scenario).run();
        require_finished(ran, {0, 1, 2, 3});
        const double state_s = 2 * 4 * 20'000 / scenario.quality.bytes_per_second;
        const double took = seconds_of(ran.trains_since.at(1) - ms(3000));
        require(took <= 1.2 * state_s + seconds_of(recovery_max),
                "it was in after " + std::to_string(took) + " s");
    }
}

/// Links over which the state takes far longer than every time-out: as long as more of it comes,
/// neither the newcomer nor the members, who wait for it, give up; nor the only one that is left,
/// which hears of nothing else meanwhile.
void one_comes_back_over_slow_links(std::uint64_t tries_max) {
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(4, tries_max); ++seed) {
        ElasticScenario scenario = small_ring(seed % 2 == 0 ? 2 : 4, 12, seed);
        scenario.layers = {{0, 20'000}};
        scenario.payload_max = 1024;
        scenario.momentum = 0.9;
        scenario.round_time.assign(scenario.peers, ms(500));
        scenario.finish_timeout_s = 1;
        scenario.quality.bytes_per_second = 2e4;
        const Time dies = ms(5000 + 700 * static_cast<std::int64_t>(seed)), comes = dies + ms(4000);
        scenario.faults = {{Kind::kill, dies, 1}, {Kind::start, comes, 1}};
        const ElasticOutcome ran = ElasticRun(scenario).run();
        for (PeerIndex peer = 0; peer < scenario.peers; ++peer) require_finished(ran, {peer});
        const double took = seconds_of(ran.trains_since.at(1) - comes);
        require(took > 2 * scenario.finish_timeout_s, "the links were not slow");
    }
}

/// Rounds far longer than the life time-out: a newcomer, who can take nothing before the round
/// under way is over, is not put out for that.
void one_comes_back_to_long_rounds(std::uint64_t tries_max) {
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(50, tries_max); ++seed) {
        ElasticScenario scenario = small_ring(seed % 2 == 0 ? 2 : 4, 10, seed);
        scenario.round_time.assign(scenario.peers, ms(2000));
        const Time comes = ms(6000) + ms(40) * static_cast<Time::rep>(seed);
        scenario.faults = {{Kind::kill, ms(3000), 1}, {Kind::start, comes, 1}};
        const ElasticOutcome ran = ElasticRun(scenario).run();
        for (PeerIndex peer = 0; peer < scenario.peers; ++peer) require_finished(ran, {peer});
        require(ran.epochs == 3, "seed " + std::to_string(seed) + ": it was put out again");
        require(ran.trains_since.at(1) - comes <= ms(2000) + recovery_max,
                "seed " + std::to_string(seed) + ": it was in after " +
                    std::to_string(seconds_of(ran.trains_since.at(1) - comes)) + " s");
    }
}

/// A peer that was not there at the start is waited for no longer than start_wait_s.
void one_comes_late(std::uint64_t) {
    ElasticScenario scenario = small_ring(4, 200);
    scenario.late = {std::nullopt, std::nullopt, ms(3000), std::nullopt};
    scenario.start_wait_s = 1;
    const ElasticOutcome ran = ElasticRun(scenario).run();
    require_finished(ran, {0, 1, 2, 3});
    require(ran.begun_at.at(0) < ms(2000), "they waited for who was late");
    require(ran.ends[2].report.samples[2] > 0, "who came late did nothing");
}

/// Fewer than the minimum wait, and go on when one is back (Horovod #3494).
void too_few_wait(std::uint64_t) {
    ElasticScenario scenario = small_ring(4, 150);
    scenario.members_min = 3;
    scenario.faults = {
        {Kind::kill, ms(300), 1}, {Kind::kill, ms(400), 3}, {Kind::start, ms(6000), 3}};
    const ElasticOutcome ran = ElasticRun(scenario).run();
    require_finished(ran, {0, 2, 3});
    require(ran.longest_pause >= ms(4000), "two of at least three went on");
    require(ran.longest_pause <= ms(8000), "they did not go on soon");
}

/// The last one waits; the first that comes back is in before they are enough, and takes the state
/// over, so that the next one can come in too.
void too_few_come_one_by_one(std::uint64_t tries_max) {
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(40, tries_max); ++seed) {
        ElasticScenario scenario = small_ring(4, 150, seed);
        scenario.members_min = 3;
        Random random(seed);
        const auto stays = static_cast<PeerIndex>(random.below(4));
        Time dies = ms(300), comes = ms(6000);
        for (PeerIndex peer = 0; peer < 4; ++peer) {
            if (peer == stays) continue;
            scenario.faults.push_back({Kind::kill, dies += random.time(ms(0), ms(200)), peer});
            scenario.faults.push_back({Kind::start, comes += ms(2000), peer});
        }
        const ElasticOutcome ran = ElasticRun(scenario).run();
        require_finished(ran, {0, 1, 2, 3});
        require(ran.longest_pause <= ms(12'000), "they did not go on soon");
    }
}

/// Rounds of a global batch, whose shares and rate follow who is there, while somebody evaluates.
void they_share_a_batch(std::uint64_t tries_max) {
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(60, tries_max); ++seed) {
        ElasticScenario scenario = small_ring(4, 120, seed);
        Random random(seed);
        scenario.shared_batch = scenario.evaluates = true;
        const auto victim = static_cast<PeerIndex>(random.below(4));
        scenario.faults = {{Kind::kill, random.time(ms(200), ms(500)), victim},
                           {Kind::start, random.time(ms(600), ms(900)), victim}};
        const ElasticOutcome ran = ElasticRun(scenario).run();
        require_finished(ran, {0, 1, 2, 3});
        const std::uint64_t samples = ran.ends[0].report.samples_total;
        require(samples >= 4 * 4 * 120 && samples < 4 * 4 * 120 + 2 * 2 * 17,
                std::to_string(samples) + " samples");
    }
}

/// Shares that the budget is no multiple of, and one far faster than the others: nobody ends before
/// the others do, and nobody waits for one that has (what Horovod calls uneven inputs).
void one_would_end_early(std::uint64_t) {
    ElasticScenario scenario = small_ring(3, 61);
    scenario.shared_batch = true;
    scenario.round_time = {ms(2), ms(10), ms(40)};
    const ElasticOutcome ran = ElasticRun(scenario).run();
    require_finished(ran, {0, 1, 2});
    Time first = ran.ends[0].ended_at, last = first;
    for (const ElasticOutcome::End& end : ran.ends) {
        first = std::min(first, end.ended_at);
        last = std::max(last, end.ended_at);
        require(end.report.rounds == ran.ends[0].report.rounds, "rounds differ");
    }
    require(last - first <= recovery_max, "one ended long before the others");
}

/// The compute thread of one stands still while its process answers; also of one that has just come
/// in: the others go on without it before the run is broken off.
void one_hangs(std::uint64_t tries_max) {
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(60, tries_max); ++seed) {
        ElasticScenario scenario = small_ring(4, 150, seed);
        Random random(seed);
        scenario.finish_timeout_s = 4;
        scenario.members_min = static_cast<unsigned>(random.between(1, 3));
        const auto victim = static_cast<PeerIndex>(random.below(4));
        scenario.faults = {{Kind::hang, random.time(ms(200), ms(1000)), victim}};
        if (random.chance(0.5)) {
            scenario.faults = {{Kind::kill, ms(250), victim},
                               {Kind::start, ms(350), victim},
                               {Kind::hang, random.time(ms(360), ms(700)), victim}};
        }
        const ElasticOutcome ran = ElasticRun(scenario).run();
        for (PeerIndex peer = 0; peer < 4; ++peer)
            if (peer != victim) require_finished(ran, {peer});
        require(ran.longest_pause <= ms(3000) + recovery_max, "they waited for it for longer");
    }
}

/// Where nobody comes they end, and say why.
void too_few_end(std::uint64_t) {
    ElasticScenario scenario = small_ring(3, 150);
    scenario.members_min = 3;
    scenario.finish_timeout_s = 3;
    scenario.faults = {{Kind::kill, ms(300), 1}, {Kind::start, ms(20'000), 1}};
    scenario.finishes = false;
    const ElasticOutcome ran = ElasticRun(scenario).run();
    require(!ran.finished, "two of at least three went on");
    require(ran.ends[0].why.find("only 2 of at least 3 peers are left") != std::string::npos,
            "it does not say why: " + ran.ends[0].why);
}

/// A newcomer that takes nothing of what it is given holds the others up for no longer than the
/// life time-out, however often it tries (Horovod #2652).
void a_newcomer_stalls(std::uint64_t tries_max) {
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(20, tries_max); ++seed) {
        ElasticScenario scenario = small_ring(4, 200, seed);
        Random random(seed);
        scenario.layers = {{0, 4000}};
        scenario.quality.bytes_per_second = 2e5;
        scenario.round_time.assign(4, ms(100));
        const Time comes = ms(1500);
        scenario.faults = {{Kind::kill, ms(700), 2},
                           {Kind::start, comes, 2},
                           {Kind::pause, comes + random.time(ms(20), ms(600)), 2, 0, ms(8000)}};
        const ElasticOutcome ran = ElasticRun(scenario).run();
        require_finished(ran, {0, 1, 3});
        require(ran.longest_pause <= 2 * life_timeout + recovery_max,
                "seed " + std::to_string(seed) + ": it held the others up for " +
                    std::to_string(seconds_of(ran.longest_pause)) + " s");
    }
}

/// Peers that end early go one by one, the first included; the others go on.
void they_leave(std::uint64_t) {
    ElasticScenario scenario = small_ring(4, 200);
    scenario.faults = {
        {Kind::leave, ms(300), 0}, {Kind::leave, ms(900), 2}, {Kind::leave, ms(1500), 3}};
    const ElasticOutcome ran = ElasticRun(scenario).run();
    require_finished(ran, {1});
    for (const PeerIndex peer : {0, 2, 3}) {
        require(ran.ends[peer].state == SimPeer::State::left, "it did not leave");
        require(ran.ends[peer].report.left, "it does not say that it left");
    }
    require(ran.ends[1].report.samples_total >= 4 * 4 * 200, "the budget was not spent");
    require(ran.longest_pause <= recovery_max, "they held the others up");
}

/// Down to one, and up again.
void down_to_one(std::uint64_t tries_max) {
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(60, tries_max); ++seed) {
        ElasticScenario scenario = small_ring(4, 600, seed);
        Random random(seed);
        const auto stays = static_cast<PeerIndex>(random.below(4));
        Time at = ms(300);
        std::vector<PeerIndex> others;
        for (PeerIndex peer = 0; peer < 4; ++peer)
            if (peer != stays) others.push_back(peer);
        for (const PeerIndex peer : others)
            scenario.faults.push_back({Kind::kill, at += random.time(ms(0), ms(600)), peer});
        at += ms(2500);
        for (const PeerIndex peer : others)
            scenario.faults.push_back({Kind::start, at += random.time(ms(0), ms(600)), peer});
        const ElasticOutcome ran = ElasticRun(scenario).run();
        require_finished(ran, {0, 1, 2, 3});
        // A minority has to be sure that the others are over.
        require(ran.longest_pause <= 2 * life_timeout + ms(1000) + recovery_max,
                "no round for " + std::to_string(seconds_of(ran.longest_pause)) + " s");
    }
}

/// One that stands still is lost after the life time-out, and comes in again when it moves.
void one_stands_still(std::uint64_t tries_max) {
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(60, tries_max); ++seed) {
        ElasticScenario scenario = small_ring(4, 400, seed);
        Random random(seed);
        const auto victim = static_cast<PeerIndex>(random.below(4));
        scenario.faults = {{Kind::pause, random.time(ms(200), ms(500)), victim, 0, ms(2000)}};
        const ElasticOutcome ran = ElasticRun(scenario).run();
        require_finished(ran, {0, 1, 2, 3});
        require(ran.longest_pause <= life_timeout + recovery_max, "it held the others up");
    }
}

/// A network that is cut in two goes on in one half at most, and heals.
void a_cut_network(std::uint64_t tries_max) {
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(100, tries_max); ++seed) {
        ElasticScenario scenario = small_ring(4 + seed % 2, 500, seed);
        Random random(seed);
        const Time at = random.time(ms(200), ms(600));
        const auto side = random.between(1, (std::uint64_t{1} << scenario.peers) - 2);
        for (PeerIndex one = 0; one < scenario.peers; ++one)
            for (PeerIndex other = one + 1; other < scenario.peers; ++other)
                if (((side >> one) & 1) != ((side >> other) & 1))
                    scenario.faults.push_back({Kind::cut, at, one, other, ms(2000)});
        const ElasticOutcome ran = ElasticRun(scenario).run();
        for (PeerIndex peer = 0; peer < scenario.peers; ++peer) require_finished(ran, {peer});
        require(ran.longest_pause <= life_timeout + recovery_max, "neither half went on");
    }
}

/// A process comes in as the others end: all end soon, the others alike, and it with them, unless
/// it comes too late.
void one_comes_at_the_end(std::uint64_t tries_max, StopReason reason) {
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(300, tries_max); ++seed) {
        ElasticScenario scenario = small_ring(4, 2000, seed);
        Random random(seed);
        const auto victim = static_cast<PeerIndex>(random.below(4));
        const auto evaluates = static_cast<PeerIndex>(victim == 0 ? 1 : 0);
        scenario.momentum = random.chance(0.5) ? 0.9 : 0;
        scenario.quality.bytes_per_second = random.real(5e4, 1e6);
        for (Time& time : scenario.round_time) time = random.time(ms(4), ms(30));
        const Time comes = ms(800);
        scenario.faults = {{Kind::kill, ms(300), victim}, {Kind::start, comes, victim}};
        if (reason == StopReason::target_reached)
            scenario.faults.push_back(
                {Kind::reach_target, comes + random.time(ms(-80), ms(120)), evaluates});
        else
            scenario.rounds = random.between(20, 90);
        const ElasticOutcome ran = ElasticRun(scenario).run();
        for (PeerIndex peer = 0; peer < 4; ++peer) {
            const ElasticOutcome::End& end = ran.ends[peer];
            const Time made = ran.begun_at.rbegin()->second;
            require(end.ended_at <= made + recovery_max,
                    "seed " + std::to_string(seed) + ": the end took until " +
                        std::to_string(seconds_of(end.ended_at)) + " s");
            if (peer == victim && !end.report.agreed) continue;
            require_finished(ran, {peer});
            require(end.report.stop == reason, "it ended for another reason");
        }
    }
}

void the_target_is_reached(std::uint64_t tries_max) {
    one_comes_at_the_end(tries_max, StopReason::target_reached);
}

void the_budget_is_spent(std::uint64_t tries_max) {
    one_comes_at_the_end(tries_max, StopReason::budget_spent);
}

constexpr ElasticCase cases[] = {
    {"quiet", quiet},
    {"all end", all_end},
    {"one is killed", one_is_killed},
    {"one comes back", one_comes_back},
    {"one comes back to a large model", one_comes_back_to_a_large_model},
    {"one comes back over slow links", one_comes_back_over_slow_links},
    {"one comes back to long rounds", one_comes_back_to_long_rounds},
    {"one comes late", one_comes_late},
    {"too few wait", too_few_wait},
    {"too few come one by one", too_few_come_one_by_one},
    {"too few end", too_few_end},
    {"one would end early", one_would_end_early},
    {"one hangs", one_hangs},
    {"they share a batch", they_share_a_batch},
    {"a newcomer stalls", a_newcomer_stalls},
    {"they leave", they_leave},
    {"down to one", down_to_one},
    {"one stands still", one_stands_still},
    {"a cut network", a_cut_network},
    {"one comes as the target is reached", the_target_is_reached},
    {"one comes as the budget is spent", the_budget_is_spent}};

}  // namespace

std::span<const ElasticCase> elastic_cases() { return cases; }

ElasticScenario small_ring(std::size_t peers, std::uint64_t rounds, std::uint64_t seed) {
    ElasticScenario scenario;
    scenario.seed = seed;
    scenario.peers = peers;
    scenario.rounds = rounds;
    scenario.layers = {{0, 40}, {40, 130}, {170, 20}};
    scenario.straight_bytes_max = 100;
    scenario.round_time.assign(peers, ms(10));
    scenario.quality.bytes_per_second = 1e6;
    scenario.quality.delay = ms(1);
    return scenario;
}

}  // namespace ako::sim
