// Curves, spreads and rankings.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "src/compare/cell_result.h"
#include "src/compare/figure_text.h"
#include "src/compare/outcome.h"
#include "src/compare/ranking.h"
#include "tests/unit/compare/fake_runs.h"

namespace ako::accuracy_curve_test {

using test::straight_run;

TEST_CASE("a target is reached between two points") {
    const AccuracyCurve curve = straight_run(100, 0.5).curve;
    const std::optional<Reach> reach = curve.reach(0.95);
    REQUIRE(reach);
    CHECK(reach->round == doctest::Approx(95));
    CHECK(reach->seconds == doctest::Approx(47.5));
    CHECK(!curve.reach(1.01));
    CHECK(curve.reach(0.05)->round ==
          doctest::Approx(10));  // before the first point nothing is known
    CHECK(curve.accuracy_at_seconds(47.5) == doctest::Approx(0.95));
    CHECK(curve.accuracy_at_seconds(1000) == doctest::Approx(1));
    CHECK(curve.round_seconds() == doctest::Approx(0.5));
    CHECK(curve.with_round_seconds(2).reach(0.95)->seconds == doctest::Approx(190));
}

TEST_CASE("a curve that falls again is reached at its first crossing") {
    AccuracyCurve curve;
    for (const double accuracy : {0.2, 0.8, 0.4, 0.9}) {
        RunPoint point;
        point.seconds = static_cast<double>(curve.points.size());
        point.accuracy = accuracy;
        curve.points.push_back(point);
    }
    CHECK(curve.reach(0.5)->seconds == doctest::Approx(0.5));
}

TEST_CASE("a seed that never reaches a target counts as later than all others") {
    const AccuracyCurve never;
    const AccuracyCurve fast = straight_run(100, 1).curve, slow = straight_run(100, 3).curve;
    const TargetReach two_of_three = target_reach({fast, never, slow}, 0.5);
    CHECK(two_of_three.reached == 2);
    REQUIRE(two_of_three.seconds);
    CHECK(two_of_three.seconds->median == doctest::Approx(150));
    CHECK(reach_text(two_of_three) == "150 s (50.0 to 150), 2 of 3 seeds");
    const TargetReach one_of_three = target_reach({never, never, slow}, 0.5);
    CHECK(!one_of_three.seconds);
    CHECK(reach_text(one_of_three) == "reached by 1 of 3 seeds");
    CHECK(reach_text(target_reach({never}, 0.5)) == "not reached");
}

TEST_CASE(
    "the better run reaches the higher target, then the same earlier, then is more accurate") {
    const AccuracyCurve fast = straight_run(100, 1).curve, slow = straight_run(100, 3).curve;
    AccuracyCurve low = fast;
    for (RunPoint& point : low.points) point.accuracy *= 0.6;
    CHECK(ranking({{}, {slow}, {low}, {fast}}, {0.5, 0.9}) == std::vector<std::size_t>{3, 1, 2, 0});
    // Without targets: at 100 s, when the fast ones end, the slow one is at a third.
    CHECK(ranking({{slow}, {low}, {fast}}, {}) == std::vector<std::size_t>{2, 1, 0});
}

TEST_CASE("figures of a summary, whatever it leaves out") {
    const std::string file = (std::filesystem::temp_directory_path() / "ako-summary-test").string();
    std::ofstream(file) << R"({"seconds": 20, "accuracy": 0.98, "peers": [
        {"rounds": 100, "samples": 6400, "egress_bytes": 20000000, "ingress_bytes": 1000,
         "train_seconds": 10, "round_ms": {"p10": 90, "p50": 100}, "compute_share": 0.5},
        {"rounds": 0, "samples": 0, "egress_bytes": 60000000, "compute_share": null}]})";
    const RunFigures figures = read_figures(file);
    CHECK(figures.train_seconds == 10);
    CHECK(figures.rounds == 100);
    CHECK(figures.samples_per_s == 640);
    CHECK(figures.samples_per_s_median == 640);
    CHECK(figures.samples_per_s_slowest == 640);
    CHECK(figures.compute_share == 0.5);
    CHECK(figures.round_ms_p50 == 100);
    CHECK(!figures.round_ms_p99);
    CHECK(figures.egress_mbit == doctest::Approx(32));
    CHECK(figures.egress_mbit_busiest == doctest::Approx(48));
    // The second is a server: what it sends counts, in rounds of the first.
    CHECK(figures.egress_bytes_per_round == doctest::Approx(400'000));
    CHECK(figures.egress_bytes_per_round_busiest == doctest::Approx(600'000));
    std::filesystem::remove(file);
    CHECK(!read_figures(file).accuracy);
}

TEST_CASE("figures of a summary that an older program wrote") {
    const std::string file = (std::filesystem::temp_directory_path() / "ako-summary-test").string();
    std::ofstream(file) << R"({"peers": [
        {"rounds": 100, "images": 6400, "train_seconds": 10, "images_per_s": 642},
        {"rounds": 100, "images": 6200, "train_seconds": 10}]})";
    const RunFigures figures = read_figures(file);
    std::filesystem::remove(file);
    CHECK(figures.samples_per_s == 642);  // of those that say it
    CHECK(figures.samples_per_s_slowest == 620);
    CHECK(figures.samples_per_s_fastest == 642);
}

TEST_CASE("the pace of a peer, and what it sends beside what its own link carries") {
    const std::string file = (std::filesystem::temp_directory_path() / "ako-summary-test").string();
    const auto peer = [](int samples_per_s, int bytes_per_round) {
        return fmt::format(
            R"({{"rounds": 100, "samples": 6400, "train_seconds": 10, "samples_per_s": {},
                "egress_bytes_per_round": {}, "egress_bytes": 9e9}})",
            samples_per_s, bytes_per_round);
    };
    std::ofstream(file) << fmt::format(R"({{"peers": [{}, {}, {}, {}, {}]}})", peer(600, 500'000),
                                       peer(640, 500'000), peer(200, 50'000), peer(620, 600'000),
                                       R"({"rounds": 40, "samples": 2560, "train_seconds": null})");
    CellResult result;
    result.figures = read_figures(file);
    std::filesystem::remove(file);
    CHECK(result.figures.samples_per_s == 2060);
    CHECK(result.figures.samples_per_s_median == 610);
    CHECK(result.figures.samples_per_s_slowest == 200);
    CHECK(result.figures.egress_bytes_per_round_busiest == 600'000);
    CHECK(result.egress_shares().empty());
    // 40, 40, 4 and 48 Mbit/s, of the third less because its link carries less.
    result.achievable_mbit = {50, 50, 4.5, 50, 50};
    Outcome outcome;
    outcome.measured.push_back(&result);
    REQUIRE(result.egress_shares().size() == 4);
    CHECK(outcome.egress_share_mean() == doctest::Approx((0.8 + 0.8 + 4 / 4.5 + 0.96) / 4));
    CHECK(outcome.egress_share_busiest() == doctest::Approx(0.96));
}

TEST_CASE("a peer that came to no round counts with none, and a server says what it sent itself") {
    const std::string file = (std::filesystem::temp_directory_path() / "ako-summary-test").string();
    // As of an asynchronous server: one worker made everything, two came to nothing.
    std::ofstream(file) << R"({"peers": [
        {"role": "worker", "exit": 0, "rounds": 100, "samples": 6400, "train_seconds": 10,
         "samples_per_s": 640, "egress_mbit": 12, "egress_bytes": 9000000000},
        {"role": "worker", "exit": 0, "rounds": 0, "samples": 0, "train_seconds": null},
        {"role": "worker", "exit": 0, "rounds": 0, "samples": 0, "train_seconds": null},
        {"role": "worker", "exit": -9, "rounds": 0, "samples": 0, "train_seconds": null},
        {"role": "server", "exit": 0, "rounds": 0, "samples": 0, "train_seconds": null,
         "egress_mbit": 30, "egress_bytes": 9000000000}]})";
    const RunFigures figures = read_figures(file);
    std::filesystem::remove(file);
    CHECK(figures.samples_per_s == 640);
    CHECK(figures.samples_per_s_median == 0);
    CHECK(figures.samples_per_s_slowest == 0);
    CHECK(figures.samples_per_s_fastest == 640);
    REQUIRE(figures.egress_mbit_by_machine.size() == 5);
    CHECK(figures.egress_mbit_by_machine[0] == 12.0);
    CHECK(figures.egress_mbit_by_machine[4] == 30.0);
    CHECK(figures.egress_mbit_busiest == 30.0);
}

}  // namespace ako::accuracy_curve_test
