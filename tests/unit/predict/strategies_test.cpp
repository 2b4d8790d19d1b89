// The strategies: bytes, seconds and limits that can be told by hand.
#include "src/predict/strategies.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "src/predict/strategy_costs.h"

namespace ako::strategies_test {

namespace {

constexpr double ms = 1e-3;

PassTime seconds(double whole) { return {.whole_s = whole, .parts = {}}; }

StrategyLayer windows(const std::string& name, std::size_t height, std::size_t inputs,
                      std::size_t outputs, std::size_t window) {
    return {.name = name,
            .input = {height, height, inputs},
            .output = {height, height, outputs},
            .parameter_count = window * window * inputs * outputs + outputs,
            .mixes = true,
            .window = window,
            .padding = window / 2,
            .forward = seconds(10 * ms),
            .backward = seconds(20 * ms)};
}

/// A convolution of 8 x 8 pixels from 2 to 4 channels, and a dense layer to 10 classes.
StrategyQuestion question_of(std::size_t machines) {
    StrategyQuestion question;
    question.layers = {windows("conv", 8, 2, 4, 3),
                       {.name = "flatten", .input = {8, 8, 4}, .output = {1, 1, 256}},
                       {.name = "dense",
                        .input = {1, 1, 256},
                        .output = {1, 1, 10},
                        .parameter_count = 2570,
                        .mixes = true,
                        .forward = seconds(5 * ms),
                        .backward = seconds(10 * ms)}};
    question.system.link_bytes_per_s = 1e6;
    question.system.latency_s = 1 * ms;
    question.system.update_s_per_byte = 1e-6;
    question.machines = machines;
    question.batch = 8;
    return question;
}

// Of the batch of that question.
constexpr double x_bytes = 4096, conv_bytes = 8192, scores_bytes = 320;
constexpr double conv_parameters = 304, dense_parameters = 10'280;
constexpr double parameters = conv_parameters + dense_parameters;

const StrategyFinding* finding(const StrategyAnswer& answer, FindingKind kind) {
    for (const StrategyFinding& one : answer.findings)
        if (one.kind == kind) return &one;
    return nullptr;
}

StrategyAnswer ranked(const StrategyQuestion& question, Strategy strategy) {
    for (const StrategyAnswer& answer : ranked_strategies(question))
        if (answer.strategy == strategy) return answer;
    return {};
}

}  // namespace

TEST_CASE("one machine is one machine, whatever the strategy") {
    const StrategyQuestion question = question_of(1);
    for (const Strategy strategy : all_strategies) {
        CAPTURE(word(strategy));
        const StrategyAnswer answer = answer_of(question, strategy);
        CHECK(answer.possible);
        CHECK(answer.compute_s == doctest::Approx(45 * ms));
        CHECK(answer.update_s == doctest::Approx(parameters * 1e-6));
        CHECK(answer.communication_s() == 0);
        CHECK(answer.sent_bytes == 0);
        CHECK(answer.step_s == doctest::Approx(45 * ms + parameters * 1e-6));
        CHECK(answer.memory_bytes ==
              2 * parameters + 2 * (x_bytes + conv_bytes + conv_bytes + scores_bytes));
    }
}

TEST_CASE("data: samples are divided, and all gradients go round") {
    const StrategyAnswer answer = data_parallel(question_of(2));
    CHECK(answer.compute_s == doctest::Approx(22.5 * ms));
    CHECK(answer.update_s == doctest::Approx(parameters * 1e-6));
    CHECK(answer.sent_bytes == parameters);
    CHECK(answer.gradient_s == doctest::Approx(2 * ms + parameters * 1e-6));
    CHECK(answer.forward_s == 0);
    CHECK(answer.memory_bytes ==
          2 * parameters + (x_bytes + conv_bytes + conv_bytes + scores_bytes));
    CHECK(answer.machines_max == 8);
    CHECK_FALSE(answer.projected);
}

TEST_CASE("data: three machines wait for the one with three of eight samples") {
    CHECK(data_parallel(question_of(3)).compute_s == doctest::Approx(45 * ms * 3 / 8));
}

TEST_CASE("spatial: rows are divided until the flatten, what follows is not") {
    const StrategyAnswer answer = spatial_parallel(question_of(2));
    CHECK(answer.compute_s == doctest::Approx(15 * ms + 15 * ms));
    CHECK(answer.forward_s == doctest::Approx(1 * ms + conv_bytes / 2 * 1e-6));
    CHECK(answer.backward_s == 0);
    // Of the dense layer both have the same gradient.
    CHECK(answer.gradient_s == doctest::Approx(2 * ms + conv_parameters * 1e-6));
    CHECK(answer.sent_bytes == conv_bytes / 2 + conv_parameters);
    CHECK(answer.memory_bytes == 2 * parameters + 2 * (x_bytes / 2 + conv_bytes / 2 + conv_bytes +
                                                       conv_bytes + scores_bytes));
    CHECK(answer.machines_max == 8);
    CHECK(answer.projected);
}

TEST_CASE("spatial: rows of the neighbours") {
    StrategyLayer layer = windows("conv", 16, 1, 1, 5);
    CHECK(halo_of(layer, 1).rows == 0);
    CHECK(halo_of(layer, 2).rows == 2);
    CHECK(halo_of(layer, 2).messages == 1);
    CHECK(halo_of(layer, 4).rows == 4);
    CHECK(halo_of(layer, 4).messages == 2);
    CHECK(halo_of(layer, 16).rows == 4);
    CHECK(halo_of(layer, 16).messages == 4);
    // A pool of 3 rows every 2 reads one row of the machine below.
    layer.output.height = 8;
    layer.window = 3;
    layer.stride = 2;
    layer.padding = 0;
    CHECK(halo_of(layer, 4).rows == 1);
    CHECK(halo_of(layer, 4).messages == 1);
    // Of two, one takes it and the other gives it: a row in both passes together.
    CHECK(halo_of(layer, 2).both_ways == 1);
    CHECK(halo_of(layer, 4).both_ways == 2);

    // The first layer's are in the data; the second's travel in both passes.
    StrategyQuestion question = question_of(2);
    question.layers.insert(question.layers.begin() + 1, windows("second", 8, 4, 4, 3));
    const double row = conv_bytes / 8;
    const StrategyAnswer answer = spatial_parallel(question);
    CHECK(answer.backward_s == doctest::Approx(1 * ms + row * 1e-6));
    CHECK(answer.sent_bytes ==
          doctest::Approx(2 * row + conv_bytes / 2 + conv_parameters + 4.0 * (9 * 4 * 4 + 4)));
    CHECK(answer.forward_s == doctest::Approx(2 * ms + (row + conv_bytes / 2) * 1e-6));
}

TEST_CASE("filter: what goes into a layer is gathered, and its gradient summed up") {
    const StrategyAnswer answer = filter_parallel(question_of(2));
    CHECK(answer.compute_s == doctest::Approx(22.5 * ms));
    CHECK(answer.update_s == doctest::Approx(parameters / 2 * 1e-6));
    CHECK(answer.gradient_s == 0);
    CHECK(answer.forward_s == doctest::Approx(2 * ms + (conv_bytes + scores_bytes) / 2 * 1e-6));
    CHECK(answer.backward_s == doctest::Approx(2 * ms + conv_bytes * 1e-6));
    CHECK(answer.sent_bytes == (conv_bytes + scores_bytes) / 2 + conv_bytes);
    CHECK(answer.memory_bytes == parameters + 2 * (x_bytes + conv_bytes / 2 + conv_bytes / 2 +
                                                   conv_bytes + scores_bytes / 2));
    CHECK(answer.machines_max == 4);
}

TEST_CASE("channel: what comes out of a layer is summed up") {
    const StrategyAnswer answer = channel_parallel(question_of(2));
    CHECK(answer.compute_s == doctest::Approx(22.5 * ms));
    CHECK(answer.forward_s == doctest::Approx(2 * ms + scores_bytes * 1e-6));
    CHECK(answer.backward_s == 0);  // all know the gradient of the scores
    CHECK(answer.memory_bytes ==
          parameters + 2 * (x_bytes + conv_bytes / 2 + conv_bytes / 2 + scores_bytes));
    CHECK(answer.machines_max == 4);

    StrategyQuestion question = question_of(2);
    question.layers.insert(question.layers.begin() + 1, windows("second", 8, 4, 4, 3));
    const StrategyAnswer longer = channel_parallel(question);
    CHECK(longer.forward_s == doctest::Approx(4 * ms + (conv_bytes + scores_bytes) * 1e-6));
    CHECK(longer.backward_s == doctest::Approx(1 * ms + conv_bytes / 2 * 1e-6));
}

TEST_CASE("pipeline: segments go through stages of unlike length") {
    StrategyQuestion question = question_of(2);
    question.system.link_bytes_per_s = 0;
    question.system.latency_s = 0;
    const StrategyAnswer answer = pipeline_parallel(question);
    CHECK(answer.stages == std::vector<std::size_t>{0, 1});
    // Four segments of 2.5 and 1.25 ms forward, twice that backward.
    CHECK(answer.compute_s == doctest::Approx(3 * (3.75 + 3 * 2.5) * ms));
    CHECK(answer.communication_s() == doctest::Approx(0));
    CHECK(answer.update_s == doctest::Approx(dense_parameters * 1e-6));
    CHECK(answer.sent_bytes == conv_bytes);
    CHECK(answer.memory_bytes ==
          2 * dense_parameters + 2 * (conv_bytes + conv_bytes + scores_bytes));
    CHECK(answer.machines_max == 3);

    // A link of 2.048 + 1 ms for a segment is a station among those, the slowest one of the forward
    // pass and the second slowest of the backward pass.
    question.system.link_bytes_per_s = 1e6;
    question.system.latency_s = 1 * ms;
    const StrategyAnswer linked = pipeline_parallel(question);
    CHECK(linked.compute_s == answer.compute_s);
    CHECK(linked.forward_s == doctest::Approx(3.048 * ms + 3 * (3.048 - 2.5) * ms));
    CHECK(linked.backward_s == doctest::Approx(3.048 * ms));
}

TEST_CASE("pipeline: no stage ends where much would have to be sent") {
    StrategyQuestion question = question_of(2);
    question.layers.front().output = {80, 80, 4};
    question.layers[1].input = {80, 80, 4};
    question.system.link_bytes_per_s = 0;
    CHECK(pipeline_parallel(question).stages == std::vector<std::size_t>{0, 1});
    question.system.link_bytes_per_s = 1e6;
    const StrategyAnswer best = pipeline_parallel(question);
    CHECK(best.stages == std::vector<std::size_t>{0, 2});
    // But for who says where they begin.
    question.stages = {0, 1};
    const StrategyAnswer asked = pipeline_parallel(question);
    CHECK(asked.stages == question.stages);
    CHECK(asked.step_s > best.step_s);
}

TEST_CASE("pipeline: what passes a stage's first layer by is sent with what goes into it") {
    StrategyQuestion question = question_of(2);
    question.stages = {0, 1};
    const StrategyAnswer without = pipeline_parallel(question);
    question.layers[1].beside_count = 256;  // as many as go into it
    const StrategyAnswer with = pipeline_parallel(question);
    CHECK(without.sent_bytes == conv_bytes);
    CHECK(with.sent_bytes == 2 * conv_bytes);
    CHECK(with.compute_s == without.compute_s);
    CHECK(with.step_s > without.step_s);
    CHECK(with.memory_bytes == without.memory_bytes + 2 * conv_bytes);
    // Where both are on one machine nothing passes by.
    question.stages = {0, 2};
    CHECK(pipeline_parallel(question).sent_bytes == conv_bytes);
}

TEST_CASE("pipeline: even stages and free links are the oracle's (p + S - 1) / S") {
    StrategyQuestion question = question_of(4);
    question.layers.assign(4, windows("conv", 8, 4, 4, 3));
    question.system = {};
    const StrategyAnswer answer = pipeline_parallel(question);
    CHECK(answer.stages == std::vector<std::size_t>{0, 1, 2, 3});
    CHECK(answer.compute_s == doctest::Approx(30 * ms * (4 + 4 - 1) / 4));
}

TEST_CASE("hybrids: groups of two among four machines") {
    const StrategyAnswer filter = data_filter_parallel(question_of(4));
    CHECK(filter.group == 2);
    CHECK(filter.compute_s == doctest::Approx(45 * ms / 4));
    CHECK(filter.gradient_s == doctest::Approx(2 * ms + parameters / 2 * 1e-6));
    CHECK(filter.sent_bytes == (conv_bytes + scores_bytes) / 4 + conv_bytes / 2 + parameters / 2);
    CHECK(filter.machines_max == 4 * 8);

    const StrategyAnswer spatial = data_spatial_parallel(question_of(4));
    CHECK(spatial.group == 2);
    CHECK(spatial.compute_s == doctest::Approx((30.0 / 4 + 15.0 / 2) * ms));
    // The windows' gradient goes round all four, the dense layer's between the two groups.
    CHECK(spatial.gradient_s == doctest::Approx(6 * ms + 1.5 * conv_parameters * 1e-6 +  //
                                                2 * ms + dense_parameters * 1e-6));
    CHECK(spatial.sent_bytes == conv_bytes / 4 + 1.5 * conv_parameters + dense_parameters);
}

TEST_CASE("hybrids: a group of one is data, one group is the other strategy") {
    for (const auto& [hybrid, within] : {std::pair{Strategy::data_filter, Strategy::filter},
                                         std::pair{Strategy::data_spatial, Strategy::spatial}}) {
        StrategyQuestion question = question_of(4);
        question.group = 1;
        // Spatial exchanges the gradient of the windows and of the rest apart.
        const double apart = hybrid == Strategy::data_spatial ? 6 * ms : 0;
        CHECK(answer_of(question, hybrid).step_s ==
              doctest::Approx(data_parallel(question).step_s + apart));
        question.group = 4;
        CHECK(answer_of(question, hybrid).step_s ==
              doctest::Approx(answer_of(question, within).step_s));
        question.group = 0;
        CHECK(answer_of(question, hybrid).group == 2);
        question.machines = 3;  // prime
        CHECK(answer_of(question, hybrid).group == 3);
    }
}

TEST_CASE("of several groups the one with the shortest step is taken") {
    StrategyQuestion question = question_of(8);
    double least = 1e9;
    for (const std::size_t group : {2, 4}) {
        question.group = group;
        least = std::min(least, data_filter_parallel(question).step_s);
    }
    question.group = 0;
    CHECK(data_filter_parallel(question).step_s == least);
}

TEST_CASE("a faster link, or less latency, never makes a step longer") {
    for (const Strategy strategy : all_strategies)
        for (const std::size_t machines : {2, 4}) {
            CAPTURE(word(strategy));
            StrategyQuestion question = question_of(machines);
            double before = 1e9;
            for (const double rate : {1e5, 1e6, 1e7, 1e8}) {
                question.system.link_bytes_per_s = rate;
                const double step = answer_of(question, strategy).step_s;
                CHECK(step < before);
                before = step;
            }
            question.system.latency_s = 0;
            CHECK(answer_of(question, strategy).step_s < before);
        }
}

TEST_CASE("more machines compute for less time, up to what the strategy allows") {
    for (const Strategy strategy : all_strategies) {
        CAPTURE(word(strategy));
        double before = 1e9;
        for (const std::size_t machines : {1, 2, 4}) {
            const StrategyAnswer answer = answer_of(question_of(machines), strategy);
            if (answer.possible) CHECK(answer.compute_s <= before);
            before = answer.compute_s;
        }
    }
}

TEST_CASE("a part takes what was measured of parts") {
    PassTime pass = seconds(10 * ms);
    CHECK(pass.of(Along::samples, 1) == doctest::Approx(10 * ms));
    CHECK(pass.of(Along::samples, 0.5) == doctest::Approx(5 * ms));
    pass.parts = {{{{0.5, 7 * ms}, {0.25, 4 * ms}}, {{0.5, 6 * ms}}, {{0.5, 3 * ms}}, {}}};
    CHECK(pass.of(Along::samples, 1) == doctest::Approx(10 * ms));
    CHECK(pass.of(Along::samples, 0.75) == doctest::Approx(8.5 * ms));
    CHECK(pass.of(Along::samples, 0.5) == doctest::Approx(7 * ms));
    CHECK(pass.of(Along::samples, 0.375) == doctest::Approx(5.5 * ms));
    // Below, 2 ms stay of every part.
    CHECK(pass.of(Along::samples, 0.125) == doctest::Approx(3 * ms));
    CHECK(pass.of(Along::rows, 0.25) == doctest::Approx(4 * ms));
    // And where parts are better than their share, nothing does.
    CHECK(pass.of(Along::filters, 0.25) == doctest::Approx(1.5 * ms));
    CHECK(pass.of(Along::channels, 0.25) == doctest::Approx(2.5 * ms));

    // Nor is a part longer than the whole, alone or divided once more.
    pass.parts[2] = {{0.5, 30 * ms}, {0.25, 20 * ms}};
    CHECK(pass.of(Along::filters, 0.5) == doctest::Approx(10 * ms));
    CHECK(pass.of(Along::filters, 0.1) == doctest::Approx(10 * ms));

    StrategyQuestion question = question_of(2);
    question.layers.front().forward.parts = {{{{0.5, 7 * ms}}, {}, {}, {}}};
    CHECK(data_parallel(question).compute_s == doctest::Approx(22.5 * ms + 2 * ms));
    CHECK(filter_parallel(question).compute_s == doctest::Approx(22.5 * ms));
}

TEST_CASE("the processor's part of an exchange counts where it is longer than the link's") {
    StrategyQuestion question = question_of(2);
    const double by_link = data_parallel(question).gradient_s;
    question.system.send_s_per_byte = question.system.take_s_per_byte = 0.4e-6;
    CHECK(data_parallel(question).gradient_s == doctest::Approx(by_link));
    question.system.take_s_per_byte = 1.6e-6;
    CHECK(data_parallel(question).gradient_s == doctest::Approx(2 * ms + parameters * 2e-6));
    question.system.add_s_per_byte = 1e-6;
    CHECK(data_parallel(question).gradient_s == doctest::Approx(2 * ms + parameters * 2.5e-6));
    question.system.call_s = 1 * ms;
    CHECK(data_parallel(question).gradient_s == doctest::Approx(3 * ms + parameters * 2.5e-6));
    const double before = spatial_parallel(question).forward_s;
    question.system.copy_s_per_byte = 1e-6;
    CHECK(spatial_parallel(question).forward_s == doctest::Approx(before + conv_bytes * 1e-6));
}

TEST_CASE("the shortest step comes first, and what is not possible last") {
    const auto answers = ranked_strategies(question_of(4));
    REQUIRE(answers.size() == all_strategies.size());
    CHECK_FALSE(answers.back().possible);  // a pipeline of three layers
    CHECK(answers.back().strategy == Strategy::pipeline);
    CHECK(std::is_sorted(answers.begin(), answers.end() - 1,
                         [](const auto& a, const auto& b) { return a.step_s < b.step_s; }));

    // Where links are slow and parameters many, what exchanges no gradients wins; where samples are
    // many and parameters few, what exchanges nothing else.
    StrategyQuestion many = question_of(2);
    many.layers.back().parameter_count = 10'000'000;
    CHECK(ranked_strategies(many).front().strategy == Strategy::channel);
    StrategyQuestion few = question_of(2);
    few.layers.back().parameter_count = 10;
    few.system.latency_s = 0;
    few.batch = 800;
    CHECK(ranked_strategies(few).front().strategy == Strategy::data);
}

TEST_CASE("findings are of a kind, and inherent or of this system") {
    StrategyQuestion question = question_of(2);
    const StrategyAnswer data = ranked(question, Strategy::data);
    const StrategyFinding* exchange = finding(data, FindingKind::gradient_exchange);
    REQUIRE(exchange != nullptr);
    CHECK(exchange->limitation);
    CHECK(exchange->seconds == doctest::Approx(data.gradient_s));
    const StrategyFinding* full = finding(data, FindingKind::congestion);
    REQUIRE(full != nullptr);
    CHECK_FALSE(full->limitation);
    CHECK(full->seconds == doctest::Approx(parameters * 1e-6));
    CHECK(finding(data, FindingKind::weight_update) != nullptr);
    CHECK(finding(data, FindingKind::memory_redundancy)->limitation);
    CHECK(finding(data, FindingKind::layer_wise_communication) == nullptr);
    CHECK(finding(data, FindingKind::number_of_elements) == nullptr);

    const StrategyAnswer filter = ranked(question, Strategy::filter);
    CHECK(finding(filter, FindingKind::layer_wise_communication) != nullptr);
    CHECK(finding(filter, FindingKind::gradient_exchange) == nullptr);
    CHECK(finding(filter, FindingKind::weight_update) == nullptr);
    const StrategyAnswer pipeline = ranked(question, Strategy::pipeline);
    CHECK(finding(pipeline, FindingKind::point_to_point) != nullptr);
    CHECK(finding(pipeline, FindingKind::workload_balance) != nullptr);
    CHECK(finding(pipeline, FindingKind::number_of_elements) != nullptr);

    // Links without a limit leave no congestion, input that is late makes the step as long as it.
    question.system.link_bytes_per_s = 0;
    question.system.input_s_per_byte = 1e-3;
    const StrategyAnswer late = ranked(question, Strategy::data);
    CHECK(finding(late, FindingKind::congestion) == nullptr);
    REQUIRE(finding(late, FindingKind::input) != nullptr);
    CHECK_FALSE(finding(late, FindingKind::input)->limitation);
    CHECK(late.step_s == doctest::Approx(x_bytes / 2 * 1e-3));
}

TEST_CASE("congestion is what free links would save the same stages") {
    StrategyQuestion question = question_of(2);
    question.layers.front().output = {80, 80, 4};
    question.layers[1].input = {80, 80, 4};
    question.system.link_bytes_per_s = 2e5;
    question.system.send_s_per_byte = 1e-6;
    const StrategyAnswer asked = ranked(question, Strategy::pipeline);
    CHECK(asked.stages == std::vector<std::size_t>{0, 2});
    StrategyQuestion free = question;
    free.system.link_bytes_per_s = 0;
    // Free to choose, it would send much from elsewhere, and save less.
    CHECK(pipeline_parallel(free).stages == std::vector<std::size_t>{0, 1});
    free.stages = asked.stages;
    const StrategyFinding* full = finding(asked, FindingKind::congestion);
    REQUIRE(full != nullptr);
    CHECK(full->seconds ==
          doctest::Approx(asked.communication_s() - pipeline_parallel(free).communication_s()));
    // More machines than layers have no such stages.
    question.machines = 4;
    CHECK_FALSE(ranked(question, Strategy::pipeline).possible);
}

TEST_CASE("a machine without the memory of a strategy cannot follow it") {
    StrategyQuestion question = question_of(2);
    question.system.memory_bytes = 40'000;  // channel takes 35,800, data 41,968
    const StrategyAnswer data = ranked(question, Strategy::data);
    CHECK_FALSE(data.possible);
    const auto lacks = [](const StrategyFinding& one) { return !one.limitation; };
    CHECK(std::any_of(data.findings.begin(), data.findings.end(), lacks));
    CHECK(ranked(question, Strategy::channel).possible);
    // Filter would be as fast as channel with links that take no time, and stand before it.
    question.system.link_bytes_per_s = question.system.latency_s = 0;
    CHECK(ranked_strategies(question).front().strategy == Strategy::channel);
}

}  // namespace ako::strategies_test
