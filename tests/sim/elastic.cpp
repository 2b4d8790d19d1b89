// The elastic ring in virtual time. First what is known to have gone wrong elsewhere, one by one;
// then seeds, each a cluster with up to fifty faults. elastic --count N, --first N, --logs;
// --tries N: of each of what is known at most so many seeds. --case NAME: one of these alone.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/sim/elastic_cases.h"
#include "tests/sim/elastic_run.h"
#include "tests/sim/sim_times.h"
#include "tests/sim/violation.h"

namespace ako::sim {
namespace {

using Kind = ElasticFault::Kind;

ElasticScenario draw(std::uint64_t seed) {
    Random random(seed * 17);
    ElasticScenario scenario = small_ring(random.between(2, 5), 700, seed);
    scenario.layers.clear();
    std::size_t end = 0;
    for (std::size_t layer = random.between(1, 4); layer > 0; --layer) {
        const std::size_t count = random.between(1, 150);
        scenario.layers.push_back({end, count});
        end += count;
    }
    scenario.straight_bytes_max = random.chance(0.5) ? 0 : sizeof(float) * random.below(150);
    scenario.payload_max = 64 * random.between(1, 8);
    scenario.momentum = random.chance(0.3) ? 0.9 : 0;
    scenario.quality.bytes_per_second = random.real(5e4, 2e6);
    scenario.quality.delay = random.time(ms(0), ms(10));
    for (Time& time : scenario.round_time) time = random.time(ms(4), ms(20));
    const std::uint64_t faults = random.between(1, 50);
    const bool crashes_only = random.chance(0.5);
    scenario.finishes = crashes_only;
    Time at = ms(100);
    for (std::uint64_t k = 0; k < faults; ++k) {
        at += random.time(ms(0), ms(400));
        ElasticFault fault{Kind::kill, at, static_cast<PeerIndex>(random.below(scenario.peers)),
                           static_cast<PeerIndex>(random.below(scenario.peers)),
                           random.time(ms(10), ms(1500))};
        const std::uint64_t kind = random.below(crashes_only ? 5 : 10);
        if (kind == 4) fault.kind = Kind::leave;
        if (kind == 5) fault.kind = Kind::kill_silently;
        if (kind == 6) fault.kind = Kind::pause;
        if (kind == 7) fault.kind = Kind::cut;
        if (kind == 8) fault.kind = Kind::isolate;
        if (kind == 9) fault.kind = Kind::kill;
        scenario.faults.push_back(fault);
        if (kind > 5 && kind < 9) continue;
        fault.kind = Kind::start;
        fault.at += random.time(ms(200), ms(1500));
        scenario.faults.push_back(fault);
    }
    if (random.chance(0.3))
        scenario.faults.push_back({Kind::reach_target, random.time(ms(100), at), 0});
    scenario.shared_batch = random.chance(0.3);
    scenario.evaluates = random.chance(0.5);
    return scenario;
}

}  // namespace
}  // namespace ako::sim

int main(int argc, char** argv) {
    using namespace ako::sim;
    std::uint64_t first = 1, count = 100;
    std::uint64_t tries_max = 1000;
    const char* only = nullptr;
    bool logs = false, only_seeds = false;
    for (int k = 1; k < argc; ++k) {
        const bool value = k + 1 < argc;
        if (std::strcmp(argv[k], "--first") == 0 && value)
            first = std::strtoull(argv[++k], nullptr, 10);
        else if (std::strcmp(argv[k], "--count") == 0 && value)
            count = std::strtoull(argv[++k], nullptr, 10);
        else if (std::strcmp(argv[k], "--tries") == 0 && value)
            tries_max = std::strtoull(argv[++k], nullptr, 10);
        else if (std::strcmp(argv[k], "--case") == 0 && value)
            only = argv[++k], count = 0;
        else if (std::strcmp(argv[k], "--logs") == 0)
            logs = only_seeds = true;
        else
            return std::printf(
                       "elastic [--first N] [--count N] [--tries N] [--case NAME] [--logs]\n"),
                   2;
    }
    for (const ElasticCase& it : elastic_cases()) {
        if (only_seeds) break;
        if (only != nullptr && std::strcmp(only, it.name) != 0) continue;
        try {
            it.run(tries_max);
            std::printf("%s: holds\n", it.name);
        } catch (const Violation& violation) {
            std::printf("violated: %s: %s\n", it.name, violation.what());
            return 1;
        }
    }
    std::uint64_t finished = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        ElasticScenario scenario = draw(seed);
        scenario.shows_logs = logs;
        try {
            finished += ElasticRun(scenario).run().finished ? 1 : 0;
        } catch (const Violation& violation) {
            std::printf("violated: %s; replay: elastic --first %llu --count 1 --logs\n",
                        violation.what(), static_cast<unsigned long long>(seed));
            return 1;
        }
    }
    std::printf("%llu scenarios of an elastic ring held, %llu came to an end\n",
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(finished));
    return 0;
}
