// See chosen.h.
#include "tests/sim/chosen.h"

#include <cstdio>
#include <string>
#include <vector>

#include "tests/sim/ako_run.h"

namespace ako::sim {
namespace {

constexpr std::size_t peer_count = 4;
constexpr double rounds = 300;

struct Case {
    const char* what;
    /// What the last choice says, as people read it; empty: it is not looked at.
    const char* choice;
    std::optional<unsigned> staleness_rounds_max;
    const char* faults = "";
    double slow_factor = 1;  ///< by which a round of peer 0 takes longer
    double delay_ms = 1;
    /// So many times as long as where nobody waits it may take: rounds differ by a few per cent.
    double longer_max = 1.2;
};

constexpr std::optional<unsigned> chosen = std::nullopt;
constexpr const char* all_wait = "all wait for the newest round of the others: ";

const std::vector<Case>& all_cases() {
    static const std::vector<Case> cases = {
        {"waiting costs what rounds differ by", all_wait, chosen},
        {"waiting costs a quarter", "nobody waits for the others: ", chosen, "", 1, 10},
        {"one link is far too slow", "", chosen, "slow 0>1 *0.003"},
        {"one peer is slow", "but not for peer 0, which is slower", chosen, "", 4},
        {"one peer is a little slow", "", chosen, "", 1.1},
        {"one stands still for a while", all_wait, chosen, "hang 2 @4000 for 1500"},
        {"one is slow, and a link of another", "", chosen, "slow 1>2 *0.003", 4},
        {"a short pause", all_wait, chosen, "hang 2 @6000 for 200"},
        {"messages take as long as six rounds", "", chosen, "", 1, 240},
        {"the peer that chooses dies", all_wait, chosen, "kill 0 @3000"},
        {"one dies, and begins anew", all_wait, chosen, "restart 1 @3000 for 500"},
        {"one comes late", all_wait, chosen, "late 3 @4000"},
        // With a bound that is set all wait, but for no more than that.
        {"a bound of 1", "", 1},
        {"a bound of 1, and one stands still", "", 1, "hang 2 @4000 for 1500", 1, 1, 1.35},
        {"a bound of 1, and one begins anew", "", 1, "restart 1 @3000 for 500"},
        {"a bound of 1, and one comes late", "", 1, "late 3 @4000"},
    };
    return cases;
}

Scenario scenario_of(const Case& what) {
    Scenario scenario;
    scenario.seed = 7;
    scenario.rounds = rounds;
    scenario.staleness_rounds_max = what.staleness_rounds_max;
    scenario.delay = from_seconds(what.delay_ms / 1000);
    for (std::size_t peer = 0; peer < peer_count; ++peer) {
        PeerPlan plan;
        plan.round_time = from_seconds((peer == 0 ? what.slow_factor : 1) * 0.04);
        scenario.peers.push_back(plan);
    }
    scenario.faults = parse_schedule(what.faults);
    return scenario;
}

/// The last choice that somebody has made.
class LastChoice final : public RoundCheck {
  public:
    void may_train(const AkoPeers&, PeerIndex, const Invariants&, Time) override {}
    void said(const std::string& line) override {
        if (line.find(" with waiting, ") != std::string::npos) text_ = line;
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

void check(const Case& what, bool verbose) {
    LastChoice last;
    const Outcome outcome = AkoRun(scenario_of(what), &last).run();
    Case free = what;
    free.staleness_rounds_max = 0;
    const double without = AkoRun(scenario_of(free)).run().seconds;
    if (verbose)
        std::printf("%s: %.2f s, %.2f s where nobody waits; %s\n", what.what, outcome.seconds,
                    without, last.text().c_str());
    if (outcome.agreed + outcome.dead < peer_count) throw Violation("not all agreed");
    if (last.text().find(what.choice) == std::string::npos)
        throw Violation("the last choice was: " + last.text());
    if (outcome.seconds > what.longer_max * without)
        throw Violation("it took " + std::to_string(outcome.seconds) + " s, and " +
                        std::to_string(without) + " s where nobody waits");
}

}  // namespace

int run_chosen(bool verbose) {
    for (const Case& what : all_cases()) {
        try {
            check(what, verbose);
        } catch (const Violation& violation) {
            std::printf("%s\nviolated: %s\nreplay: simulate --chosen --verbose\n", what.what,
                        violation.what());
            return 1;
        }
    }
    std::printf("%zu scenarios: the peers wait for whom it pays, and lose no time else\n",
                all_cases().size());
    return 0;
}

}  // namespace ako::sim
