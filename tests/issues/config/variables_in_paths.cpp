// A user who wrote `path: ${HOME}/data` was told that the folder c.yaml's/${HOME}/data was not
// there, and `output: ~/runs` made a folder called ~. Since then variables are expanded in every
// key that is a path, and one that is not set is an error with its place.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "src/config/cluster_file.h"
#include "tests/contains.h"
#include "tests/unit/config/complaint.h"

namespace ako::variables_in_paths {

using ako::test::contains;

namespace {

const std::string start = "run: small\nmodel: synthetic\npeers: [{name: a, address: 'h:1'}]\n";

Settings read(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return read_cluster_text(start + text, "/etc/ako/c.yaml", overrides);
}

std::string complaint(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return test::complaint(start + text, "c.yaml", overrides);
}

/// Sets a variable for as long as it lives.
class Variable {
  public:
    Variable(std::string name, const char* value) : name_(std::move(name)) {
        const char* const found = std::getenv(name_.c_str());
        had_ = found != nullptr;
        if (had_) before_ = found;
        if (value == nullptr)
            unsetenv(name_.c_str());
        else
            setenv(name_.c_str(), value, 1);
    }
    ~Variable() {
        if (had_)
            setenv(name_.c_str(), before_.c_str(), 1);
        else
            unsetenv(name_.c_str());
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const std::string name_;
    bool had_ = false;
    std::string before_;
};

}  // namespace

TEST_CASE("variables and the home folder are expanded in every path") {
    const Variable home("HOME", "/users/me"), part("AKO_TEST_PART", "a/b");
    const Settings settings = read(
        "data: {path: \"${HOME}/data\"}\noutput: ~/runs\ncluster_key_file: $AKO_TEST_PART/key\n",
        {"model.initial=~/x$AKO_TEST_PART.safetensors"});
    CHECK(settings.data.path == "/users/me/data");
    CHECK(settings.output == "/users/me/runs");
    CHECK(settings.cluster_key_file == "/etc/ako/a/b/key");
    CHECK(settings.model.initial == "/users/me/xa/b.safetensors");
    CHECK(read("output: '~'\n").output == "/users/me");
}

TEST_CASE("a variable that is not set, or anything else of a dollar, is refused at its place") {
    const Variable unset("AKO_TEST_UNSET", nullptr), empty("AKO_TEST_EMPTY", "");
    CHECK(contains(complaint("data:\n  path: ${AKO_TEST_UNSET}/x\n"),
                   "c.yaml:5:9: data.path: expected a path, found ${AKO_TEST_UNSET}, and the "
                   "variable AKO_TEST_UNSET is not set here"));
    CHECK(contains(complaint("output: $AKO_TEST_EMPTY/x\n"), "AKO_TEST_EMPTY is empty here"));
    CHECK(contains(complaint("", {"output=$AKO_TEST_UNSET"}), "--set output=$AKO_TEST_UNSET: "));
    for (const char* const odd : {"$", "$5", "${", "${}", "${A", "${A:-b}", "$(pwd)", "a$/b"}) {
        CAPTURE(odd);
        CHECK(contains(complaint("output: '" + std::string(odd) + "'\n"),
                       "output: expected $NAME or ${NAME} with the name of a variable"));
    }
    CHECK(contains(complaint("output: ~you/runs\n"), "expected ~/ or ~ for your own home folder"));
}

TEST_CASE("a dollar is written twice, and what was read reads back") {
    const Variable odd("AKO_TEST_ODD", "/has$dollar~");
    const Settings settings = read("output: $$a/~b$$\ncluster_key_file: ${AKO_TEST_ODD}\n");
    CHECK(settings.output == (std::filesystem::current_path() / "$a/~b$").string());
    CHECK(settings.cluster_key_file == "/has$dollar~");
    CHECK(read_cluster_text(write_cluster_text(settings), settings.file, {}) == settings);
}

TEST_CASE("no path grows without end") {
    const Variable large("AKO_TEST_LARGE", std::string(3000, 'a').c_str());
    CHECK(contains(complaint("output: $AKO_TEST_LARGE$AKO_TEST_LARGE\n"),
                   "expected a path of at most 4096 bytes"));
}

}  // namespace ako::variables_in_paths
