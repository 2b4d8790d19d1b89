// What becomes of a cell whose network cannot be made.
#include "src/compare/runner.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "ako/error.h"
#include "src/compare/earlier_results.h"
#include "tests/unit/compare/fake_runs.h"

namespace ako::runner_test {

using test::plan_of;

namespace {

/// Fails as often as it is told to, and counts.
class FragileNetwork final : public CellNetwork {
  public:
    std::string text() const override { return "fragile"; }
    std::string key() const override { return "fragile"; }
    std::vector<double> prepare(std::size_t machines, const Rate&) override {
        ++attempts;
        if (failures > 0) {
            --failures;
            throw StartupError("busy", "wait");
        }
        return std::vector<double>(machines, 50);
    }
    std::vector<std::string> overrides(const Cell& cell) const override {
        return make_paced_network("")->overrides(cell);
    }
    std::vector<std::string> launch_words(const Cell&) const override { return {}; }

    unsigned failures = 0;
    unsigned attempts = 0;
};

}  // namespace

TEST_CASE("a network that cannot be made is tried twice, and fails its cell alone") {
    Plan plan = plan_of("modes: {ako: {}}\nrates_mbit: [20, 50, 100, 200]\n");
    plan.output = (std::filesystem::temp_directory_path() / "ako-runner-test").string();
    std::filesystem::remove_all(plan.output);
    FragileNetwork network;
    Runner runner(plan, network, "false", "a commit");
    const std::vector<Cell> cells = open_cells(plan, {});
    const std::atomic<int> interrupts = 0;
    const auto run = [&](std::size_t cell) {
        return runner.run(cells[cell], interrupts, [](double) {}).value();
    };
    network.failures = 1;
    CHECK(run(0).why.starts_with("exit 1"));  // the second attempt went well, and `false` ran
    CHECK(network.attempts == 2);
    CHECK(run(0).achievable_mbit == std::vector<double>(4, 50));
    CHECK(network.attempts == 2);  // it stands
    network.failures = 4;
    for (const unsigned count : {1U, 2U}) {
        const CellResult failed = run(count);
        CHECK(failed.failed);
        CHECK(failed.why == "the network could not be made: busy");
        CHECK(failed.achievable_mbit.empty());
        CHECK(runner.without_network() == count);
    }
    CHECK(network.attempts == 6);
    const auto kept = read_cell_result(cell_folder(plan, cells[1], network));
    REQUIRE(kept);
    CHECK(kept->failed);
    CHECK(!kept->machine.empty());
    CHECK(run(3).why.starts_with("exit 1"));
    CHECK(runner.without_network() == 0);
    CHECK(run(0).why.starts_with("exit 1"));
    CHECK(network.attempts == 8);  // for each of the last two
    std::filesystem::remove_all(plan.output);
}

}  // namespace ako::runner_test
