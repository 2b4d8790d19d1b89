// Pieces of the report: tables, CSV, the line of progress.
#include <doctest/doctest.h>

#include "src/compare/charts.h"
#include "src/compare/csv.h"
#include "src/compare/progress_line.h"
#include "src/compare/report_tables.h"
#include "tests/unit/compare/fake_runs.h"

namespace ako::report_text_test {

using test::plan_of;
using test::run_all;
using test::straight_run;

TEST_CASE("wins and losses stand out alike, and CSV says what the page says") {
    const Plan plan = plan_of(
        "target_accuracy: 0.9\nmodes: {ako: {}, slower: {mode: ako}, broken: {mode: ako}}\n"
        "seeds: [1, 2]\nbaselines: [ako, slower]\n");
    std::vector<Cell> made;
    const ResultSet results = run_all(
        plan,
        [](const Cell& cell) {
            CellResult result = straight_run(100, cell.candidate.contender == "ako" ? 1 : 2);
            if (cell.candidate.contender == "broken") {
                result = {};
                result.failed = true;
                result.why = "exit 3: a, \"loss\"";
            }
            return result;
        },
        made);
    const std::vector<Outcome> outcomes = outcomes_of(plan, results);
    const std::string table = target_table(plan, outcomes, settings_of(plan)[0], 0);
    CHECK(table.find("<span class=\"win\">0.50</span>") != std::string::npos);
    CHECK(table.find("<span class=\"loss\">2.00</span>") != std::string::npos);
    CHECK(table.find("not reached") != std::string::npos);
    const std::string csv = targets_csv(plan, outcomes);
    CHECK(csv.find("slower,ako,,") != std::string::npos);
    CHECK(csv.find(",0.9,2,2,180,180,180,90,2,1,,1,0\r\n") != std::string::npos);
    CHECK(cells_csv(results).find("\"exit 3: a, \"\"loss\"\"\"") != std::string::npos);
}

TEST_CASE("a seed that failed pulls the line of a chart down as it does the tables") {
    const Plan plan = plan_of("target_accuracy: 0.9\nseeds: [1, 2, 3, 4]\nmodes: {ako: {}}\n");
    const auto line_with = [&](unsigned failures) {
        std::vector<Cell> made;
        const ResultSet results = run_all(
            plan,
            [&](const Cell& cell) {
                CellResult result = straight_run(100, 1);
                for (RunPoint& point : result.curve.points)
                    point.accuracy -= 0.01 * static_cast<double>(cell.seed);
                if (cell.seed <= failures) {
                    result.failed = true;
                    result.curve = {};
                }
                return result;
            },
            made);
        const std::vector<Chart> charts =
            charts_of(plan, outcomes_of(plan, results), settings_of(plan)[0]);
        return charts.front().plot.lines.front();
    };
    CHECK(line_with(0).points.back().y == doctest::Approx(0.975));
    // The seeds have no accuracy, 0.96, 0.97 and 0.98.
    CHECK(line_with(1).points.back().y == doctest::Approx(0.965));
    CHECK(line_with(1).points.back().low == doctest::Approx(0.96));
    CHECK(line_with(2).points.empty());
}

TEST_CASE("the line of progress fits") {
    Forecast left;
    left.cells = 36;
    left.seconds = 4320;
    left.known = true;
    const std::string line = progress_text(12, left, "ako, seed 2", 65, 100, false);
    CHECK(line == "12 of 48  #####...............  ako, seed 2  1:05  left about 1:10:55");
    CHECK(progress_text(12, left, std::string(200, 'x'), 65, 79, false).size() <= 79);
}

}  // namespace ako::report_text_test
