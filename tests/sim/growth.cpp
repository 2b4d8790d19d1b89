// See growth.h. Each seed draws peers, layers and a moment, and for each mode makes runs of a
// quadratic: one without a fault, in a long warm-up, and one with each kind of fault at one peer.
// In the mode ako, where rows come in bursts, growth that is just not refused yet may drive another
// peer's gradient beyond all that this one gave before, which is then refused first: that is
// counted as not found, and is no violation.
#include "tests/sim/growth.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>

#include "tests/sim/mode_run.h"
#include "tests/sim/reference.h"
#include "tests/sim/violation.h"

namespace ako::sim {
namespace {

constexpr std::size_t batch = 4;
constexpr std::uint64_t rounds = 60;
constexpr Round rounds_before_max = 25;

struct GrowthMode {
    const char* word;
    Mode mode;
    AllReduce all_reduce = AllReduce::ring;
    unsigned learners = 1;
    bool goes_on = false;  ///< without a peer that has ended
    bool elastic = false;
};

constexpr std::array<GrowthMode, 7> modes = {
    {{"ako", Mode::ako, {}, 1, true},
     {"elastic ring", Mode::ring, AllReduce::ring, 1, true, true},
     {"ring", Mode::ring},
     {"butterfly", Mode::ring, AllReduce::butterfly},
     {"local-sgd", Mode::local_sgd},
     {"sma", Mode::sma, AllReduce::ring, 2},
     {"parameter-server", Mode::parameter_server, {}, 1, true}}};

/// What becomes of a gradient of the peer from a round on; `since`: rounds since then, from 0.
struct GrowthFault {
    const char* word;
    void (*spoil)(std::span<float> gradient, Round since);
    bool slow = false;
};

constexpr std::array<GrowthFault, 5> faults = {
    {{"one element of 1e7", [](std::span<float> gradient, Round) { gradient[0] = 1e7F; }},
     {"all elements 1e5 times",
      [](std::span<float> gradient, Round) {
          for (float& element : gradient) element *= 1e5F;
      }},
     {"a bit of an exponent",
      [](std::span<float> gradient, Round) {
          const auto bits = std::bit_cast<std::uint32_t>(0.01F + std::abs(gradient.back()));
          gradient.back() = std::bit_cast<float>(bits | 0x4000'0000U);
      }},
     {"2 times more each round",
      [](std::span<float> gradient, Round since) {
          const auto times = static_cast<float>(std::pow(2.0, static_cast<double>(since)));
          for (float& element : gradient) element *= times;
      },
      true},
     {"not a number", [](std::span<float> gradient, Round) { gradient[0] = std::nanf(""); }}}};

ModeScenario draw(std::uint64_t seed, const GrowthMode& mode, Random& random) {
    ModeScenario scenario;
    scenario.seed = seed;
    ModeSettings& settings = scenario.settings;
    const std::size_t peers = random.between(3, 6);
    for (std::size_t peer = 0; peer < peers; ++peer)
        settings.peer_names.push_back("p" + std::to_string(peer));
    scenario.peers.resize(peers);
    for (ModePlan& plan : scenario.peers) plan.round_time = random.time(ms(5), ms(20));
    std::size_t end = 0;
    for (std::size_t layer = random.between(1, 5); layer > 0; --layer) {
        const std::size_t count = random.between(1, 120);
        settings.layers.push_back({end, count});
        end += count;
    }
    settings.block_elements = 16;
    settings.exchange.mode = mode.mode;
    settings.exchange.all_reduce = mode.all_reduce;
    settings.exchange.elastic = mode.elastic;
    settings.exchange.local_sgd.rounds = static_cast<unsigned>(random.between(1, 8));
    settings.exchange.server = {1, Placement::co_located, 0};
    settings.training.learners = mode.learners;
    settings.training.batch.local = batch;
    settings.training.learning_rate = 0.05;
    settings.training.momentum = 0.9;
    settings.training.schedule.warm_up = random.chance(0.5) ? 0.5 : 0;
    settings.sample_budget = batch * mode.learners * peers * rounds;
    scenario.quality.bytes_per_second = random.real(2e5, 2e6);
    scenario.quality.delay = random.time(ms(0), ms(10));
    return scenario;
}

struct Trial {
    bool refused = false;  ///< the peer was, and nobody else
    std::string wrong;     ///< what should not be; empty: nothing
};

/// The peer `victim` has this fault from its round `from` on; null: nobody has any.
Trial run(ModeScenario scenario, const GrowthMode& mode, const GrowthFault* fault, PeerIndex victim,
          Round from) {
    const Task task(scenario.seed, scenario.element_count(),
                    scenario.peers.size() * mode.learners + 1);
    scenario.peers[victim].may_be_refused = fault != nullptr;
    const auto gradient = [&](PeerIndex number, Round round, auto at, auto out) {
        task.gradient(number, round, at, out);
        if (fault != nullptr && number / mode.learners == victim && round >= from)
            fault->spoil(out, round - from);
    };
    Trial trial;
    try {
        const ModeOutcome ran = ModeRun(scenario, task.initial(), gradient).run();
        trial.refused = ran.ends[victim].state == SimPeer::State::dead;
        for (PeerIndex peer = 0; peer < ran.ends.size(); ++peer) {
            const ModeEnd& end = ran.ends[peer];
            if (peer == victim && trial.refused) continue;
            // The only server may be the one.
            const bool on = !trial.refused ||
                            (mode.goes_on && !(mode.mode == Mode::parameter_server && victim == 0));
            const auto expected = on ? SimPeer::State::ended : SimPeer::State::broken;
            if (end.state != expected)
                trial.wrong = "peer " + std::to_string(peer) + " ended otherwise: " + end.why;
            for (const float value : end.parameters)
                if (!(std::abs(value) < 1e4F)) trial.wrong = "a parameter exploded";
        }
    } catch (const Violation& violation) {
        trial.wrong = violation.what();
    }
    return trial;
}

}  // namespace

int run_growth(std::uint64_t first, std::uint64_t count) {
    bool all_well = true;
    std::printf("%-26s", "of each that many");
    for (const GrowthMode& mode : modes) std::printf(" %16s", mode.word);
    for (std::size_t kind = 0; kind <= faults.size(); ++kind) {
        const GrowthFault* const fault = kind == 0 ? nullptr : &faults[kind - 1];
        std::printf("\n%-26s", fault == nullptr ? "ordinary, refused" : fault->word);
        for (const GrowthMode& mode : modes) {
            std::uint64_t refused = 0;
            for (std::uint64_t seed = first; seed < first + count; ++seed) {
                Random random(seed * 37);
                const ModeScenario scenario = draw(seed, mode, random);
                const auto victim = static_cast<PeerIndex>(random.below(scenario.peers.size()));
                const Trial trial =
                    run(scenario, mode, fault, victim, random.between(2, rounds_before_max));
                refused += trial.refused ? 1 : 0;
                if (trial.wrong.empty() && trial.refused == (fault != nullptr)) continue;
                const bool slow = fault != nullptr && fault->slow && mode.mode == Mode::ako;
                all_well = all_well && slow && trial.wrong.find("was refused") != std::string::npos;
                std::fprintf(stderr, "%s, %s, seed %llu: %s\n", mode.word,
                             fault == nullptr ? "ordinary" : fault->word,
                             static_cast<unsigned long long>(seed),
                             trial.wrong.empty() ? "not refused" : trial.wrong.c_str());
            }
            std::printf(" %9llu of %3llu", static_cast<unsigned long long>(refused),
                        static_cast<unsigned long long>(count));
            std::fflush(stdout);
        }
    }
    std::printf("\n");
    if (!all_well) std::printf("violated: not all was as it should be\n");
    return all_well ? 0 : 1;
}

}  // namespace ako::sim
