// What a run's own figures make of a machine's profile.
#include "src/predict/run_profile.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "ako/error.h"
#include "ako/network.h"
#include "models/safetensors.h"
#include "src/predict/machine_profile.h"
#include "src/results/metrics_line.h"
#include "src/results/peer_result.h"
#include "src/results/training_figures.h"
#include "src/training/round_parts.h"
#include "tests/contains.h"
#include "tests/temporary_folder.h"

namespace ako::run_profile_test {

namespace {

constexpr std::size_t mlp_parameters = 101'770;

/// What a peer leaves of its rounds; seconds, of one.
struct Left {
    std::uint64_t rounds = 100;
    std::uint64_t samples = 6'400;
    double gradient_s = 0.010;
    double input_s = 0.001;
    double cpu_s = 0.015;
    double network_s = 0.002;
    double round_s = 0.020;
    double running_s = 0.013;  ///< of the thread that trains; likewise the next
    double runnable_s = 0;
    double throttled = 0;
    double bytes = 1e6;  ///< sent, and as many taken
    double partitions = 0;
};

TrainingFigures figures_of(const Left& left) {
    TrainingFigures figures;
    figures.train_seconds = static_cast<double>(left.rounds) * left.round_s;
    figures.gradient_ms_p50 = left.gradient_s * 1e3;
    figures.cpu_ms_per_round = left.cpu_s * 1e3;
    figures.partitions = left.partitions;
    figures.egress_bytes_per_round = figures.ingress_bytes_per_round = left.bytes;
    return figures;
}

MetricsLine line_of(const Left& left) {
    MetricsLine line;
    line.phase = "training";
    line.round = left.rounds;
    line.memory_bytes = 90'000'000;
    const auto rounds = static_cast<double>(left.rounds);
    for (const RoundPart part : round_parts) line.round_parts[part].counts[0] = left.rounds;
    line.round_parts[RoundPart::gradient].seconds = rounds * left.gradient_s;
    line.round_parts[RoundPart::input].seconds = rounds * left.input_s;
    line.round_parts[RoundPart::wait].seconds =
        rounds * (left.round_s - left.gradient_s - left.input_s);
    line.usage.seconds = 10;
    line.usage.rounds_per_s = 1 / left.round_s;
    line.usage.gradient = left.gradient_s / left.round_s;
    line.usage.compute_running = left.running_s / left.round_s;
    line.usage.compute_runnable = left.runnable_s / left.round_s;
    line.usage.network_running = left.network_s / left.round_s;
    line.usage.throttled = left.throttled;
    return line;
}

/// The folder of a run of two peers, a and b.
class RunOfTwo {
  public:
    explicit RunOfTwo(const std::string& mode, const std::string& model = "mlp",
                      const std::string& training = "evaluate_every: 0") {
        std::ofstream config(folder_.file("config.yaml"));
        config << "run: r\nmodel: " << model << "\n"
               << (model == "external" ? "" : "data: {path: data}\n") << "training: {" << training
               << "}\nexchange: {mode: " << mode
               << "}\npeers:\n  - {name: a, address: '10.0.0.1:7701'}\n"
               << "  - {name: b, address: '10.0.0.2:7701'}\n";
    }

    const RunOfTwo& leave(const std::string& peer, const Left& left) const {
        PeerResult result;
        result.name = peer;
        result.rounds = left.rounds;
        result.samples = left.samples;
        result.figures = figures_of(left);
        write_result(folder_.file("result-" + peer + ".json"), result);
        MetricsLine line = line_of(left);
        std::ofstream metrics(folder_.file("metrics-" + peer + ".jsonl"));
        metrics << to_json_text(line) << "\n";
        line.phase = "done";
        line.usage = {};
        metrics << to_json_text(line) << "\n";
        return *this;
    }
    void save_model() const {
        const std::vector<Tensor> tensors = {{"w", {3, 4}, 0}, {"b", {}, 12}};
        write_safetensors(folder_.file("model.safetensors"), tensors, std::vector<float>(13), {});
    }
    std::map<std::string, MachineProfile> profiles(double cores = 0) {
        grounds_.clear();
        return profiles_of_run(folder_.path(), cores, grounds_);
    }
    std::string refusal() {
        try {
            profiles();
        } catch (const StartupError& error) {
            return std::string(error.what()) + "; " + error.hint();
        }
        return "";
    }
    std::string grounds() const {
        std::string text;
        for (const std::string& ground : grounds_) text += ground + "\n";
        return text;
    }
    const test::TemporaryFolder& folder() const { return folder_; }

  private:
    const test::TemporaryFolder folder_;
    std::vector<std::string> grounds_;
};

doctest::Approx about(double value) { return doctest::Approx(value).epsilon(0.001).scale(0); }

}  // namespace

TEST_CASE("a run of a ring tells what each peer's machine takes of a round") {
    RunOfTwo run("ring");
    run.leave("a", {});
    run.leave("b", {.gradient_s = 0.012, .cpu_s = 0.016});
    const auto profiles = run.profiles();
    REQUIRE(profiles.size() == 2);
    const MachineProfile& a = profiles.at("a");
    CHECK(a.parameter_count == mlp_parameters);
    REQUIRE(a.gradients.size() == 1);
    CHECK(a.gradients.front().batch == 64);
    CHECK(a.gradients.front().seconds == about(0.010));
    CHECK(profiles.at("b").gradients.front().seconds == about(0.012));
    CHECK(a.exchange_of("ring").s_per_byte == about(0.002 / 2e6));
    CHECK(a.round_s == about(0.001 + 0.002));  // the batch, and what nothing else explains
    CHECK(a.process_bytes == 90'000'000);
    CHECK(a.quota_cores == 0);
    CHECK(a.cores == 2);
    CHECK(a.exchange_of("ako").bytes_share < 1);  // usual ones
    CHECK(test::contains(run.grounds(), "layers' times in proportion to their parameters"));
    CHECK(test::contains(a.measured_by, "100 rounds"));
}

TEST_CASE("a gradient's steps add up to it, by the parameters of their layers") {
    RunOfTwo run("ring");
    run.leave("a", {});
    const MachineProfile a = run.profiles().at("a");
    const std::vector<GradientStep>& steps = a.gradients.front().steps;
    REQUIRE(steps.size() == 5);
    double sum = 0;
    for (const GradientStep& step : steps) sum += step.seconds;
    CHECK(sum == about(0.010));
    CHECK(steps[0].seconds == 0);
    CHECK(steps[1].kind == GradientStep::Kind::await);
    CHECK(steps[3].kind == GradientStep::Kind::ready);
    CHECK(steps[3].range.first == 0);
    CHECK(steps[1].seconds / steps[3].seconds == about(0.5));
    CHECK(steps[3].seconds == about(0.010 * 2 / 3 * 100'480 / mlp_parameters));
    const std::string file = run.folder().file("a.json");
    std::ofstream(file) << to_json_text(a);
    CHECK(read_profile(file).gradients.front().steps.size() == 5);  // as whole as one measured
}

TEST_CASE("what a gradient waited for a processor is none of it") {
    RunOfTwo run("ring");
    run.leave("a", {.gradient_s = 0.010, .running_s = 0.006, .runnable_s = 0.004});
    CHECK(run.profiles(2).at("a").gradients.front().seconds == about(0.006));
    CHECK(test::contains(run.grounds(), "the machine of all peers had 2 cores"));
    // By another device, which the thread awaits.
    run.leave("a", {.gradient_s = 0.010, .running_s = 0.002, .runnable_s = 0.001});
    CHECK(run.profiles().at("a").gradients.front().seconds == about(0.009));
}

TEST_CASE("a quota that was spent, and processors that were short, are the machine's") {
    RunOfTwo run("ring");
    run.leave("a", {.round_s = 0.060, .throttled = 0.7});
    const MachineProfile spent = run.profiles().at("a");
    CHECK(spent.quota_cores == about(0.015 / 0.060));
    CHECK(spent.quota_period_s == 0.1);
    CHECK(spent.cores > spent.quota_cores);
    run.leave("a", {.running_s = 0.013, .runnable_s = 0.006});
    const MachineProfile narrow = run.profiles().at("a");
    CHECK(narrow.quota_cores == 0);
    CHECK(narrow.cores == about(0.015 / 0.020));
}

TEST_CASE("evaluations between rounds are none of the exchange") {
    RunOfTwo run("ring", "mlp", "evaluate_every: 0.25");
    run.leave("a", {.cpu_s = 0.020});
    const MachineProfile a = run.profiles().at("a");
    CHECK(a.exchange_of("ring").s_per_byte == about(0.002 / 2e6));
    CHECK(a.round_s < 0.002);
    CHECK(test::contains(run.grounds(), "its evaluations cannot be told from it"));
}

TEST_CASE("rows tell what share of them travels, and a run alone nothing of the exchange") {
    RunOfTwo rows("ako");
    rows.leave("a", {.bytes = 61'062, .partitions = 2});
    const MachineProfile a = rows.profiles().at("a");
    CHECK(a.exchange_of("ako").bytes_share == about(0.3));
    CHECK(a.exchange_of("ako").round_s == about(0.002));
    CHECK(a.round_s == about(0.001));
    RunOfTwo alone("local");
    alone.leave("a", {.network_s = 0, .bytes = 0});
    const MachineProfile one = alone.profiles().at("a");
    CHECK(one.round_s == about(0.005));
    CHECK(one.exchange_of("ring").s_per_byte > 0);
    CHECK(test::contains(alone.grounds(), "assumed: exchanging takes"));
}

TEST_CASE("a program's run has the parameters of its model, and the batch of its rounds") {
    RunOfTwo run("ako", "external");
    run.leave("a", {.rounds = 100, .samples = 1'600});
    CHECK(test::contains(run.refusal(), "no saved model"));
    run.save_model();
    const MachineProfile a = run.profiles().at("a");
    CHECK(a.parameter_count == 13);
    CHECK(a.gradients.front().batch == 16);
    const std::vector<GradientStep>& steps = a.gradients.front().steps;
    REQUIRE(steps.size() == 3);
    CHECK(steps[1].range.count == 13);
    CHECK(steps[1].seconds == about(0.010));
    CHECK(test::contains(run.grounds(), "gives all its 13 parameters at once"));
    CHECK(test::contains(run.grounds(), "the program's own threads cannot be told"));
}

TEST_CASE("a run that says nothing of machines is refused with what to do") {
    RunOfTwo run("ring");
    CHECK(test::contains(run.refusal(), "ended with 20 rounds or more"));
    run.leave("a", {.rounds = 19});
    CHECK(test::contains(run.refusal(), "train longer"));
    RunOfTwo learners("sma", "mlp", "learners: 2");
    learners.leave("a", {});
    CHECK(test::contains(learners.refusal(), "--set training.learners=1"));
    RunOfTwo growing("ring", "mlp", "batch: {global_target: 256}");
    growing.leave("a", {});
    CHECK(test::contains(growing.refusal(), "training.batch.global_target=none"));
    run.leave("a", {});
    std::ofstream(run.folder().file("metrics-a.jsonl")) << "{}\n";
    CHECK(test::contains(run.refusal(), "metrics-a.jsonl: has no line"));
}

}  // namespace ako::run_profile_test
