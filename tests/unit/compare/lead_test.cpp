// Which contender is first, which ones cannot be told from it, and the sentence that says so.
#include "src/compare/lead.h"

#include <doctest/doctest.h>

#include "src/compare/conclusion.h"
#include "src/compare/report_tables.h"
#include "tests/contains.h"
#include "tests/unit/compare/fake_runs.h"

namespace ako::lead_test {

using test::plan_of;
using test::plan_with_alone;
using test::run_all;
using test::straight_run;

namespace {

/// Seconds to 90 % of ring, by seed; ako takes 90 s, 100 s and 110 s, one alone 300 s.
std::vector<Outcome> outcomes_with(const Plan& plan, const std::vector<double>& ring,
                                   double ring_ends_at = 1) {
    std::vector<Cell> made;
    const auto run = [&](const Cell& cell) {
        const std::size_t k = cell.seed - 1;
        const bool is_ring = cell.candidate.mode == "ring";
        const double seconds = cell.candidate.alone() ? 300
                               : is_ring              ? ring.at(k)
                                                      : 90 + 10 * static_cast<double>(k);
        CellResult result = straight_run(100, seconds / 90);
        if (is_ring) result.curve.points.back().accuracy = ring_ends_at;
        return result;
    };
    return outcomes_of(plan, run_all(plan, run, made));
}

Plan plan_with_seeds(const std::string& seeds) {
    return plan_of("target_accuracy: 0.9\nrates_mbit: 50\nmodes: {ako: {}, ring: {}}\nseeds: " +
                   seeds + "\nbaselines: [ring]\n");
}

}  // namespace

TEST_CASE("nothing stands out where ranges overlap, or of one seed") {
    const Plan plan = plan_with_seeds("[1, 2, 3]");
    const Setting setting = settings_of(plan)[0];
    const auto glance = [&](const std::vector<double>& ring) {
        return glance_table(plan, outcomes_with(plan, ring), setting, 0);
    };
    CHECK(test::contains(glance({150, 160, 170}), "<strong>100 s (90.0 to 110)</strong>"));
    CHECK_FALSE(test::contains(glance({109, 160, 170}), "<strong>"));
    CHECK(test::contains(glance({60, 70, 80}), "<strong>70.0 s (60.0 to 80.0)</strong>"));
    const auto target = [&](const std::vector<double>& ring) {
        return target_table(plan, outcomes_with(plan, ring), setting, 0);
    };
    CHECK(test::contains(target({150, 160, 170}), "class=\"win\""));
    CHECK_FALSE(test::contains(target({109, 160, 170}), "class=\"win\""));
    const Plan once = plan_with_seeds("[1]");
    CHECK_FALSE(
        test::contains(glance_table(once, outcomes_with(once, {150}), setting, 0), "<strong>"));
}

TEST_CASE("a seed that never got there is later than all others, and overlaps with them") {
    const Plan plan = plan_with_seeds("[1, 2, 3]");
    std::vector<Outcome> outcomes = outcomes_with(plan, {150, 160, 170});
    CHECK(told_apart(outcomes[0], outcomes[1], 0));
    outcomes[0].seeds[2].curve = {};
    CHECK_FALSE(told_apart(outcomes[0], outcomes[1], 0));
}

TEST_CASE("the conclusion says who is first, also if it is not Ako") {
    const Plan plan = plan_with_seeds("[1, 2, 3]");
    const Setting setting = settings_of(plan)[0];
    const auto sentence = [&](const std::vector<double>& ring, double ends_at = 1) {
        return conclusion(plan, outcomes_with(plan, ring, ends_at), setting);
    };
    CHECK(sentence({150, 160, 170}) ==
          "To 90 % test accuracy with 4 machines, batch 64: at 50 Mbit/s ako is first, in 100 s, "
          "1.6 times as fast as the next (ring); at the end nobody is more accurate than ako.");
    CHECK(sentence({40, 50, 60}) ==
          "To 90 % test accuracy with 4 machines, batch 64: at 50 Mbit/s ring is first, in 50.0 s, "
          "2.0 times as fast as the next (ako); at the end nobody is more accurate than ako.");
    CHECK(sentence({85, 95, 99}) ==
          "To 90 % test accuracy with 4 machines, batch 64: at 50 Mbit/s ring (95.0 s) and ako "
          "(100 s) cannot be told apart, for their ranges overlap; at the end nobody is more "
          "accurate than ako.");
    CHECK(test::contains(sentence({150, 160, 170}, 1.004),
                         "; at the end ako is 0.40 points below the most accurate."));
    const Plan once = plan_with_seeds("[1]");
    CHECK(test::contains(conclusion(once, outcomes_with(once, {150}), setting),
                         "(one seed: how much runs differ is not known)"));
}

TEST_CASE("what was not run with several seeds is not called level") {
    const Plan plan = plan_with_seeds("[1, 2, 3]");
    const Setting setting = settings_of(plan)[0];
    std::vector<Outcome> outcomes = outcomes_with(plan, {150, 160, 170}, 1.004);
    outcomes[1].seeds.resize(1);
    CHECK(difference(outcomes[0], outcomes[1], 0) == Difference::one_seed);
    const Lead lead = lead_at(outcomes, setting, outcomes[0].rate, 0);
    CHECK(lead.level.empty());
    CHECK(lead.open == std::vector<const Outcome*>{&outcomes[1]});
    CHECK_FALSE(lead.clear());
    CHECK(test::contains(conclusion(plan, outcomes, setting),
                         "ako is first, in 100 s, 1.6 times as fast as the next (ring) (one seed "
                         "of ring: how much runs differ is not known)"));
    outcomes = outcomes_with(plan, {150, 160, 170});
    outcomes[0].seeds.resize(1);
    CHECK(test::contains(conclusion(plan, outcomes, setting),
                         "(one seed of ako: how much runs differ is not known)"));
}

TEST_CASE("points lost at the end are said with what the seeds say of them") {
    const Plan plan = plan_with_seeds("[1, 2, 3]");
    const Setting setting = settings_of(plan)[0];
    std::vector<Outcome> outcomes = outcomes_with(plan, {150, 160, 170}, 1.004);
    const std::string lost = "ako is 0.40 points below the most accurate";
    CHECK(test::contains(conclusion(plan, outcomes, setting), lost + "."));
    outcomes[0].final_accuracy->high = 1.004;
    CHECK(test::contains(conclusion(plan, outcomes, setting),
                         lost + ", which their ranges over the seeds do not tell apart."));
    outcomes[1].final_accuracy->count = 1;
    CHECK(test::contains(conclusion(plan, outcomes, setting),
                         lost + " (of one seed: how much runs differ is not known)."));
}

TEST_CASE("a composed time is told apart only by more than it may be off, and marked") {
    const Plan plan = plan_of(
        "target_accuracy: 0.9\nrates_mbit: [20, 50]\nmodes: {ako: {}, ring: {}}\n"
        "seeds: [1, 2, 3]\ncomposition: {epochs: 1}\n");
    const Setting setting = settings_of(plan)[0];
    // At 20 Mbit/s ring is composed, of so many seconds for each seed.
    const auto outcomes_of_ring = [&](double seconds) {
        std::vector<Cell> made;
        const auto run = [&](const Cell& cell) {
            const bool ring = cell.candidate.mode == "ring";
            return straight_run(100, (ring ? seconds : 100) / 90);
        };
        std::vector<Outcome> outcomes = outcomes_of(plan, run_all(plan, run, made));
        std::erase_if(outcomes, [](const Outcome& one) { return *one.rate.of(0) == 50; });
        return outcomes;
    };
    std::vector<Outcome> outcomes = outcomes_of_ring(108);
    REQUIRE(outcomes.size() == 2);
    REQUIRE(outcomes[1].composed);
    CHECK(difference(outcomes[0], outcomes[1], 0) == Difference::composed);
    CHECK_FALSE(told_apart(outcomes[1], outcomes[0], 0));
    CHECK(test::contains(conclusion(plan, outcomes, setting),
                         "at 20 Mbit/s ako (100 s) and ring (108 s *) cannot be told apart, for "
                         "their ranges overlap, or would if a composed time were off by 10 %"));
    CHECK_FALSE(test::contains(glance_table(plan, outcomes, setting, 0), "<strong>"));
    outcomes[1].composed = false;
    CHECK(told_apart(outcomes[0], outcomes[1], 0));
    CHECK_FALSE(test::contains(conclusion(plan, outcomes, setting), "*"));
    outcomes = outcomes_of_ring(200);
    CHECK(told_apart(outcomes[0], outcomes[1], 0));
    const std::string said = conclusion(plan, outcomes, setting);
    CHECK(test::contains(said, "ako is first, in 100 s, 2.0 times as fast as the next (ring *)"));
    CHECK(test::contains(said, ". *: composed, of rounds at another rate"));
    outcomes = outcomes_of_ring(92);
    CHECK(test::contains(conclusion(plan, outcomes, setting), "ring (92.0 s *) and ako (100 s)"));
    outcomes = outcomes_of_ring(50);
    CHECK(test::contains(conclusion(plan, outcomes, setting), "ring is first, in 50.0 s *, 2.0"));
}

TEST_CASE("the conclusion names one machine alone, and the rates at which nobody gets there") {
    const Plan plan = plan_with_alone(
        "target_accuracy: 0.9\nrates_mbit: [20, 50]\nmodes: {ako: {}, ring: {}}\n"
        "seeds: [1, 2]\ncomposition: none\n");
    std::vector<Outcome> outcomes = outcomes_with(plan, {150, 160});
    CHECK(test::contains(conclusion(plan, outcomes, settings_of(plan)[0]),
                         "To 90 % test accuracy with 4 machines, batch 64: at 20 Mbit/s ako is "
                         "first, in 95.0 s, 1.6 times as fast as the next (ring), 3.2 times as "
                         "fast as one machine alone; at 50 Mbit/s ako"));
    CHECK(test::contains(conclusion(plan, outcomes_with(plan, {94, 106}), settings_of(plan)[0]),
                         "at 20 Mbit/s ako (95.0 s) and ring (100 s) cannot be told apart, for "
                         "their ranges overlap, and ako is 3.2 times as fast as one machine "
                         "alone; at 50 Mbit/s"));
    std::erase_if(outcomes, [](const Outcome& one) { return *one.rate.of(0) == 20; });
    CHECK(test::contains(conclusion(plan, outcomes, settings_of(plan)[0]),
                         "at 20 Mbit/s nobody gets there; at 50"));
    CHECK(conclusion(plan, {}, settings_of(plan)[0]) ==
          "With 4 machines, batch 64 nobody reached a target.");
}

TEST_CASE("what is lost at the end stands beside the time") {
    const Plan plan = plan_with_seeds("[1, 2]");
    const std::vector<Outcome> outcomes = outcomes_with(plan, {150, 160}, 0.975);
    REQUIRE(outcomes.size() == 2);
    CHECK(*accuracy_lost(outcomes, outcomes[0]) == 0);
    CHECK(*accuracy_lost(outcomes, outcomes[1]) == doctest::Approx(0.025));
    const std::string table = target_table(plan, outcomes, settings_of(plan)[0], 0);
    CHECK_MESSAGE(test::contains(table, "<td class=\"number\">2.50</td>"), table);
    CHECK(test::contains(table, "97.50 %"));
}

}  // namespace ako::lead_test
