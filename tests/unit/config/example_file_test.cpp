// The commented example documents every key the reader knows and no other, and the experiments'
// files are valid.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "src/config/cluster_file.h"
#include "src/config/config_value.h"
#include "src/config/fields.h"
#include "tests/in_source.h"

using namespace ako;

namespace {

const std::string experiments = test::in_source("experiments");

std::string read_text_file(const std::string& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// All keys of the tree that have a value of their own, list elements as "*".
void collect(const ConfigValue& value, const std::string& path, std::set<std::string>& keys) {
    if (value.kind != ConfigValue::Kind::map && !path.empty()) keys.insert(path);
    for (const ConfigEntry& entry : value.entries) {
        const bool map = value.kind == ConfigValue::Kind::map;
        if (!map && entry.value.kind != ConfigValue::Kind::map) continue;
        const std::string name = map ? entry.key : "*";
        collect(entry.value, path.empty() ? name : path + "." + name, keys);
    }
}

}  // namespace

TEST_CASE("the example has every known key, each with a comment") {
    const std::string text = read_text_file(experiments + "/example.yaml");
    std::set<std::string> written;
    collect(parse_config(text, "example.yaml"), "", written);
    for (const std::string& key : known_keys()) {
        CAPTURE(key);
        // The keys of a link limit stand in the comment of the (empty) list; a list of layers in
        // that of the name, beside which it cannot stand.
        if (key.starts_with("exchange.link_limits.*.") || key == "model.input" ||
            key == "model.layers")
            CHECK(text.find(key.substr(key.rfind('.') + 1) + ":") != std::string::npos);
        else
            CHECK(written.contains(key));
    }
    std::istringstream lines(text);
    int number = 0;
    bool comment_before = false;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        CAPTURE(number);
        const bool commented = line.find('#') != std::string::npos;
        const bool opens_group = !line.empty() && line.back() == ':';
        const bool second_of_its_kind = line.find("- name: b") != std::string::npos ||
                                        line.find("127.0.0.1:7702") != std::string::npos;
        if (!line.empty() && !opens_group && !second_of_its_kind)
            CHECK((commented || comment_before));
        CHECK(line.size() <= 100);
        comment_before = commented;
    }
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
        // Plans of comparisons have tests of their own.
        if (!name.ends_with(".yaml") || name.starts_with("compare-") ||
            folder.starts_with("compare-"))
            continue;
        CAPTURE(entry.path());
        CHECK_NOTHROW(read_cluster_file(entry.path().string(), {}));
        ++files;
    }
    CHECK(files >= 2);
}
