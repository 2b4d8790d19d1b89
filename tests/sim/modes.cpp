// See modes.h. Each seed draws peers, layers, links, ring or butterfly, and moments in which a
// process stands still or nothing arrives on a link, and checks
//   - lockstep modes (ring, BSP, local SGD with H = 1 and no outer momentum): the same parameters
//     as one process that makes the same steps with the mean gradient, within rounding
//   - a ring that runs ahead: as one process whose gradients are a round old
//   - model averaging: the same average as one process with the learners of all peers, and the same
//     bytes as a ring; where learners come and go, all stop after the same round
//   - BSP with any number of servers, anywhere: the same bits ({ssp: 0} is no case of its own: like
//     `bsp` it is read as a gap of 0, before anything here sees it)
//   - SSP: no worker begins a round more than s ahead of the slowest
//   - bytes per peer and round: what the mode says, as 2(n-1)/n M of a ring; n M through one server
//   - lockstep modes: a run that goes on from checkpoints of any round ends with the same bits as
//     one that was not interrupted
//   - all who finish hold the same bits; a worker that dies is survived by a parameter server, any
//     other death ends the run for everybody soon, and everybody names who died
#include "tests/sim/modes.h"

#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "ako/payload.h"
#include "src/buckets/butterfly_steps.h"
#include "src/modes/make_exchange.h"
#include "tests/sim/distance.h"
#include "tests/sim/mode_run.h"
#include "tests/sim/reference.h"
#include "tests/sim/violation.h"

namespace ako::sim {
namespace {

constexpr std::size_t batch = 4;
constexpr unsigned learners_of_peer_max = 4;
/// The relative distance of float32 sums in another order, after some tens of rounds.
constexpr double rounding_max = 1e-5;
/// A death is noticed within the life time-out and a round; what waits in queues takes its time.
constexpr Time notice_max = ms(3000);
/// Beside a heartbeat and the delay of a link, shorter than the life time-out.
constexpr Time hitch_max = ms(60);

ModeScenario draw(std::uint64_t seed, Random& random) {
    ModeScenario scenario;
    scenario.seed = seed;
    ModeSettings& settings = scenario.settings;
    const bool butterfly = random.chance(0.5);
    settings.exchange.all_reduce = butterfly ? AllReduce::butterfly : AllReduce::ring;
    const std::size_t peers = random.between(1, butterfly ? 9 : 5);
    for (std::size_t peer = 0; peer < peers; ++peer)
        settings.peer_names.push_back("p" + std::to_string(peer));
    scenario.peers.resize(peers);
    std::size_t end = 0;
    for (std::size_t layer = random.between(1, 5); layer > 0; --layer) {
        const std::size_t count = random.between(1, 120);
        settings.layers.push_back({end, count});
        end += count;
    }
    // Some go straight, the others round.
    settings.straight_bytes_max = random.chance(0.5) ? 0 : sizeof(float) * random.below(150);
    settings.training.batch.local = batch;
    settings.training.learning_rate = 0.05;
    settings.training.momentum = random.chance(0.5) ? 0.9 : 0;
    settings.training.weight_decay = 1e-3;
    if (random.chance(0.5)) settings.training.schedule.kind = RateScheduleKind::cosine;
    settings.sample_budget = batch * peers * random.between(3, 40);
    for (ModePlan& plan : scenario.peers) plan.round_time = random.time(ms(2), ms(40));
    scenario.quality.bytes_per_second = random.real(2e4, 2e6);
    scenario.quality.delay = random.time(ms(0), ms(20));
    if (random.chance(0.5)) scenario.slow_link = static_cast<PeerIndex>(random.below(peers));
    scenario.payload_max = 64 * random.between(1, 8);
    settings.training.nesterov = random.chance(0.5);
    Time free = ms(20);  // two of them together could be longer than a life time-out
    for (std::uint64_t hitch = random.below(6); hitch > 0; --hitch) {
        Hitch& drawn = scenario.hitches.emplace_back();
        drawn.at = free + random.time(ms(0), ms(150));
        free = drawn.at + 2 * hitch_max;
        drawn.lasts = random.time(ms(1), hitch_max);
        drawn.peer = static_cast<PeerIndex>(random.below(peers));
        const auto towards = static_cast<PeerIndex>(random.below(peers));
        if (towards != drawn.peer) drawn.towards = towards;
    }
    return scenario;
}

ModeOutcome run(const ModeScenario& scenario, const Task& task) {
    return ModeRun(scenario, task.initial(),
                   [&task](PeerIndex peer, Round round, auto at, auto out) {
                       task.gradient(peer, round, at, out);
                   })
        .run();
}

void require(bool holds, const std::string& what) {
    if (!holds) throw Violation(what);
}

/// The same but for rounding.
void require_near(std::span<const float> parameters, std::span<const float> expected,
                  const std::string& what) {
    const double off = relative_distance(parameters, expected);
    require(off <= rounding_max, what + " off one process by " + std::to_string(off));
}

/// All peers ended well and alike; gives the parameters of the first worker.
const std::vector<float>& finished_alike(const ModeScenario& scenario, const ModeOutcome& ran) {
    const std::vector<float>& first = ran.ends[scenario.settings.workers().front()].parameters;
    for (PeerIndex peer = 0; peer < ran.ends.size(); ++peer) {
        const ModeEnd& end = ran.ends[peer];
        require(end.state == SimPeer::State::ended && end.report.agreed && end.report.identical,
                "peer " + std::to_string(peer) + " did not finish with the others: " + end.why +
                    end.report.why_not);
        require(end.parameters.empty() || end.parameters == first, "replicas differ");
    }
    return first;
}

/// What this peer sends in one sync. Peers of a butterfly may be of three kinds.
double sync_bytes(const ModeCosts& costs, std::size_t peer, std::size_t peer_count) {
    const std::size_t own = ButterflySteps::own_of(peer_count);
    const std::size_t kind = peer >= own ? 2 : peer + own < peer_count ? 0 : 1;
    return costs.sent.at(costs.sent.size() == 3 ? kind : 0).bytes;
}

/// Every peer sends what its mode says that a sync costs, and once `vectors_extra` of the vector.
void check_bytes(const ModeScenario& scenario, const ModeOutcome& ran, Round rounds,
                 double vectors_extra) {
    const auto n = static_cast<double>(ran.ends.size());
    const auto syncs = static_cast<double>(rounds);
    const ModeCosts costs = mode_costs(scenario.settings, scenario.element_count());
    const double extra =
        vectors_extra * static_cast<double>(payload_bytes_of(scenario.element_count()));
    // A bucket falls into n parts, each less than an element off its share. So less than n elements
    // too many or too few are sent for each bucket of a sync, and for each bucket of what is extra.
    const auto buckets = static_cast<double>(scenario.buckets().count());
    const double slack = n * sizeof(float) * buckets * (syncs + (vectors_extra > 0 ? 1 : 0));
    for (PeerIndex peer = 0; peer < ran.ends.size(); ++peer) {
        const auto sent = static_cast<double>(ran.sent[peer]);
        const double expected = sync_bytes(costs, peer, ran.ends.size()) * syncs + extra;
        require(
            std::abs(sent - expected) <= slack,
            "a peer sent " + std::to_string(sent) + " bytes, expected " + std::to_string(expected));
    }
}

/// The same where the newest step is under way: as one process whose gradients are a round old.
void check_ahead(ModeScenario scenario, const Task& task) {
    scenario.settings.exchange.rounds_ahead = 1;
    const ModeOutcome ran = run(scenario, task);
    const Round rounds = ran.ends[0].report.rounds;
    require_near(finished_alike(scenario, ran), one_process(scenario, task, rounds),
                 "rounds ahead are");
    check_bytes(scenario, ran, rounds, 0);
}

void check_ring(ModeScenario scenario, const Task& task) {
    scenario.settings.exchange.mode = Mode::ring;
    const ModeOutcome ran = run(scenario, task);
    const Round rounds = ran.ends[0].report.rounds;
    const std::vector<float>& parameters = finished_alike(scenario, ran);
    require_near(parameters, one_process(scenario, task, rounds), "an all-reduce is");
    check_bytes(scenario, ran, rounds, 0);
    check_ahead(scenario, task);
    scenario.settings.exchange.mode = Mode::local_sgd;
    scenario.settings.exchange.local_sgd = {1, 1, 0};
    if (scenario.settings.training.momentum == 0) {
        const ModeOutcome local = run(scenario, task);
        const double apart = relative_distance(finished_alike(scenario, local), parameters);
        require(apart <= rounding_max,
                "averaging every round is off mean gradients by " + std::to_string(apart));
    }
}

/// The scenario with model averaging: all peers have the same number of learners, or, with `auto`,
/// each has one of its own, which the others hear of.
ModeScenario with_learners(ModeScenario scenario, Random& random) {
    const auto draw = [&random] {
        return static_cast<unsigned>(random.between(1, learners_of_peer_max));
    };
    scenario.settings.exchange.mode = Mode::sma;
    TrainingSettings& training = scenario.settings.training;
    const bool adapts = random.chance(0.5);
    training.learners = adapts ? 0 : draw();
    training.averaging_momentum = random.chance(0.3) ? 0 : 0.7;
    if (random.chance(0.5)) training.schedule = {RateScheduleKind::steps, 0, {0.4, 0.7}, 0.5};
    for (std::size_t left = adapts ? scenario.peers.size() : 0; left > 0; --left)
        scenario.own_learners.push_back(draw());
    return scenario;
}

void check_averaging(const ModeScenario& drawn, const Task& task, Random& random) {
    ModeScenario scenario = with_learners(drawn, random);
    const ModeOutcome ran = run(scenario, task);
    const Round rounds = ran.ends[0].report.rounds;
    const std::vector<float>& parameters = finished_alike(scenario, ran);
    require_near(parameters, averaged_in_turn(scenario, task, rounds), "model averaging is");
    check_bytes(scenario, ran, rounds, 0);
    Round expected = 1;
    while (averaging_progress(scenario, expected) < 1) ++expected;
    const auto learners = scenario.learners_before(static_cast<PeerIndex>(scenario.peers.size()));
    require(rounds == expected, "model averaging took " + std::to_string(rounds) + " rounds, not " +
                                    std::to_string(expected));
    require(ran.ends[0].report.samples_total == rounds * learners * batch,
            "what the learners of all peers trained on is not counted");
    if (rounds < 2) return;
    scenario.keeps_after = random.between(1, rounds - 1);
    scenario.goes_on_from = run(scenario, task).checkpoints;
    require(finished_alike(scenario, run(scenario, task)) == parameters,
            "averaging that goes on from a checkpoint comes to other parameters");
}

/// Peers whose learners come and go, each by its own clock: they stop after the same round, alike,
/// and in all they have trained on the budget, but for what the last two rounds had not foreseen.
void check_adapting(ModeScenario scenario, const Task& task, Random& random) {
    scenario.settings.exchange.mode = Mode::sma;
    scenario.settings.training.learners = 0;
    scenario.adapts_to = static_cast<unsigned>(random.between(2, learners_of_peer_max));
    const std::size_t most = scenario.peers.size() * scenario.adapts_to * batch;  // of a round
    scenario.settings.sample_budget = 150 * most;
    const ModeOutcome ran = run(scenario, task);
    finished_alike(scenario, ran);
    for (const ModeEnd& end : ran.ends) {
        require(end.report.rounds == ran.ends[0].report.rounds,
                "peers whose learners come and go stopped after different rounds");
        const std::uint64_t made = end.report.samples_total;
        require(made + 2 * most >= scenario.settings.sample_budget &&
                    made <= scenario.settings.sample_budget + 2 * most,
                "learners that come and go trained on " + std::to_string(made) + " samples");
    }
}

void check_local_sgd(ModeScenario scenario, const Task& task, Random& random) {
    scenario.settings.exchange.mode = Mode::local_sgd;
    scenario.settings.exchange.local_sgd = {static_cast<unsigned>(random.between(1, 12)), 0.7, 0.9};
    const ModeOutcome ran = run(scenario, task);
    const Round rounds = ran.ends[0].report.rounds;
    require_near(finished_alike(scenario, ran), local_rounds_in_turn(scenario, task, rounds),
                 "local SGD is");
}

/// Somebody asks for a stop: all stop, in lockstep after the same round.
void check_stop(ModeScenario scenario, const Task& task, Random& random) {
    const auto peers = static_cast<unsigned>(scenario.peers.size());
    ExchangeSettings& exchange = scenario.settings.exchange;
    const Round stops_at = random.between(1, 20);
    const std::uint64_t rounds = 4000;  // nobody is done by then
    scenario.settings.sample_budget = batch * peers * rounds;
    scenario.peers[random.below(peers)].stops_at = stops_at;
    exchange.mode =
        std::array{Mode::ring, Mode::local_sgd, Mode::sma, Mode::parameter_server}[random.below(4)];
    scenario.settings.training.learners = exchange.mode == Mode::sma ? 2 : 1;
    exchange.rounds_ahead = random.chance(0.5) ? 1 : 0;
    exchange.local_sgd.rounds = static_cast<unsigned>(random.between(1, 4));
    exchange.server = {static_cast<unsigned>(random.between(1, peers)), Placement::co_located, {}};
    if (random.chance(0.7)) exchange.server.clock_gap_max = static_cast<unsigned>(random.below(3));
    const bool free =
        exchange.mode == Mode::parameter_server && exchange.server.clock_gap_max != 0U;
    const ModeOutcome ran = run(scenario, task);
    finished_alike(scenario, ran);
    for (const ModeEnd& end : ran.ends) {
        require(end.report.rounds < rounds, "a stop was not heard");
        require(free || end.report.rounds == ran.ends[0].report.rounds,
                "peers in lockstep stopped after different rounds");
    }
}

void check_servers(ModeScenario scenario, const Task& task, Random& random) {
    const auto peers = static_cast<unsigned>(scenario.peers.size());
    ExchangeSettings& exchange = scenario.settings.exchange;
    exchange.mode = Mode::parameter_server;
    exchange.server = {static_cast<unsigned>(random.between(1, peers)), Placement::co_located, 0};
    const ModeOutcome ran = run(scenario, task);
    const std::vector<float> parameters = finished_alike(scenario, ran);
    const Round rounds = ran.ends[0].report.rounds;
    require_near(parameters, one_process(scenario, task, rounds), "BSP is");
    require(ran.widest_gap == 0,
            "BSP: a worker was " + std::to_string(ran.widest_gap) + " rounds ahead");
    if (exchange.server.count == peers) {
        // At the end every server sends the final parameters of its part to the other workers.
        const auto n = static_cast<double>(peers);
        check_bytes(scenario, ran, rounds, (n - 1) / n);
    }

    // The same with servers elsewhere, on peers of their own.
    ModeScenario dedicated = scenario;
    const std::size_t servers = random.between(1, 2);
    dedicated.settings.roles.assign(peers, Role::worker);
    for (std::size_t server = 0; server < servers; ++server) {
        dedicated.settings.peer_names.emplace_back("server");
        dedicated.settings.roles.push_back(Role::server);
        dedicated.peers.emplace_back();
    }
    dedicated.settings.exchange.server = {static_cast<unsigned>(servers), Placement::dedicated, 0};
    const ModeOutcome other = run(dedicated, task);
    require(finished_alike(dedicated, other) == parameters, "BSP depends on where servers are");
    if (servers == 1) {
        // Every round's push and pull, and the parameters at the end.
        const std::uint64_t vector = scenario.element_count() * sizeof(float);
        require(other.received[peers] == peers * vector * rounds &&
                    other.sent[peers] == peers * vector * (rounds + 1),
                "one server: " + std::to_string(other.received[peers]) + " bytes in, " +
                    std::to_string(other.sent[peers]) + " out");
    }
}

void check_ssp(ModeScenario scenario, const Task& task, Random& random) {
    const auto peers = static_cast<unsigned>(scenario.peers.size());
    ServerSettings& server = scenario.settings.exchange.server;
    scenario.settings.exchange.mode = Mode::parameter_server;
    server = {static_cast<unsigned>(random.between(1, peers)), Placement::co_located,
              static_cast<unsigned>(random.between(1, 4))};
    const ModeOutcome ran = run(scenario, task);
    finished_alike(scenario, ran);
    require(ran.widest_gap <= *server.clock_gap_max,
            "SSP " + std::to_string(*server.clock_gap_max) + ": a worker was " +
                std::to_string(ran.widest_gap) + " rounds ahead");
    server.clock_gap_max = std::nullopt;
    finished_alike(scenario, run(scenario, task));
}

/// The power goes after any round, and all begin again where they were.
void check_resume(ModeScenario scenario, const Task& task, Random& random) {
    const auto peers = static_cast<unsigned>(scenario.peers.size());
    ExchangeSettings& exchange = scenario.settings.exchange;
    exchange.server = {static_cast<unsigned>(random.between(1, peers)), Placement::co_located, 0};
    exchange.local_sgd = {static_cast<unsigned>(random.between(1, 5)), 0.7, 0.9};
    const Round rounds = scenario.settings.sample_budget / (batch * peers);
    for (const Mode mode : {Mode::ring, Mode::local_sgd, Mode::sma, Mode::parameter_server}) {
        exchange.mode = mode;
        scenario.goes_on_from.clear();
        scenario.keeps_after = random.between(1, rounds - 1);
        const ModeOutcome whole = run(scenario, task);
        const std::vector<float> parameters = finished_alike(scenario, whole);
        scenario.goes_on_from = whole.checkpoints;
        scenario.keeps_after = random.between(*scenario.keeps_after, rounds - 1);
        const ModeOutcome second = run(scenario, task);
        require(finished_alike(scenario, second) == parameters,
                "what goes on from a checkpoint comes to other parameters");
        scenario.goes_on_from = second.checkpoints;
        const ModeOutcome third = run(scenario, task);
        require(finished_alike(scenario, third) == parameters,
                "what goes on for the second time comes to other parameters");
        require(third.ends[0].report.rounds == rounds &&
                    third.ends[0].report.samples_total == whole.ends[0].report.samples_total,
                "rounds or samples from before the checkpoint are not counted");
    }
}

/// The same for a ring whose newest step was under way: who saves takes that before the next round.
void check_resume_ahead(ModeScenario scenario, const Task& task, Random& random) {
    scenario.settings.exchange.mode = Mode::ring;
    scenario.settings.exchange.rounds_ahead = 1;
    const Round rounds = scenario.settings.sample_budget / (batch * scenario.peers.size());
    scenario.keeps_after = random.between(1, rounds - 1);
    const ModeOutcome whole = run(scenario, task);
    scenario.goes_on_from = whole.checkpoints;
    scenario.keeps_after = std::nullopt;
    require(finished_alike(scenario, run(scenario, task)) == finished_alike(scenario, whole),
            "what goes on from a checkpoint and runs ahead comes to other parameters");
}

/// Whoever survives this death notices it soon, and takes nobody else for dead.
void require_broken(const ModeScenario& scenario, const Task& task, PeerIndex victim) {
    const ModeOutcome ran = run(scenario, task);
    for (PeerIndex peer = 0; peer < ran.ends.size(); ++peer) {
        const ModeEnd& end = ran.ends[peer];
        if (peer == victim) continue;
        require(end.state == SimPeer::State::broken &&
                    end.at <= *scenario.peers[victim].killed_at + notice_max,
                "peer " + std::to_string(peer) + " did not notice a death: " + end.why);
        const std::string named = "peer " + scenario.settings.peer_names[victim] + " is gone";
        require(end.why.find(named) != std::string::npos,
                "peer " + std::to_string(peer) + " does not name who died, " +
                    scenario.settings.peer_names[victim] + ": " + end.why);
    }
}

void check_death(ModeScenario scenario, const Task& task, Random& random) {
    const auto peers = static_cast<unsigned>(scenario.peers.size());
    if (peers < 2) return;
    ExchangeSettings& exchange = scenario.settings.exchange;
    scenario.settings.sample_budget = batch * peers * 4000;  // nobody is done by then
    const auto kill = [&scenario, &random](PeerIndex victim) {
        for (ModePlan& plan : scenario.peers) plan.killed_at = std::nullopt;
        scenario.peers[victim].killed_at = random.time(ms(200), ms(900));
        scenario.peers[victim].killed_silently = random.chance(0.5);
    };
    const auto anybody = static_cast<PeerIndex>(random.below(peers));
    kill(anybody);
    exchange.mode = std::array{Mode::ring, Mode::local_sgd, Mode::sma}[random.below(3)];
    exchange.rounds_ahead = random.chance(0.5) ? 1 : 0;
    exchange.local_sgd.rounds = 3;
    require_broken(scenario, task, anybody);

    // One server on the first peer.
    exchange.mode = Mode::parameter_server;
    exchange.server = {1, Placement::co_located,
                       random.chance(0.5) ? std::optional<unsigned>(0U) : std::nullopt};
    kill(0);
    require_broken(scenario, task, 0);
    const auto worker = static_cast<PeerIndex>(random.between(1, peers - 1));
    kill(worker);
    scenario.settings.sample_budget = batch * peers * 60;
    const ModeOutcome ran = run(scenario, task);
    for (PeerIndex peer = 0; peer < peers; ++peer) {
        const ModeEnd& end = ran.ends[peer];
        if (peer == worker && end.state == SimPeer::State::dead) continue;
        require(end.state == SimPeer::State::ended && end.report.identical,
                "a worker's death was not survived: " + end.why + end.report.why_not);
        require(end.parameters == ran.ends[0].parameters, "survivors differ");
    }
}

}  // namespace

int run_modes(std::uint64_t first, std::uint64_t count, bool verbose) {
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        Random random(seed * 31);
        const ModeScenario scenario = draw(seed, random);
        const Task task(seed, scenario.element_count(),
                        scenario.peers.size() * learners_of_peer_max + 2);
        try {
            check_ring(scenario, task);
            check_local_sgd(scenario, task, random);
            check_averaging(scenario, task, random);
            check_adapting(scenario, task, random);
            check_servers(scenario, task, random);
            check_ssp(scenario, task, random);
            check_resume(scenario, task, random);
            check_resume_ahead(scenario, task, random);
            check_stop(scenario, task, random);
            check_death(scenario, task, random);
        } catch (const Violation& violation) {
            std::printf(
                "violated: %s\n%zu peers, %s, %zu elements; replay: simulate --modes --first "
                "%llu --count 1\n",
                violation.what(), scenario.peers.size(),
                scenario.settings.exchange.all_reduce == AllReduce::ring ? "ring" : "butterfly",
                scenario.element_count(), static_cast<unsigned long long>(seed));
            return 1;
        }
        if (verbose) std::printf("seed %llu holds\n", static_cast<unsigned long long>(seed));
    }
    std::printf("%llu scenarios of every other mode held\n",
                static_cast<unsigned long long>(count));
    return 0;
}

}  // namespace ako::sim
