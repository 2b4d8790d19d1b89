// One machine alone: what it runs, where, and what is said against it.
#include <doctest/doctest.h>

#include "ako/error.h"
#include "src/compare/cell_network.h"
#include "src/compare/cell_settings.h"
#include "src/compare/csv.h"
#include "src/compare/report_tables.h"
#include "tests/contains.h"
#include "tests/unit/compare/fake_runs.h"

namespace ako::alone_test {

using test::plan_of;
using test::plan_text;
using test::plan_with_alone;
using test::run_all;
using test::straight_run;

namespace {

/// The cells of one machine alone.
std::vector<Cell> alone_of_cells(const std::vector<Cell>& cells) {
    std::vector<Cell> found;
    for (const Cell& cell : cells) {
        if (cell.candidate.alone()) found.push_back(cell);
    }
    return found;
}

/// One alone takes 40 s at its best learning rate, everybody else 10 s.
CellResult run(const Cell& cell) {
    const bool alone = cell.candidate.alone();
    return straight_run(100, alone ? (cell.candidate.learning_rate == 0.04 ? 0.4 : 1) : 0.1);
}

}  // namespace

TEST_CASE("one machine alone is in every comparison, unless the plan says otherwise") {
    CHECK(plan_with_alone("modes: {ring: {}}\n").modes.back().alone());
    CHECK(plan_of("modes: {ring: {}}\n").modes.size() == 1);
    const Plan plan = plan_with_alone("modes: {ring: {}}\nalone: {training.momentum: [0, 0.9]}\n");
    CHECK(plan.modes.back().variants.size() == 2);
    CHECK(plan.modes.back().mode == "local");
    CHECK_THROWS_WITH_AS(plan_with_alone("modes: {ring: {}}\nalone: maybe\n"),
                         doctest::Contains("plan.yaml:5:8: alone: expected true, false, or keys"),
                         StartupError);
    CHECK_THROWS_AS(plan_with_alone("modes: {\"one machine alone\": {mode: ring}}\n"),
                    StartupError);
}

TEST_CASE("one machine alone is screened as the others are, and runs once for all rates") {
    const Plan plan = plan_with_alone(
        "learning_rates: [0.01, 0.02, 0.04, 0.08]\nseeds: [1, 2]\nrates_mbit: [20, 50]\n"
        "target_accuracy: 0.9\nmodes: {ako: {}}\nscreening: {rate_mbit: 50, epochs: 1}\n"
        "lost_peer: {machine: 2, after_s: 3}\n");
    std::vector<Cell> made;
    const ResultSet results = run_all(plan, run, made);
    const std::vector<Cell> alone = alone_of_cells(made);
    // 4 of an epoch and 2 of two, and the best for each seed.
    REQUIRE(alone.size() == 8);
    for (const Cell& cell : alone) {
        CHECK(cell.setting.machines == 1);
        CHECK(cell.rate == Rate{});
        CHECK_FALSE(cell.loss);  // there would be nobody left
        const auto network = make_paced_network("");
        const Settings settings = cell_settings(plan, cell, network->overrides(cell));
        CHECK(settings.peers.size() == 1);
        CHECK(settings.exchange.mode == Mode::local);
    }
    CHECK(alone.back().epochs == 8);
    CHECK(alone.back().candidate.learning_rate == 0.04);

    const std::vector<Outcome> outcomes = outcomes_of(plan, results);
    REQUIRE(outcomes.size() == 4);  // a row of each rate
    for (const Outcome& outcome : outcomes)
        CHECK(*speed_up(outcomes, outcome, 0) ==
              doctest::Approx(outcome.candidate.alone() ? 1 : 4));
    const std::string glance = glance_table(plan, outcomes, settings_of(plan)[0], 0);
    CHECK_MESSAGE(test::contains(glance, "speed-up"), glance);
    CHECK_MESSAGE(test::contains(glance, "4.00 \u00d7"), glance);
    CHECK(test::contains(targets_csv(plan, outcomes), "one machine alone,local,,0.04,1,"));
}

TEST_CASE("without it there is no speed-up, and no column for one") {
    const Plan plan = plan_of("target_accuracy: 0.9\nmodes: {ako: {}}\n");
    std::vector<Cell> made;
    const std::vector<Outcome> outcomes = outcomes_of(plan, run_all(plan, run, made));
    CHECK_FALSE(speed_up(outcomes, outcomes.front(), 0));
    CHECK_FALSE(test::contains(glance_table(plan, outcomes, settings_of(plan)[0], 0), "speed-up"));
}

TEST_CASE("one machine alone takes the machine with the largest share of the processors") {
    const Plan plan =
        plan_with_alone("modes: {ako: {}}\ntestbed: {use: always, cpus: [0.25, 0.5, 1, 0.5]}\n");
    const auto network = make_testbed_network("testbed", plan.testbed, nullptr);
    std::vector<Cell> made;
    run_all(plan, run, made);
    REQUIRE(made.size() == 2);
    CHECK(network->launch_words(made[0])[1] == "testbed --name compare exec {number} --");
    CHECK(network->launch_words(made[1])[1] == "testbed --name compare exec 3 --");
    CHECK(test::contains(network->overrides(made[1])[0], "10.99.0.3:"));
    CHECK(test::contains(network->overrides(made[0])[0], "10.99.0.1:"));
}

}  // namespace ako::alone_test
