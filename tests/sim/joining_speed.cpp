// See joining_speed.h.
#include "tests/sim/joining_speed.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "tests/sim/ako_run.h"

namespace ako::sim {
namespace {

constexpr Time round_time = ms(10);
constexpr Time dead_for = ms(400);
/// Until the sessions stand, everybody has been asked what it holds, and the last block is taken
/// in.
constexpr Time questions = ms(60);
constexpr double allowed = 1.3;
/// With one link of a fifth of the others' rate: what it was asked for first, it brings last.
constexpr double allowed_with_slow_link = 1.6;

struct Case {
    std::size_t peer_count = 3;
    unsigned partitions = 0;          ///< fixed P; 0 = auto
    double rounds_per_row = 30;       ///< that a link takes for a row
    bool late = false;                ///< for the first time, and not again
    std::optional<double> slow_link;  ///< from peer 1: so much of the rate of the others

    std::string text() const {
        return "n " + std::to_string(peer_count) + ", P " +
               (partitions ? std::to_string(partitions) : "auto") + ", " +
               std::to_string(static_cast<int>(rounds_per_row)) + " rounds for a row" +
               (late ? ", late" : ", begins anew") + (slow_link ? ", one slow link" : "");
    }
};

Time row_time(const Scenario& scenario) {
    const std::size_t blocks = scenario.element_count / scenario.block_elements;
    const std::size_t frames = blocks / scenario.payload_blocks;
    const double bytes = static_cast<double>(scenario.element_count * sizeof(float) +
                                             frames * scenario.header_bytes);
    return from_seconds(bytes / scenario.bytes_per_second);
}

Scenario scenario_of(const Case& what, std::uint64_t seed) {
    Scenario scenario;
    scenario.seed = seed;
    scenario.block_elements = 64;
    scenario.element_count = 64 * scenario.block_elements;
    scenario.payload_blocks = 2;
    scenario.heartbeat_ms = 100;
    scenario.finish_exchange = std::chrono::seconds(4);
    scenario.bytes_per_second = 1;
    scenario.bytes_per_second =
        std::chrono::duration<double>(row_time(scenario)).count() /
        (what.rounds_per_row * std::chrono::duration<double>(round_time).count());
    scenario.rounds = 150 + 8 * what.rounds_per_row;
    for (std::size_t peer = 0; peer < what.peer_count; ++peer) {
        PeerPlan plan;
        plan.round_time = round_time;
        plan.partitions = what.partitions;
        scenario.peers.push_back(plan);
    }
    Fault begin;
    begin.kind = what.late ? FaultKind::late : FaultKind::restart;
    begin.peer = 0;
    begin.at = ms(1000);
    begin.lasts = what.late ? Time{0} : dead_for;
    scenario.faults.push_back(begin);
    if (what.slow_link) {
        Fault slow;
        slow.kind = FaultKind::slow;
        slow.side = peer_bit(1);
        slow.others = peer_bit(0);
        slow.amount = *what.slow_link * scenario.bytes_per_second * 8 / 1e6;
        scenario.faults.push_back(slow);
    }
    return scenario;
}

/// When the process that comes to the others makes its first gradient.
class FirstRound final : public RoundCheck {
  public:
    explicit FirstRound(Time begins_at) : begins_at_(begins_at) {}

    void may_train(const AkoPeers&, PeerIndex peer, const Invariants&, Time now) override {
        if (peer == 0 && now >= begins_at_ && !at_) at_ = now;
    }
    std::optional<Time> at() const { return at_; }

  private:
    const Time begins_at_;
    std::optional<Time> at_;
};

/// Throws Violation.
void run(const Case& what, std::uint64_t seed, bool verbose) {
    const Scenario scenario = scenario_of(what, seed);
    const Fault& begin = scenario.faults.front();
    const Time begins_at = begin.at + begin.lasts;
    FirstRound first(begins_at);
    AkoRun(scenario, &first).run();
    if (!first.at()) throw Violation("it never trained");
    // A late peer was never there, and has no row that could come.
    const double rows = static_cast<double>(what.peer_count) - (what.late ? 1 : 0);
    const double links = static_cast<double>(what.peer_count) - 2 + what.slow_link.value_or(1);
    const double needed = std::chrono::duration<double>(row_time(scenario)).count() * rows / links;
    const double took = std::chrono::duration<double>(*first.at() - begins_at - questions).count();
    const std::string text = what.text() + ": caught up in " + std::to_string(took / needed) +
                             " of the " + std::to_string(needed) + " s that the bytes need";
    if (verbose) std::printf("%s\n", text.c_str());
    const double limit = what.slow_link ? allowed_with_slow_link : allowed;
    if (took > limit * needed) throw Violation(text);
}

}  // namespace

int run_joining(bool verbose) {
    std::vector<Case> cases;
    for (const std::size_t peer_count : {2u, 3u, 5u, 8u}) {
        for (const unsigned partitions : {0u, 8u, 40u}) {
            for (const bool late : {false, true}) {
                cases.push_back({peer_count, partitions, 30, late, std::nullopt});
                cases.push_back({peer_count, partitions, 100, late, std::nullopt});
                if (peer_count > 2) cases.push_back({peer_count, partitions, 60, late, 0.2});
            }
        }
    }
    std::uint64_t seed = 1;
    for (const Case& what : cases) {
        try {
            run(what, seed++, verbose);
        } catch (const Violation& violation) {
            std::printf("violated: catch-up: %s\nreplay: simulate --joining --verbose\n",
                        violation.what());
            return 1;
        }
    }
    std::printf("%zu scenarios: whoever begins while others train has caught up in time\n",
                cases.size());
    return 0;
}

}  // namespace ako::sim
