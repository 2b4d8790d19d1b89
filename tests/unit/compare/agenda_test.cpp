// What a comparison runs next, by results that were made up.
#include <doctest/doctest.h>

#include "src/compare/cell_network.h"
#include "src/compare/cell_settings.h"
#include "src/compare/outcome.h"
#include "tests/unit/compare/fake_runs.h"

namespace ako::agenda_test {

using test::plan_of;
using test::run_all;
using test::straight_run;

namespace {

std::size_t count_of(const std::vector<Cell>& cells, Cell::Part part) {
    return static_cast<std::size_t>(std::count_if(
        cells.begin(), cells.end(), [part](const Cell& cell) { return cell.part == part; }));
}

}  // namespace

TEST_CASE("the screening halves, and the best learning rate goes on") {
    const Plan plan = plan_of(
        "learning_rates: [0.01, 0.02, 0.04, 0.08]\nseeds: [1, 2]\nrates_mbit: [20, 50]\n"
        "modes: {ako: {exchange.rule: [anchored, plain]}}\n"
        "screening: {rate_mbit: 50, epochs: 1}\n");
    std::vector<Cell> made;
    const auto run = [](const Cell& cell) {
        const bool good = cell.candidate.learning_rate == 0.04 &&
                          value_of(cell.candidate.variant, "exchange.rule") == "plain";
        return straight_run(100, good ? 1 : 1 + cell.candidate.learning_rate * 100);
    };
    const ResultSet results = run_all(plan, run, made);
    // 8 of an epoch, 4 of two, 2 of four; then the one that is left.
    CHECK(count_of(made, Cell::Part::screening) == 14);
    CHECK(made[8].epochs == 2);
    CHECK(made[12].epochs == 4);
    CHECK(count_of(made, Cell::Part::headline) == 4);
    for (const Cell& cell : made) {
        if (cell.part == Cell::Part::screening) continue;
        CHECK(cell.candidate.learning_rate == 0.04);
        CHECK(value_of(cell.candidate.variant, "exchange.rule") == "plain");
        CHECK(cell.epochs == 8);
    }
}

TEST_CASE("a candidate that fails is out, whatever the others are worth") {
    const Plan plan =
        plan_of("learning_rates: [0.01, 0.1]\nmodes: {ako: {}}\nscreening: {epochs: 1}\n");
    std::vector<Cell> made;
    const auto run = [](const Cell& cell) {
        CellResult result = straight_run(100, 1);
        result.failed = cell.candidate.learning_rate == 0.1;
        if (result.failed) result.curve = {};
        return result;
    };
    run_all(plan, run, made);
    CHECK(made.back().candidate.learning_rate == 0.01);
}

TEST_CASE("the screening ends with its time, evenly for all, and stays ended") {
    const Plan plan = plan_of(
        "learning_rates: [0.01, 0.02, 0.04, 0.08]\n"
        "modes: {ako: {}, again: {mode: ako}}\n"
        "screening: {epochs: 1, minutes_max: 1}\n");
    std::vector<Cell> made;
    // Cells of 10 s: six of the eight of the first rung. Those of the comparison proper are short,
    // which must not make it think there was time left.
    const auto run = [](const Cell& cell) {
        return straight_run(100, cell.part == Cell::Part::screening ? 0.1 : 0.001);
    };
    const ResultSet results = run_all(plan, run, made);
    CHECK(count_of(made, Cell::Part::screening) == 6);
    CHECK(count_of(made, Cell::Part::headline) == 2);
    for (const Screening& screening : screenings(plan, results)) {
        CHECK(screening.cut_off);
        CHECK(std::count_if(screening.rows.begin(), screening.rows.end(),
                            [](const ScreeningRow& row) { return row.rungs > 0; }) == 3);
    }
}

TEST_CASE("synchronous modes are composed of rounds and round time, and checked once") {
    const Plan plan = plan_of(
        "target_accuracy: 0.9\nrates_mbit: [20, 50, none]\nseeds: [1, 2, 3]\n"
        "modes: {ako: {}, ring: {}}\ncomposition: {epochs: 1}\n");
    std::vector<Cell> made;
    const auto run = [](const Cell& cell) {
        const double round_seconds = cell.rate.of(0) ? 100 / *cell.rate.of(0) : 0.5;
        const double rounds = 1000 + 10 * static_cast<double>(cell.seed);
        return straight_run(rounds * cell.epochs / 8, round_seconds);
    };
    const ResultSet results = run_all(plan, run, made);
    CHECK(count_of(made, Cell::Part::timing) == 2);
    CHECK(count_of(made, Cell::Part::headline) == 9 + 3 + 1);
    const std::vector<Outcome> outcomes = outcomes_of(plan, results);
    REQUIRE(outcomes.size() == 6);
    for (const Outcome& outcome : outcomes) {
        const bool ring = outcome.candidate.mode == "ring";
        CHECK(outcome.composed == (ring && outcome.rate.of(0).has_value()));
        CHECK(outcome.seeds.size() == 3);
        REQUIRE(outcome.targets[0].seconds);
        const double round_seconds = outcome.rate.of(0) ? 100 / *outcome.rate.of(0) : 0.5;
        CHECK(outcome.targets[0].seconds->median == doctest::Approx(0.9 * 1020 * round_seconds));
        CHECK(*ratio_to(baseline_of(outcomes, "ring", outcome, 0), outcome, 0) ==
              doctest::Approx(1));
    }
    const std::vector<CompositionCheck> checks = composition_checks(plan, results);
    REQUIRE(checks.size() == 1);
    CHECK(checks[0].composed_seconds == doctest::Approx(checks[0].measured_seconds));
}

TEST_CASE("who comes first to the lower target goes on beside who comes to the higher one") {
    const Plan plan = plan_of(
        "target_accuracy: [0.5, 0.95]\nlearning_rates: [0.01, 0.02, 0.04]\nmodes: {ring: {}}\n"
        "screening: {epochs: 8}\n");
    std::vector<Cell> made;
    // 0.02 is quick to 80 % and stays there, 0.01 slow to 100 %, 0.04 slower still.
    const auto run = [](const Cell& cell) {
        const double learning_rate = cell.candidate.learning_rate;
        CellResult result = straight_run(100, learning_rate == 0.02 ? 1 : 100 * learning_rate);
        if (learning_rate == 0.02) {
            for (RunPoint& point : result.curve.points)
                point.accuracy = std::min(0.8, 4 * point.accuracy);
        } else {
            for (RunPoint& point : result.curve.points) point.seconds *= 2;
        }
        return result;
    };
    const ResultSet results = run_all(plan, run, made);
    REQUIRE(screenings(plan, results).size() == 1);
    const std::vector<Candidate> finalists = screenings(plan, results)[0].finalists;
    REQUIRE(finalists.size() == 2);
    CHECK(finalists[0].learning_rate == 0.01);
    CHECK(finalists[1].learning_rate == 0.02);
    const std::vector<Outcome> outcomes = outcomes_of(plan, results);
    REQUIRE(outcomes.size() == 2);
    for (const Outcome& outcome : outcomes) {
        const bool quick = outcome.candidate.learning_rate == 0.02;
        CHECK(outcome.best == !quick);
        CHECK(outcome.best_for == std::vector<bool>{quick, !quick});
        CHECK(baseline_of(outcomes, "ring", outcome, 0)->candidate.learning_rate == 0.02);
        CHECK(baseline_of(outcomes, "ring", outcome, 1)->candidate.learning_rate == 0.01);
    }
}

TEST_CASE("rounds are timed at a learning rate that no short run diverges at") {
    const Plan plan = plan_of(
        "target_accuracy: 0.9\nrates_mbit: [20, 50]\nlearning_rates: 0.1\nmodes: {ring: {}}\n"
        "composition: {epochs: 1}\n");
    std::vector<Cell> made;
    run_all(
        plan, [](const Cell&) { return straight_run(100, 1); }, made);
    for (const Cell& cell : made)
        CHECK((cell.candidate.learning_rate < 0.01) == (cell.part == Cell::Part::timing));
    CHECK(count_of(made, Cell::Part::timing) == 1);
}

TEST_CASE("the rounds of local SGD are timed over whole averagings, and one that waits") {
    Plan plan = plan_of(
        "target_accuracy: 0.9\nrates_mbit: [20, 50]\ncomposition: {epochs: 0.2}\n"
        "settings: {exchange.local_rounds: 4}\n"
        "modes: {ring: {}, four: {mode: local-sgd}, "
        "many: {mode: local-sgd, exchange.local_rounds: [7, 16, 100, 10000]}}\n");
    const Setting setting = settings_of(plan)[0];
    const auto rounds = [&](std::size_t contender, std::size_t variant) {
        const Candidate candidate = candidates_of(plan, plan.modes[contender], setting)[variant];
        const Cell cell = timing_cell(plan, candidate, setting, plan.rates[0]);
        return cell.epochs * 60'000 / (4 * 64);
    };
    // The number of samples of an epoch is not known: the epochs stay as the plan has them.
    CHECK(rounds(2, 1) == doctest::Approx(0.2 * 60'000 / (4 * 64)));
    plan.training_samples = 60'000;
    // 0.2 epochs are 46.9 rounds.
    CHECK(rounds(0, 0) == doctest::Approx(46.875));
    CHECK(rounds(1, 0) == doctest::Approx(49));
    CHECK(rounds(2, 0) == doctest::Approx(50));
    CHECK(rounds(2, 1) == doctest::Approx(49));
    CHECK(rounds(2, 2) == doctest::Approx(101));
    CHECK(rounds(2, 3) == doctest::Approx(8 * 60'000 / 256.0));  // no more than a whole run
    // A plan that had asked for as many by hand gets as many.
    plan.composition->epochs = 0.209;
    CHECK(rounds(2, 1) == doctest::Approx(49));
    plan.composition->epochs = 0.0001;
    CHECK(rounds(2, 1) == doctest::Approx(17));
}

TEST_CASE("a screening warms up for as many rounds as a whole run") {
    const auto warm_ups = [](const std::string& more) {
        const Plan plan = plan_of(
            "learning_rates: [0.01, 0.02, 0.04, 0.08]\nmodes: {ako: {}}\n"
            "screening: {epochs: 0.25}\n" +
            more);
        std::vector<Cell> made;
        run_all(
            plan, [](const Cell&) { return straight_run(100, 1); }, made);
        std::vector<double> shares;
        for (const Cell& cell : made) {
            const auto network = make_paced_network("");
            const Settings settings = cell_settings(plan, cell, network->overrides(cell));
            shares.push_back(settings.training.schedule.warm_up);
        }
        return shares;
    };
    // Four of a quarter of an epoch, two of half of one, and the whole run of 8.
    CHECK(warm_ups("settings: {training.schedule.warm_up: 0.01}\n") ==
          std::vector<double>{0.32, 0.32, 0.32, 0.32, 0.16, 0.16, 0.01});
    CHECK(warm_ups("settings: {training.schedule.warm_up: 0.02}\n")[0] == 0.5);
    CHECK(warm_ups("settings: {training: {schedule: {warm_up: 0.6}}}\n")[0] == 0.6);
    CHECK(warm_ups("")[0] == 0);
}

TEST_CASE("without screening everything runs, and the best at each rate is marked") {
    const Plan plan = plan_of(
        "rates_mbit: [20, 50]\nlearning_rates: [0.01, 0.02]\nmodes: {ako: {}}\n"
        "target_accuracy: 0.9\n");
    std::vector<Cell> made;
    const auto run = [](const Cell& cell) {
        const bool slow_net = *cell.rate.of(0) == 20;
        const bool low = cell.candidate.learning_rate == 0.01;
        return straight_run(100, slow_net == low ? 1 : 2);
    };
    const std::vector<Outcome> outcomes = outcomes_of(plan, run_all(plan, run, made));
    CHECK(made.size() == 4);
    for (const Outcome& outcome : outcomes)
        CHECK(outcome.best ==
              ((*outcome.rate.of(0) == 20) == (outcome.candidate.learning_rate == 0.01)));
}

TEST_CASE("what is left is forecast by what was run") {
    const Plan plan = plan_of("seeds: [1, 2, 3]\nmodes: {ako: {}}\n");
    ResultSet results;
    CHECK(forecast(plan, results).cells == 3);
    CHECK(!forecast(plan, results).known);
    results.put(*next_cell(plan, results), straight_run(100, 1));
    CHECK(forecast(plan, results).cells == 2);
    CHECK(forecast(plan, results).seconds == doctest::Approx(200));
}

}  // namespace ako::agenda_test
