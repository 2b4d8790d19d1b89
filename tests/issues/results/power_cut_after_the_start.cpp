// Checkpoints were on the disk when they were said to be kept, but not the config.yaml of their run
// folder, nor the name of the folder, nor the link runs/latest: after a loss of power
// `ako launch --resume runs/latest` could find a folder of checkpoints without settings, or none.
// Nor were the names of the folders above, where more than one of them was new.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "ako/error.h"
#include "src/results/run_folder.h"
#include "tests/temporary_folder.h"
#include "tests/unit/results/watched_files.h"

namespace ako::power_cut_after_the_start {

namespace {

namespace fs = std::filesystem;

TEST_CASE("issue: what a run goes on by is on the disk before it begins") {
    const test::TemporaryFolder folder;
    Settings settings;
    settings.run = "x";
    settings.output = folder.file("runs");
    test::WatchedFiles files;
    const std::string run = make_run_folder(files, settings);
    CHECK(files.calls ==
          std::vector<std::string>{"sync " + run + "/config.yaml.new",
                                   "rename " + run + "/config.yaml", "names " + run,
                                   "names " + folder.file("runs"), "names " + folder.path()});
    CHECK(fs::exists(run + "/config.yaml"));
    files.calls.clear();
    LatestRun latest(run);
    latest.trained(files);
    latest.trained(files);
    CHECK(files.calls == std::vector<std::string>{"names " + folder.file("runs")});
    CHECK(fs::canonical(folder.file("runs/latest")) == fs::canonical(run));

    files.calls.clear();
    const std::string chosen = make_run_folder(files, settings, folder.file("chosen"));
    REQUIRE(files.calls.size() >= 4);
    CHECK(files.calls[2] == "names " + chosen);
    CHECK(files.calls[3] == "names " + fs::path(chosen).parent_path().string());
}

TEST_CASE("issue: so are the names of all folders that were made for it") {
    const test::TemporaryFolder folder;
    Settings settings;
    settings.run = "x";
    settings.output = folder.file("of/many/runs");
    test::WatchedFiles files;
    const std::string run = make_run_folder(files, settings);
    REQUIRE(files.calls.size() == 7);
    CHECK(std::vector<std::string>(files.calls.begin() + 2, files.calls.end()) ==
          std::vector<std::string>{"names " + run, "names " + folder.file("of/many/runs"),
                                   "names " + folder.file("of/many"), "names " + folder.file("of"),
                                   "names " + folder.path()});
    files.syncs_folders = false;
    CHECK_THROWS_AS(make_run_folder(files, settings), StartupError);
}

}  // namespace
}  // namespace ako::power_cut_after_the_start
