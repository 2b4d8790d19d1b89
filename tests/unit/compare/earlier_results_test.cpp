// What an earlier comparison left is found again, whatever this machine can do.
#include "src/compare/earlier_results.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "ako/error.h"
#include "src/compare/report.h"
#include "tests/unit/compare/fake_runs.h"

namespace ako::earlier_results_test {

using test::plan_of;

namespace fs = std::filesystem;

namespace {

/// A folder that goes with the test.
class Folder {
  public:
    Folder() {
        path = (fs::temp_directory_path() / "ako-earlier-results-test").string();
        fs::remove_all(path);
        fs::create_directories(path);
    }
    ~Folder() { fs::remove_all(path); }

    std::string path;
};

Plan plan_in(const Folder& folder, const std::string& more) {
    Plan plan = plan_of(more);
    plan.output = folder.path;
    return plan;
}

/// As the runner would leave it, without the run itself.
void leave_result(const Plan& plan, const Cell& cell, const CellNetwork& network) {
    const std::string path = cell_folder(plan, cell, network);
    fs::create_directories(path);
    CellResult result;
    result.network = network.key();
    write_cell_result(path, cell, result);
}

std::unique_ptr<CellNetwork> testbed(double cpus) {
    TestbedPlan plan;
    plan.cpus = {cpus};
    return make_testbed_network("", plan, nullptr);
}

}  // namespace

TEST_CASE(
    "results depend on the kind of network, not on why it was chosen or how it is described") {
    const Folder folder;
    const Plan plan = plan_in(folder, "modes: {ako: {}}\nrates_mbit: 50\n");
    const Cell cell = *next_cell(plan, {});
    const auto asked = make_paced_network("testbed.use: never");
    const auto driven = make_paced_network("no testbed: network namespaces need root");
    CHECK(cell_folder(plan, cell, *asked) == cell_folder(plan, cell, *driven));
    CHECK(cell_folder(plan, cell, *asked) != cell_folder(plan, cell, *testbed(0.25)));
    CHECK(cell_folder(plan, cell, *testbed(1)) != cell_folder(plan, cell, *testbed(0.25)));
    CHECK(testbed(0.25)->key() == "testbed, cpus 0.25");
}

TEST_CASE("a report takes the cells of the testbed, and those that paced themselves beside them") {
    const Folder folder;
    const Plan plan = plan_in(folder, "modes: {ako: {}}\nrates_mbit: 50\nseeds: [1, 2, 3, 4]\n");
    const auto shaped = testbed(0.25);
    const auto paced = make_paced_network("");
    std::vector<Cell> cells = open_cells(plan, {});
    REQUIRE(cells.size() == 4);
    leave_result(plan, cells[0], *paced);
    leave_result(plan, cells[0], *shaped);
    leave_result(plan, cells[1], *paced);
    leave_result(plan, cells[3], *shaped);
    ResultSet results;
    EarlierResults(plan, {shaped.get(), paced.get()}).take_all(results);
    REQUIRE(results.all().size() == 3);
    CHECK(results.find(cells[0])->network == shaped->key());
    CHECK(results.find(cells[1])->network == "paced");
    CHECK(results.find(cells[2]) == nullptr);
    CHECK(results.find(cells[3])->network == shaped->key());
    ResultSet in_order;
    EarlierResults(plan, {paced.get()}).take_in_order(in_order, false);
    CHECK(in_order.all().size() == 2);
}

TEST_CASE("a report of nothing is refused, and an earlier one stays") {
    const Folder folder;
    const Plan plan = plan_in(folder, "modes: {ako: {}}\n");
    fs::create_directories(folder.path + "/plots");
    std::ofstream(folder.path + "/report.html") << "of a night";
    CHECK_THROWS_AS(write_report(plan, {}, "commit"), StartupError);
    std::ifstream in(folder.path + "/report.html");
    CHECK(std::string((std::istreambuf_iterator<char>(in)), {}) == "of a night");
    CHECK(fs::exists(folder.path + "/plots"));
}

}  // namespace ako::earlier_results_test
