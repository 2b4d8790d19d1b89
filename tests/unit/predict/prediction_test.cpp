// The prediction: tables over machines, of a cluster file and a profile that is made up.
#include "src/predict/prediction.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "ako/error.h"
#include "src/config/cluster_file.h"
#include "tests/contains.h"

namespace ako::prediction_test {

namespace {

constexpr std::size_t parameters = 400'000;

MachineProfile profile() {
    MachineProfile made;
    made.parameter_count = parameters;
    made.cores = 2;
    made.gradients = {{32,
                       0.030,
                       0.029,
                       0.0,
                       {{GradientStep::Kind::await, {0, parameters}, 0},
                        {GradientStep::Kind::ready, {0, parameters}, 0.030},
                        {GradientStep::Kind::end, {}, 0}}}};
    made.process_bytes = 40'000'000;
    made.exchange["ring"] = {.s_per_byte = 1e-9};
    made.exchange["ako"] = {.s_per_byte = 1e-9, .bytes_share = 0.3, .round_s = 0.001};
    return made;
}

/// Of a small file with two peers, of which `more` may say something, as may `rest` of the file.
ReadSettings read_from(const std::string& more = "", const std::string& rest = "data: {path: x}") {
    std::string text = "{run: small, model: lenet, peers: [";
    for (const std::string name : {"a", "b"})
        text +=
            "{name: " + name + ", address: 'h" + name + ":1'" + (name == "b" ? more : "") + "}, ";
    text += "], " + rest + "}";
    return [text](const std::vector<std::string>& overrides) {
        return read_cluster_text(text, "small.yaml", overrides);
    };
}

PredictionQuestion question() {
    PredictionQuestion asked;
    asked.machines = {1, 2, 4};
    asked.rates_mbit = {50};
    asked.batches = {32};
    return asked;
}

/// A plan by which a peer holds a megabyte for each peer beside what it does alone.
std::size_t megabyte_each(const Settings& settings) {
    const bool alone = settings.peers.size() == 1;
    return 100'000'000 + (alone ? 0 : settings.peers.size() * 1'000'000);
}

Prediction predicted(const ReadSettings& read, const MemoryOf& memory = megabyte_each) {
    return predict(question(), {{profile()}, {{0, parameters}}, read, memory});
}

const Predicted& cell_of(const Prediction& prediction, const std::string& mode,
                         std::size_t machines) {
    const auto found = std::find_if(
        prediction.cells.begin(), prediction.cells.end(),
        [&](const Predicted& cell) { return cell.machines == machines && cell.mode.name == mode; });
    REQUIRE(found != prediction.cells.end());
    return *found;
}

}  // namespace

TEST_CASE("memory is what one peer held, and by what the plans differ") {
    const Prediction made = predicted(read_from());
    CHECK(cell_of(made, "local", 1).memory_bytes == 40'000'000);
    CHECK(cell_of(made, "ring", 2).memory_bytes == 42'000'000);
    CHECK(cell_of(made, "ako", 4).memory_bytes == 44'000'000);
}

TEST_CASE("rounds of modes in lockstep are those of one machine, of rows more, of others unknown") {
    const Prediction made = predicted(read_from());
    CHECK(cell_of(made, "ring", 4).rounds_factor == 1.0);
    CHECK(cell_of(made, "ako", 4).rounds_factor.value() > 1.0);
    CHECK_FALSE(cell_of(made, "sma", 4).rounds_factor.has_value());
}

TEST_CASE("a file's own peers keep their roles, and other numbers of machines all train") {
    const Prediction made = predicted(
        read_from(", role: server",
                  "data: {path: x}, exchange: {mode: parameter-server, placement: dedicated}"));
    const Predicted& dedicated = cell_of(made, "parameter-server", 2);
    const Predicted& four = cell_of(made, "parameter-server", 4);
    CHECK(dedicated.step.samples_per_s == doctest::Approx(32 / dedicated.step.round_s).scale(0));
    CHECK(four.step.samples_per_s == doctest::Approx(4 * 32 / four.step.round_s).scale(0));
}

TEST_CASE("samples of a file's own peers are no reason to leave other numbers of machines out") {
    const std::string text =
        "{run: small, model: lenet, data: {path: x, sharding: own}, peers: [{name: a, address: "
        "'h:1', samples: 100}, {name: b, address: 'h:2', samples: 200}]}";
    const Prediction made = predicted([&](const std::vector<std::string>& overrides) {
        return read_cluster_text(text, "small.yaml", overrides);
    });
    CHECK(cell_of(made, "ring", 4).efficiency > 0);
    CHECK(cell_of(made, "ring", 2).efficiency > 0);
}

TEST_CASE("a batch of all machines together is divided") {
    PredictionQuestion asked = question();
    asked.divided = true;
    asked.batches = {64};
    const Prediction made =
        predict(asked, {{profile()}, {{0, parameters}}, read_from(), megabyte_each});
    CHECK(cell_of(made, "local", 1).own_batch == 64);
    CHECK(cell_of(made, "ring", 4).own_batch == 16);
    CHECK(cell_of(made, "ring", 4).batch == 64);
    const Predicted& four = cell_of(made, "ring", 4);
    CHECK(four.step.samples_per_s == doctest::Approx(64 / four.step.round_s).scale(0));
}

TEST_CASE("the rates for more of the processors rise") {
    const ReadSettings read = read_from();
    const Prediction made = predicted(read);
    const std::vector<RateForShare> rates =
        rates_for(question(), {{profile()}, {{0, parameters}}, read, megabyte_each},
                  cell_of(made, "ring", 4));
    REQUIRE(rates.size() == 4);
    REQUIRE(rates[0].mbit.has_value());
    REQUIRE(rates[1].mbit.has_value());
    CHECK(*rates[0].mbit < *rates[1].mbit);
    PredictionQuestion faster = question();
    faster.rates_mbit = {*rates[1].mbit};
    const Prediction there = predict(faster, {{profile()}, {{0, parameters}}, read, megabyte_each});
    CHECK(cell_of(there, "ring", 4).efficiency >= 0.75);
    CHECK(cell_of(there, "ring", 4).efficiency < 0.80);
}

TEST_CASE("where nothing can be predicted the reason is said") {
    PredictionQuestion asked = question();
    asked.machines = {2};
    const ReadSettings refuses = [read = read_from()](const auto& overrides) -> Settings {
        if (overrides.empty()) return read({});
        throw StartupError("no such thing", "ask for another");
    };
    try {
        predict(asked, {{profile()}, {{0, parameters}}, refuses, megabyte_each});
        FAIL("it predicted");
    } catch (const StartupError& error) {
        CHECK(test::contains(error.what(), "nothing of this can be predicted"));
        CHECK(test::contains(error.what(), "no such thing"));
    }
}

}  // namespace ako::prediction_test
