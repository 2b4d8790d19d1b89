// The advice: which cell of a prediction is best for what is wanted, and from which rate on.
#include "src/predict/advice.h"

#include <doctest/doctest.h>

#include "src/predict/prediction_text.h"
#include "tests/contains.h"

namespace ako::advice_test {

namespace {

struct Cells {
    Predicted& add(const std::string& mode, std::size_t machines, double samples_per_s) {
        Predicted cell;
        cell.mode = {mode, {"exchange.mode=" + mode}};
        cell.machines = machines;
        cell.rate_mbit = 50;
        cell.batch = 32;
        cell.step.samples_per_s = samples_per_s;
        cell.step.round_s = static_cast<double>(machines * 32) / samples_per_s;
        cell.step.low_s = 0.9 * cell.step.round_s;
        cell.step.high_s = 1.1 * cell.step.round_s;
        cell.speed_up = samples_per_s / 100;
        cell.rounds_factor = 1;
        prediction.cells.push_back(cell);
        return prediction.cells.back();
    }
    std::string first(Goal goal) const { return choices(prediction, 50, 32, goal).front()->name(); }
    Prediction prediction;
};

}  // namespace

TEST_CASE("the least rate for an efficiency") {
    const auto efficiency = [](double mbit) { return mbit / (mbit + 100); };
    CHECK(*rate_for(0.5, 10'000, efficiency) == doctest::Approx(100).scale(0).epsilon(0.03));
    CHECK_FALSE(rate_for(0.999, 10'000, efficiency).has_value());
}

TEST_CASE("where more machines stop paying") {
    Cells cells;
    cells.add("ring", 1, 100), cells.add("ring", 2, 180), cells.add("ring", 4, 150);
    const auto peak = peak_of(cells.prediction, "ring", 50, 32);
    REQUIRE(peak.has_value());
    CHECK(peak->cell->machines == 2);
    CHECK(peak->inside);
    CHECK(ranked(cells.prediction, 4, 50, 32).size() == 1);
    CHECK_FALSE(peak_of(cells.prediction, "ring", 50, 64).has_value());
}

TEST_CASE("old rows count by the rounds that they cost") {
    Cells cells;
    cells.add("ring", 4, 300);
    cells.add("ako", 4, 330).rounds_factor = 1.2;
    CHECK(cells.first(Goal::time) == "ring");
    cells.prediction.cells.back().rounds_factor = 1.05;
    CHECK(cells.first(Goal::time) == "ako");
    CHECK(cells.first(Goal::accuracy) == "ring");
}

TEST_CASE("a mode of which it is not known what it costs in rounds is never chosen") {
    Cells cells;
    cells.add("ring", 4, 300);
    cells.add("local-sgd", 4, 3000).rounds_factor.reset();
    CHECK(choices(cells.prediction, 50, 32, Goal::time).size() == 1);
    CHECK(cells.first(Goal::time) == "ring");
}

TEST_CASE("what is cheapest is what takes the least of all machines' time") {
    Cells cells;
    cells.add("ring", 1, 100), cells.add("ring", 4, 300);
    CHECK(cells.first(Goal::time) == "ring");
    CHECK(cells.first(Goal::cost) == "alone");
    cells.prediction.cells.back().step.samples_per_s = 410;
    CHECK(cells.first(Goal::cost) == "ring");
}

TEST_CASE("the headline says what to do, what it takes, and how much worse the second is") {
    Cells cells;
    cells.add("ring", 1, 100), cells.add("ring", 4, 300), cells.add("ako", 4, 250);
    const auto rates = [](const Predicted&) {
        return std::vector<RateForShare>{{0.5, 12.0}, {0.9, 80.0}, {0.95, std::nullopt}};
    };
    const std::string text = headline_text(cells.prediction, Goal::time, rates);
    CHECK(test::contains(text,
                         "4 machines, ring, 300 samples/s, 3.0 times one alone; ako takes "
                         "20 % more time"));
    CHECK(test::contains(text, "--set exchange.mode=ring"));
    CHECK(test::contains(text, "50 % with 12, 90 % with 80 Mbit/s"));
    CHECK_FALSE(test::contains(text, "95 %"));
}

}  // namespace ako::advice_test
