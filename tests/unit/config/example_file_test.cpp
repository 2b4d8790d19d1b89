// The example has every key, with its default, and the experiments' files are valid.
#include "src/config/example_file.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "src/config/cluster_file.h"
#include "src/config/key_texts.h"
#include "tests/in_source.h"

namespace ako::example_file_test {

namespace {

const std::string experiments = test::in_source("experiments");

std::string read_text_file(const std::string& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("the example in the source is the one that the table of keys makes") {
    const std::string text = read_text_file(experiments + "/example.yaml");
    CHECK(text == example_file());  // else: ako keys --example > experiments/example.yaml
    for (const KeyText& key : key_texts()) {
        CAPTURE(key.path);
        CHECK(text.find(key.path.substr(key.path.rfind('.') + 1) + ":") != std::string::npos);
    }
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
}

TEST_CASE("the example shows the defaults") {
    const Settings settings = read_cluster_file(experiments + "/example.yaml", {});
    TrainingSettings training;
    training.schedule = {RateScheduleKind::steps, 0, {0.5, 0.75}, 0.1};
    training.optimizer = OptimizerKind::lars;
    training.batch.schedule = {BatchScheduleKind::steps, {0.6, 0.85}, 2};
    CHECK(settings.training == training);
    CHECK(settings.exchange == ExchangeSettings{});
    ModelSettings model;
    model.kind = ModelKind::synthetic;
    CHECK(settings.model == model);
    CHECK(settings.memory_mb_max == Settings{}.memory_mb_max);
    CHECK(settings.seed == Settings{}.seed);
    CHECK(settings.data.sharding == DataSettings{}.sharding);
    CHECK(settings.data.augmentation == DataSettings{}.augmentation);
    // What is only known once it was read: of a file that says no more than it must.
    const Settings plain = read_cluster_text(
        "run: x\nmodel: synthetic\npeers: [{name: a, address: '127.0.0.1:1'}]\n", "c.yaml", {});
    CHECK(settings.output == plain.output);
    CHECK(settings.cluster_key_file == plain.cluster_key_file);
    CHECK(settings.data.format == plain.data.format);
    CHECK(settings.data.mean == plain.data.mean);
    CHECK(settings.data.deviation == plain.data.deviation);
}

TEST_CASE("all cluster files of the experiments can be read") {
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(experiments)) {
        const std::string name = entry.path().filename();
        const std::string folder = entry.path().parent_path().filename();
        // Plans of comparisons and of searches have tests of their own.
        if (!name.ends_with(".yaml") || name.starts_with("compare-") ||
            name.starts_with("explore-") || folder.starts_with("compare-"))
            continue;
        CAPTURE(entry.path());
        CHECK_NOTHROW(read_cluster_file(entry.path().string(), {}));
        ++files;
    }
    CHECK(files >= 2);
}

}  // namespace ako::example_file_test
