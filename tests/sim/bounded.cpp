// See bounded.h.
#include "tests/sim/bounded.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "tests/sim/ako_run.h"

namespace ako::sim {
namespace {

/// What is slow: peer 0, or its link to peer 1, so that some wait for others all the time; or all
/// rounds.
enum class Unevenness { none, slow_peer, slow_link, slow_rounds };

struct Case {
    std::size_t peer_count = 2;
    unsigned partitions = 0;  ///< fixed P; 0 = auto
    unsigned staleness_rounds_max = 1;
    Unevenness unevenness = Unevenness::none;
    double rounds = 60;

    std::string text() const {
        return "n " + std::to_string(peer_count) + ", P " +
               (partitions ? std::to_string(partitions) : "auto") + ", staleness at most " +
               std::to_string(staleness_rounds_max) +
               (unevenness == Unevenness::slow_peer     ? ", one peer slow"
                : unevenness == Unevenness::slow_link   ? ", one link slow"
                : unevenness == Unevenness::slow_rounds ? ", slow rounds"
                                                        : "");
    }
};

Scenario scenario_of(const Case& what, std::uint64_t seed) {
    Scenario scenario;
    scenario.seed = seed;
    scenario.staleness_rounds_max = what.staleness_rounds_max;
    scenario.rounds = what.rounds;
    scenario.bytes_per_second = 1e5;  // the vector takes a round or two
    for (std::size_t peer = 0; peer < what.peer_count; ++peer) {
        PeerPlan plan;
        plan.partitions = what.partitions;
        plan.clock_offset = ms(1000) * static_cast<std::int64_t>(peer);
        scenario.peers.push_back(plan);
    }
    if (what.unevenness == Unevenness::slow_rounds) {  // longer than the least patience
        for (PeerPlan& plan : scenario.peers) plan.round_time = ms(400);
        scenario.rounds = std::min(scenario.rounds, 20.0);
    }
    if (what.unevenness == Unevenness::slow_peer) scenario.peers[0].round_time = ms(40);
    if (what.unevenness == Unevenness::slow_link) {
        scenario.faults = parse_schedule("slow 0>1 *0.03");
    }
    return scenario;
}

/// I7: nobody runs out of patience, and the bound holds.
class BoundHolds final : public RoundCheck {
  public:
    explicit BoundHolds(unsigned staleness_rounds_max) : rounds_max_(staleness_rounds_max) {}

    void may_train(const AkoPeers& peers, PeerIndex peer, const Invariants&, Time) override {
        const AkoPeer& p = *peers[peer];
        for (PeerIndex other = 0; other < peers.size(); ++other) {
            if (other == peer) continue;
            // The true rounds count, not what this peer has heard of them.
            const Round held = p.half.rows().ledger().held(row_of(other)).lowest.round;
            const Round made = peers[other]->half.round();
            const Round next = p.half.round() + 1;
            if (next <= held + rounds_max_ && made <= held + 2 * rounds_max_ - 1) continue;
            throw Violation("I7: peer " + std::to_string(peer) + " begins round " +
                            std::to_string(next) + " while it holds round " + std::to_string(held) +
                            " of peer " + std::to_string(other) + ", which has made " +
                            std::to_string(made));
        }
    }
    void said(const std::string& line) override {
        const bool gives_up = line.find("not waited for until it does") != std::string::npos;
        if (gives_up) throw Violation("I7: a wait ended by its time-out");
    }

  private:
    const unsigned rounds_max_;
};

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    for (const std::size_t peer_count : {2u, 3u, 5u}) {
        for (const unsigned partitions : {0u, 1u, 8u, 40u}) {
            for (const unsigned staleness : {1u, 3u, 8u, 50u}) {
                for (const auto unevenness : {Unevenness::none, Unevenness::slow_peer,
                                              Unevenness::slow_link, Unevenness::slow_rounds}) {
                    // Fewer rounds than the bound: all the waiting is that of the final exchange.
                    for (const double rounds : {4.0, 60.0}) {
                        cases.push_back({peer_count, partitions, staleness, unevenness, rounds});
                    }
                }
            }
        }
    }
    return cases;
}

}  // namespace

int run_bounded(bool verbose) {
    std::uint64_t seed = 1;
    std::size_t count = 0;
    for (const Case& what : all_cases()) {
        try {
            BoundHolds bound(what.staleness_rounds_max);
            const Outcome outcome = AkoRun(scenario_of(what, seed++), &bound).run();
            if (outcome.agreed != what.peer_count) throw Violation("not all agreed");
            if (verbose) std::printf("%s: %.2f s\n", what.text().c_str(), outcome.seconds);
            ++count;
        } catch (const Violation& violation) {
            std::printf("%s\nviolated: %s\nreplay: simulate --bounded --verbose\n",
                        what.text().c_str(), violation.what());
            return 1;
        }
    }
    std::printf(
        "%zu scenarios without faults: no round begins without what the bound asks, and no "
        "wait ended by its time-out\n",
        count);
    return 0;
}

}  // namespace ako::sim
