// See apart.h.
#include "tests/sim/apart.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "tests/sim/ako_run.h"

namespace ako::sim {
namespace {

// A side needs some 500 rounds to come where it wants to be, and 15 until it knows that the other
// is not there.
constexpr double learning_rate = 0.005;
constexpr Time cut_at = ms(200);
constexpr Time cut_until = ms(6000);
/// While some rows of a side have come and others not, their sum is none that anybody has trained
/// towards: for 2 (n - 1) rounds, and until sessions stand.
constexpr Time rows_come = ms(250);

struct Case {
    const char* text;
    std::size_t peer_count;
    PeerSet one_side;
};

constexpr Case cases[] = {{"one of two", 2, 0b01},          {"the first of four", 4, 0b0001},
                          {"the last of four", 4, 0b1000},  {"two of four", 4, 0b0101},
                          {"two of eight", 8, 0b0100'0010}, {"five of eight", 8, 0b0001'1111}};

Scenario scenario_of(const Case& what, std::uint64_t seed, bool nesterov) {
    Scenario scenario;
    scenario.seed = seed;
    scenario.nesterov = nesterov;
    scenario.rounds = 1000;
    scenario.learning_rate = learning_rate;
    for (std::size_t peer = 0; peer < what.peer_count; ++peer) {
        PeerPlan plan;
        plan.clock_offset = ms(1000) * static_cast<std::int64_t>(peer);
        scenario.peers.push_back(plan);
    }
    Fault cut;
    cut.kind = FaultKind::cut;
    cut.side = what.one_side;
    cut.at = cut_at;
    cut.lasts = cut_until - cut_at;
    scenario.faults.push_back(cut);
    return scenario;
}

/// The loss of all replicas, before the sides meet and after.
class Losses final : public RoundCheck {
  public:
    void judge_by(const Quadratic& quadratic) { quadratic_ = &quadratic; }
    void may_train(const AkoPeers& peers, PeerIndex peer, const Invariants&, Time now) override {
        const double loss = quadratic_->loss(peers[peer]->exchange.replica());
        if (now < cut_at) begin_ = loss;
        if (now >= cut_until - ms(50) && now < cut_until) before_ = std::max(before_, loss);
        if (now >= cut_until + rows_come) after_ = std::max(after_, loss);
        if (now >= cut_until + ms(3000)) late_ = std::max(late_, loss);
    }

    /// At the moment of the cut, which is where both sides together would go to and beyond.
    double begin() const { return begin_; }
    double before() const { return before_; }
    double after() const { return after_; }
    double late() const { return late_; }

  private:
    const Quadratic* quadratic_ = nullptr;
    double begin_ = 0, before_ = 0, after_ = 0, late_ = 0;
};

/// Throws Violation.
void run(const Case& what, std::uint64_t seed, bool nesterov, bool verbose) {
    const Scenario scenario = scenario_of(what, seed, nesterov);
    Losses losses;
    AkoRun run(scenario, &losses);
    losses.judge_by(run.quadratic());
    const Outcome outcome = run.run();
    const std::string text = std::string(what.text) + (nesterov ? ", Nesterov" : "") + ", seed " +
                             std::to_string(seed) + ": loss " + std::to_string(losses.begin()) +
                             " when parted, " + std::to_string(losses.before()) +
                             " before they meet, then at most " + std::to_string(losses.after()) +
                             ", later " + std::to_string(losses.late());
    if (verbose) std::printf("%s\n", text.c_str());
    if (outcome.coverage.times(Event::gave_way) < what.peer_count) {
        throw Violation("not every row gave way: " + text);
    }
    if (losses.after() > 0.2 * losses.before()) {
        throw Violation("to meet did harm: " + text);
    }
    if (losses.late() > 0.1 * losses.before()) throw Violation("to meet did no good: " + text);
}

}  // namespace

int run_apart(bool verbose) {
    unsigned count = 0;
    for (const Case& what : cases) {
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            for (const bool nesterov : {false, true}) {
                try {
                    run(what, seed, nesterov, verbose);
                    ++count;
                } catch (const Violation& violation) {
                    std::printf("violated: %s\nreplay: simulate --apart --verbose\n",
                                violation.what());
                    return 1;
                }
            }
        }
    }
    std::printf("%u scenarios in which peers train apart: to meet does good and no harm\n", count);
    return 0;
}

}  // namespace ako::sim
