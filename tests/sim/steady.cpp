// See steady.h.
#include "tests/sim/steady.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "tests/sim/ako_run.h"

namespace ako::sim {
namespace {

constexpr Time round_time = ms(10);
constexpr double frame_overhead_bytes = 64;  // what the simulated network adds to a payload

struct Case {
    std::size_t peer_count = 3;
    unsigned partitions = 0;  ///< 0 = auto
    std::size_t block_count = 16;
    std::size_t block_elements = 4;
    double bytes_per_second = 0;
    Time delay = ms(1);
    double expected_partitions = 1;
    double tolerance = 0;  ///< relative
};

Scenario scenario_of(const Case& what, std::uint64_t seed) {
    Scenario scenario;
    scenario.seed = seed;
    scenario.block_elements = what.block_elements;
    scenario.element_count = what.block_count * what.block_elements - 1;  // the last one is shorter
    scenario.payload_blocks = what.partitions == 0 ? 16 : 2;
    // Ten cycles: two until all is warm, the others to look at.
    scenario.rounds = 40 + 10 * what.expected_partitions;
    scenario.bytes_per_second = what.bytes_per_second;
    scenario.delay = what.delay;
    for (std::size_t peer = 0; peer < what.peer_count; ++peer) {
        PeerPlan plan;
        plan.round_time = round_time;
        plan.clock_offset = ms(1000) * static_cast<std::int64_t>(peer);
        plan.partitions = what.partitions;
        scenario.peers.push_back(plan);
    }
    return scenario;
}

/// I4 where P is fixed, and what P is observed on each link: its mean over the second half of the
/// run, by when all is warm.
class Steadiness final : public RoundCheck {
  public:
    explicit Steadiness(const Scenario& scenario)
        : scenario_(scenario), means_(scenario.peers.size() * scenario.peers.size(), 0.0) {}

    void may_train(const AkoPeers& peers, PeerIndex peer, const Invariants& invariants,
                   Time now) override {
        if (someone_stopped_) return;
        const AkoPeer& p = *peers[peer];
        check_age(p, invariants, now);
        const auto first = static_cast<Round>(scenario_.rounds / 2);
        const Round round = p.half.round();
        if (round <= first) return;
        for (PeerIndex to = 0; to < peers.size(); ++to) {
            if (to != peer && !(p.half.link(to, p.clock.now()).age_ms > 0)) {
                throw Violation("the age of what comes from peer " + std::to_string(to) +
                                " is not known to peer " + std::to_string(peer));
            }
            double& mean = means_[peer * peers.size() + to];
            mean += (p.traffic.observed_partitions(to) - mean) / static_cast<double>(round - first);
        }
    }
    void stopped(const AkoPeers&, PeerIndex) override { someone_stopped_ = true; }

    double partitions(std::size_t from, std::size_t to) const {
        return means_[from * scenario_.peers.size() + to];
    }

  private:
    void check_age(const AkoPeer& peer, const Invariants& invariants, Time now) const {
        std::vector<unsigned> partitions;
        for (const PeerPlan& plan : scenario_.peers) partitions.push_back(plan.partitions);
        if (partitions[0] == 0) return;
        // What a round grants is sent within a round; then it is on its way.
        invariants.steady(peer, partitions, scenario_.slowest_round() + scenario_.delay, now);
    }

    const Scenario& scenario_;
    std::vector<double> means_;  ///< [from * n + to]
    bool someone_stopped_ = false;
};

/// Throws Violation.
void run(const Case& what, std::uint64_t seed, bool verbose) {
    const Scenario scenario = scenario_of(what, seed);
    Steadiness steadiness(scenario);
    AkoRun(scenario, &steadiness).run();
    double lowest = 1e9;
    double highest = 0;
    for (std::size_t from = 0; from < what.peer_count; ++from) {
        for (std::size_t to = 0; to < what.peer_count; ++to) {
            if (from == to) continue;
            lowest = std::min(lowest, steadiness.partitions(from, to));
            highest = std::max(highest, steadiness.partitions(from, to));
        }
    }
    const std::string text =
        "n " + std::to_string(what.peer_count) + ", " + std::to_string(what.block_count) +
        " blocks, P " + (what.partitions ? std::to_string(what.partitions) : "auto") +
        ", observed " + std::to_string(lowest) + " to " + std::to_string(highest) + ", expected " +
        std::to_string(what.expected_partitions);
    if (verbose) std::printf("%s\n", text.c_str());
    if (lowest < what.expected_partitions * (1 - what.tolerance) ||
        highest > what.expected_partitions * (1 + what.tolerance)) {
        throw Violation("observed P: " + text);
    }
}

/// Fixed P, on links that take four fifths of a round for what a round grants.
Case fixed(std::size_t peer_count, unsigned partitions, std::size_t block_count, Time delay) {
    Case what{peer_count, partitions, block_count, 4, 0, delay, static_cast<double>(partitions),
              0.02};
    const double granted = std::ceil(static_cast<double>(block_count) / partitions) + 1;
    const double block_bytes = static_cast<double>(what.block_elements * sizeof(float));
    const double bytes = (granted + 2) * (block_bytes + frame_overhead_bytes);  // and Status
    what.bytes_per_second = bytes / (0.8 * std::chrono::duration<double>(round_time).count());
    return what;
}

/// `partitions: auto` on a link that takes `rounds` rounds for the whole vector.
Case automatic(std::size_t peer_count, double rounds) {
    const auto least = static_cast<double>(2 * (peer_count - 1));
    Case what{peer_count, 0, 64, 64, 0, ms(3), std::max(least, rounds), 0.15};
    const double vector_bytes =
        static_cast<double>(what.block_count * what.block_elements * sizeof(float));
    what.bytes_per_second =
        vector_bytes / (rounds * std::chrono::duration<double>(round_time).count());
    return what;
}

}  // namespace

int run_steady(bool verbose) {
    std::vector<Case> cases;
    for (const unsigned partitions : {1u, 2u, 3u, 5u, 8u, 16u, 40u}) {
        for (const std::size_t peer_count : {2u, 3u, 5u}) {
            for (const std::size_t block_count : {7u, 16u, 41u}) {
                const Time delay = ms(static_cast<std::int64_t>(block_count + peer_count) % 25);
                cases.push_back(fixed(peer_count, partitions, block_count, delay));
            }
        }
    }
    for (const std::size_t peer_count : {2u, 4u}) {
        for (const double rounds : {0.4, 0.8, 1.5, 2.0, 3.7, 8.0, 20.0}) {
            cases.push_back(automatic(peer_count, rounds));
        }
    }
    std::uint64_t seed = 1;
    for (const Case& what : cases) {
        try {
            run(what, seed++, verbose);
        } catch (const Violation& violation) {
            std::printf("violated: %s\nreplay: simulate --steady --verbose\n", violation.what());
            return 1;
        }
    }
    std::printf(
        "%zu scenarios without faults: nothing held is older than P rounds and transit, and P is "
        "as expected\n",
        cases.size());
    return 0;
}

}  // namespace ako::sim
