// runs/latest moved to a new run before it had trained, so that a start that failed hid the model
// of the run before, and no run could begin from runs/latest/model.safetensors.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "src/config/cluster_file.h"
#include "src/results/run_folder.h"
#include "tests/temporary_folder.h"

namespace ako::latest_run {

namespace {

namespace fs = std::filesystem;

TEST_CASE("issue: latest is the newest run that has trained") {
    const test::TemporaryFolder folder;
    SystemFiles files;
    Settings settings;
    settings.run = "x";
    settings.output = folder.file("runs");
    const fs::path latest = folder.file("runs/latest");
    const std::string first = make_run_folder(files, settings);
    LatestRun run(first);
    CHECK_FALSE(fs::exists(latest));
    run.trained(files);
    run.trained(files);
    CHECK(fs::canonical(latest) == fs::canonical(first));
    const std::string second = make_run_folder(files, settings);
    CHECK(fs::canonical(latest) == fs::canonical(first));
    LatestRun(second).trained(files);
    CHECK(fs::canonical(latest) == fs::canonical(second));
    run.trained(files);  // it has been told, and another has trained since
    LatestRun("").trained(files);
    CHECK(fs::canonical(latest) == fs::canonical(second));
}

TEST_CASE("issue: a model that a link leads to is known by its own name") {
    const test::TemporaryFolder folder;
    fs::create_directory(folder.file("one"));
    std::ofstream(folder.file("one/model.safetensors")) << "x";
    fs::create_symlink("one", folder.file("latest"));
    const std::string peers = "peers: [{name: a, address: '127.0.0.1:1'}]\n";
    const auto read = [&](const std::string& path) {
        return read_cluster_text(
                   "run: x\nmodel: {name: synthetic, initial: '" + path + "'}\n" + peers,
                   "cluster.yaml", {})
            .model.initial;
    };
    CHECK(read(folder.file("latest/model.safetensors")) ==
          fs::canonical(folder.file("one/model.safetensors")));
    CHECK(read(folder.file("latest/none")) == folder.file("latest/none"));
}

}  // namespace
}  // namespace ako::latest_run
