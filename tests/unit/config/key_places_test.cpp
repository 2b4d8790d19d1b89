// Complaints that come after the file was read still name where the key stands; and what is said
// of tabs, of folders, and of a plan in the place of a cluster file.
#include "src/config/key_places.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "complaint.h"
#include "src/config/config_file.h"
#include "tests/contains.h"

namespace ako::key_places_test {

using test::complaint;
using test::contains;

namespace {

const std::string text =
    "run: x\n"
    "model: mlp\n"
    "data:\n"
    "  path: data\n"
    "peers:\n"
    "  - {name: a, address: 'h:1'}\n"
    "  - {name: b, address: 'h:2', listen: 'h:3'}\n";

std::string placed(const Settings& settings, const std::string& key, const std::string& what) {
    const StartupError error = at_key(settings, key, StartupError(what, "a remedy"));
    CHECK(error.hint() == "a remedy");
    return error.what();
}

}  // namespace

TEST_CASE("the place of every key that was given, or of what it stands in, or the file") {
    const Settings settings = read_cluster_text(text, "c.yaml", {"memory_mb_max=7"});
    CHECK(settings.places.of("data.path") == "c.yaml:4:9");
    CHECK(settings.places.of("model.name") == "c.yaml:2:8");
    CHECK(settings.places.of("memory_mb_max") == "--set memory_mb_max=7");
    CHECK(settings.places.of("peers.1.listen") == "c.yaml:7:39");
    CHECK(settings.places.of("peers.0.listen") == "c.yaml:6:5");
    CHECK(settings.places.of("seed") == "");
    CHECK(placed(settings, "data.path", "/d: no folder") == "c.yaml:4:9: data.path: /d: no folder");
    CHECK(placed(settings, "seed", "is odd") == "c.yaml: seed: is odd");
    // One that names its key keeps it, and has that one's place.
    CHECK(placed(settings, "data.path", "model.name: wrong") == "c.yaml:2:8: model.name: wrong");
    CHECK(placed(Settings{}, "seed", "is odd") == "seed: is odd");
    const auto fails = []() -> int { throw StartupError("odd"); };
    CHECK_THROWS_WITH(naming_key(settings, "data.path", fails), "c.yaml:4:9: data.path: odd");
    CHECK(naming_key(settings, "data.path", [] { return 3; }) == 3);
    CHECK(settings == read_cluster_text("\n" + text, "c.yaml", {"memory_mb_max=7"}));
}

TEST_CASE("a tab in front of a line is said to be one") {
    const std::string said = complaint("run: x\nmodel:\n\tname: mlp\n", "c.yaml", {});
    CHECK(contains(said, "c.yaml:3: not YAML: a tab in front of the line"));
    CHECK(contains(said, "indent by spaces"));
    CHECK(contains(complaint("run: x\npeers:\n  - name: a\n  \taddress: 'h:1'\n", "c.yaml", {}),
                   "c.yaml:4: not YAML: a tab"));
    CHECK(
        contains(complaint("run: x\n\t# y\nseed: 1\n", "c.yaml", {}), "c.yaml:2: not YAML: a tab"));
    // Elsewhere tabs are allowed, and not what is wrong: in brackets, before comments, far away.
    for (const std::string fine :
         {"model: {input: [1, 1, 1],\n\tlayers: [relu]}\nseed: 1: 2\n",
          "model:\n\t# y\nseed: 1: 2\n",
          "model: {input: [1, 1, 1],\n\tlayers: [relu]}\nrun: x\noutput: y\nseed: 1: 2\n"}) {
        CAPTURE(fine);
        CHECK(contains(complaint(fine, "c.yaml", {}), "illegal map value"));
    }
    CHECK(contains(complaint("run:\tx\nmodel: [\n", "c.yaml", {}), "a key is followed by a colon"));
    CHECK_NOTHROW(read_cluster_text(text + "\n\t\n", "c.yaml", {}));
}

TEST_CASE("a folder in the place of a file names the file that may be meant") {
    const auto folder = std::filesystem::temp_directory_path() / "ako-config-file-test";
    std::filesystem::create_directories(folder);
    const auto said = [&] {
        try {
            read_config_text(folder.string());
        } catch (const StartupError& error) {
            return std::string(error.what()) + " " + error.hint();
        }
        return std::string("accepted");
    };
    CHECK(contains(said(), "expected a cluster file, found a folder give the path of"));
    std::ofstream(folder / "mine.yaml") << "run: x\n";
    CHECK(said().ends_with("did you mean " + (folder / "mine.yaml").string() + "?"));
    std::ofstream(folder / "other.yaml") << "run: x\n";
    CHECK(contains(said(), "give the path of"));
    std::ofstream(folder / "cluster.yaml") << "run: x\n";
    CHECK(said().ends_with("did you mean " + (folder / "cluster.yaml").string() + "?"));
    std::filesystem::remove_all(folder);
}

TEST_CASE("a plan of a comparison in the place of a cluster file is recognised") {
    CHECK(contains(complaint("name: x\n", "c.yaml", {}), "unknown key name"));
    CHECK(
        contains(complaint("cluster: c.yaml\nmodes: [ako]\n", "p.yaml", {}), "`ako compare` runs"));
}

}  // namespace ako::key_places_test
