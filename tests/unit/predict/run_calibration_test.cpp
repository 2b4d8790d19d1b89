// What runs tell of a machine: how fast it is, what a quota loses, and what exchanging takes.
#include "src/predict/run_calibration.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "ako/error.h"
#include "src/config/cluster_file.h"
#include "src/predict/network_digest.h"
#include "src/results/training_figures.h"
#include "tests/contains.h"
#include "tests/temporary_folder.h"

namespace ako::run_calibration_test {

namespace {

constexpr double gradient_s = 0.010;
constexpr double period_s = 0.010;

/// A run's folder, as far as it is read.
class RunFolder {
  public:
    RunFolder(const std::string& mode, std::size_t peers) {
        std::ofstream(folder_.file("config.yaml"))
            << "run: r\nmodel: mlp\ndata: {path: data}\ntraining: {batch: 32}\nexchange: {mode: "
            << mode << "}\npeers:\n";
        std::ofstream config(folder_.file("config.yaml"), std::ios::app);
        for (std::size_t k = 0; k < peers; ++k)
            config << "  - {name: p" << k << ", address: '127.0.0.1:" << 7701 + k << "'}\n";
    }

    /// Rounds of so much processor on so many processors, with so many bytes sent and as many
    /// taken.
    const RunFolder& rounds(double cpu_s, double cores, double bytes, double partitions = 0) const {
        TrainingFigures figures;
        figures.cpu_ms_per_round = cpu_s * 1e3;
        figures.train_seconds = 100 * cpu_s / cores;
        figures.egress_bytes_per_round = figures.ingress_bytes_per_round = bytes;
        figures.partitions = partitions;
        nlohmann::ordered_json peer = {{"rounds", 100}};
        add_figures(peer, figures);
        std::ofstream(folder_.file("summary.json"))
            << nlohmann::ordered_json{{"peers", {peer}}}.dump();
        return *this;
    }
    const std::string& path() const { return folder_.path(); }

  private:
    test::TemporaryFolder folder_;
};

MachineProfile profile_for(const RunFolder& run) {
    MachineProfile made;
    made.network = network_digest(read_cluster_file(run.path() + "/config.yaml", {}));
    made.parameter_count = 101'770;
    made.gradients = {{32, gradient_s, gradient_s, 0, {{GradientStep::Kind::end, {}, gradient_s}}}};
    made.exchange["ring"] = {.s_per_byte = 1e-9};
    made.exchange["ako"] = {.s_per_byte = 1e-9, .bytes_share = 0.3, .round_s = 0.001};
    return made;
}

}  // namespace

TEST_CASE("a run of one machine tells how fast it is") {
    RunFolder run("local", 1);
    MachineProfile made = profile_for(run);
    calibrate(made, {run.rounds(0.012, 1, 0).path()}, period_s);
    CHECK(made.gradients.front().seconds == doctest::Approx(0.012).scale(0));
    CHECK(made.gradients.front().steps.front().seconds == doctest::Approx(0.012).scale(0));
    CHECK(made.period_lost_s == 0);
}

TEST_CASE("runs with two quotas tell what is lost with every period") {
    RunFolder narrow("local", 1), wide("local", 1);
    MachineProfile made = profile_for(narrow);
    const double lost = 0.0003, computing = 0.011;
    const auto time = [&](double cores) { return computing / (1 - lost / (cores * period_s)); };
    calibrate(made,
              {narrow.rounds(time(0.1), 0.1, 0).path(), wide.rounds(time(0.4), 0.4, 0).path()},
              period_s);
    CHECK(made.period_lost_s == doctest::Approx(lost).scale(0));
    CHECK(made.gradients.front().seconds == doctest::Approx(computing).scale(0));
}

TEST_CASE("runs of two machines tell what exchanging takes") {
    RunFolder ring("ring", 2), ako("ako", 2);
    MachineProfile made = profile_for(ring);
    calibrate(made, {ring.rounds(0.014, 1, 1e6).path(), ako.rounds(0.013, 1, 5e5, 2).path()},
              period_s);
    CHECK(made.exchange_of("ring").s_per_byte == doctest::Approx(1e-9).scale(0));
    CHECK(made.exchange_of("ring").round_s == doctest::Approx(0.004 - 2e6 * 1e-9).scale(0));
    const ExchangeProfile& rows = made.exchange_of("ako");
    CHECK(rows.round_s + rows.s_per_byte * 1e6 == doctest::Approx(0.003).scale(0));
    CHECK(rows.bytes_share == doctest::Approx(5e5 * 2 / (4 * 101'770)).scale(0));
}

TEST_CASE("runs alike count as their mean") {
    RunFolder first("local", 1), second("local", 1);
    MachineProfile made = profile_for(first);
    calibrate(made, {first.rounds(0.011, 1, 0).path(), second.rounds(0.013, 1, 0).path()},
              period_s);
    CHECK(made.gradients.front().seconds == doctest::Approx(0.012).scale(0));
}

TEST_CASE("a run of another network is refused, and a folder that holds none") {
    RunFolder run("local", 1);
    const auto refusal = [&](MachineProfile made, const std::string& folder) -> std::string {
        try {
            calibrate(made, {folder}, period_s);
        } catch (const StartupError& error) {
            return error.what();
        }
        return "";
    };
    MachineProfile other = profile_for(run);
    other.network = "another";
    CHECK(test::contains(refusal(other, run.rounds(0.012, 1, 0).path()), "another network"));
    std::filesystem::remove(run.path() + "/summary.json");
    CHECK(test::contains(refusal(profile_for(run), run.path()), "summary.json"));
}

}  // namespace ako::run_calibration_test
