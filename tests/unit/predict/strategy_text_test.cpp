// What `ako predict --strategies` says, from a profile to text and JSON.
#include "src/predict/strategy_text.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "ako/error.h"
#include "src/predict/prediction_text.h"
#include "tests/contains.h"

namespace ako::strategy_text_test {

namespace {

using test::contains;

constexpr std::size_t conv_parameters = 20, dense_parameters = 36;

Settings settings() {
    Settings made;
    made.model.input = {4, 4, 1};
    made.model.layers = {{LayerKind::conv, 2, 3, 1, 1},
                         {LayerKind::max_pool, 0, 2, 2},
                         {LayerKind::flatten},
                         {LayerKind::dense, 4}};
    made.peers = {{.name = "a", .address = "10.0.0.1:1", .listen = ""},
                  {.name = "b", .address = "10.0.0.2:1", .listen = ""}};
    return made;
}

MachineProfile profile() {
    constexpr std::size_t all = conv_parameters + dense_parameters;
    MachineProfile made;
    made.parameter_count = all;
    made.cores = 2;
    made.memory_bytes = 1'000'000'000;
    made.gradients = {{8,
                       0.016,
                       0.016,
                       0,
                       {{GradientStep::Kind::await, {0, conv_parameters}, 0},
                        {GradientStep::Kind::await, {conv_parameters, dense_parameters}, 0.004},
                        {GradientStep::Kind::ready, {conv_parameters, dense_parameters}, 0.003},
                        {GradientStep::Kind::ready, {0, conv_parameters}, 0.009},
                        {GradientStep::Kind::end, {}, 0}}}};
    made.round_s = 0.001;
    made.exchange["ring"] = {.s_per_byte = 1e-9, .bytes_share = 1, .round_s = 1e-4};
    return made;
}

PredictionQuestion question() {
    PredictionQuestion asked;
    asked.machines = {1, 2, 4};
    asked.rates_mbit = {1, 100};
    asked.batches = {8};
    asked.latency_s = 1e-3;
    return asked;
}

StrategyPrediction predicted(const PredictionQuestion& asked = question()) {
    return predict_strategies(asked, {profile()}, settings());
}

const StrategyAnswer& answer(const StrategyTable& table, Strategy strategy) {
    return *std::find_if(table.answers.begin(), table.answers.end(),
                         [&](const StrategyAnswer& one) { return one.strategy == strategy; });
}

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

}  // namespace

TEST_CASE("a table for each rate and number of machines beyond one") {
    const StrategyPrediction prediction = predicted();
    REQUIRE(prediction.tables.size() == 4);
    CHECK(prediction.tables[0].rate_mbit == 1);
    CHECK(prediction.tables[0].machines == 2);
    CHECK(prediction.tables[3].rate_mbit == 100);
    CHECK(prediction.tables[3].machines == 4);
    CHECK(prediction.tables[3].samples() == 32);
    CHECK(prediction.tables[3].extrapolated);
    CHECK(prediction.layers == std::vector<std::string>{"conv1", "max_pool", "flatten", "dense1"});
    for (const StrategyTable& table : prediction.tables)
        CHECK(table.answers.size() == all_strategies.size());
}

TEST_CASE("data is what a machine measured, and the ring's bytes") {
    const StrategyAnswer data = answer(predicted().tables.front(), Strategy::data);
    CHECK(data.compute_s == doctest::Approx(0.016));
    CHECK(data.update_s == doctest::Approx(0.001));
    CHECK(data.sent_bytes == doctest::Approx(4 * (conv_parameters + dense_parameters)));
    // Two messages, one exchange of two buckets, and the link.
    const double link = data.sent_bytes * 8 / (1e6 * 0.957);
    CHECK(data.gradient_s == doctest::Approx(2e-3 + 0.5e-4 + link));
    CHECK_FALSE(data.projected);
}

TEST_CASE("half a processor takes twice as long") {
    PredictionQuestion asked = question();
    asked.cores = {1, 0.5};
    const StrategyAnswer data = answer(predicted(asked).tables.front(), Strategy::data);
    CHECK(data.compute_s == doctest::Approx(0.032));
    CHECK(data.update_s == doctest::Approx(0.002));
}

TEST_CASE("all but data is projected, and findings are told apart") {
    const std::string text = strategies_text(predicted());
    CHECK(contains(text, "\n1 Mbit/s, 2 machines: a step of 16 samples"));
    CHECK(contains(text, "\n100 Mbit/s, 4 machines: a step of 32 samples"));
    for (const Strategy strategy : all_strategies) CHECK(contains(text, word(strategy)));
    CHECK(contains(text, "      limitation, gradient exchange, "));
    CHECK(contains(text, "      bottleneck, congestion, "));
    CHECK(contains(text, "      limitation, number of elements: at most 2: "));
    CHECK(contains(text, "; not possible"));
    std::size_t data = 0, projected = 0;
    for (const std::string& line : lines_of(text)) {
        if (line.starts_with("  data ")) {
            ++data;
            CHECK_FALSE(contains(line, "projected"));
        }
        if (line.starts_with("  ") && contains(line, " projected ")) ++projected;
    }
    CHECK(data == 4);
    CHECK(projected == 4 * (all_strategies.size() - 1));
}

TEST_CASE("the shortest step comes first") {
    const StrategyPrediction prediction = predicted();
    for (const StrategyTable& table : prediction.tables) {
        const auto end = std::find_if(table.answers.begin(), table.answers.end(),
                                      [](const StrategyAnswer& one) { return !one.possible; });
        CHECK(std::is_sorted(table.answers.begin(), end,
                             [](const auto& a, const auto& b) { return a.step_s < b.step_s; }));
    }
}

TEST_CASE("JSON keeps what was there, and has the strategies as a member") {
    const StrategyPrediction prediction = predicted();
    auto json = prediction_json({}, {"a"});
    json["strategies"] = strategies_json(prediction);
    CHECK(json.at("grounds").at(0) == "a");
    const auto& strategies = json.at("strategies");
    CHECK(strategies.at("layers").at(3) == "dense1");
    CHECK(strategies.at("notes").size() == prediction.notes.size());
    REQUIRE(strategies.at("tables").size() == 4);
    const auto& table = strategies.at("tables").at(0);
    CHECK(table.at("samples") == 16);
    const StrategyAnswer& best = prediction.tables[0].answers.front();
    const auto& first = table.at("answers").at(0);
    CHECK(first.at("strategy") == word(best.strategy));
    CHECK(first.at("projected") == best.projected);
    CHECK(first.at("step_s").get<double>() == doctest::Approx(best.step_s));
    CHECK(first.at("machines_max") == best.machines_max);
    for (const auto& one : table.at("answers"))
        for (const auto& finding : one.at("findings")) {
            const std::string label = finding.at("label");
            CHECK((label == "limitation" || label == "bottleneck"));
        }
}

TEST_CASE("one machine, or a network without layers, has nothing to divide") {
    PredictionQuestion asked = question();
    asked.machines = {1};
    CHECK(contains(strategies_text(predicted(asked)), "ask for more, as --machines 2,4"));
    Settings synthetic = settings();
    synthetic.model.kind = ModelKind::synthetic;
    CHECK_THROWS_AS(predict_strategies(question(), {profile()}, synthetic), StartupError);
}

}  // namespace ako::strategy_text_test
