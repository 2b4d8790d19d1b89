// A user who shared settings between cluster files by anchors and merge keys, as in Compose files,
// read "unknown key training.<<", and "unknown key x-common" of where they were kept. Since then
// merge keys are resolved, and top-level keys that begin with x- are the file's own.
#include <doctest/doctest.h>

#include <string>

#include "src/config/cluster_file.h"
#include "src/config/config_value.h"
#include "tests/contains.h"
#include "tests/unit/config/complaint.h"

namespace ako::merge_keys {

using ako::test::contains;

namespace {

const std::string peers = "peers: [{name: a, address: 'h:1'}]\n";

Settings read(const std::string& text) {
    return read_cluster_text("run: small\nmodel: synthetic\n" + peers + text, "c.yaml", {});
}

std::string complaint(const std::string& text) {
    return test::complaint("run: small\nmodel: synthetic\n" + peers + text, "c.yaml", {});
}

}  // namespace

TEST_CASE("a merge key brings keys, and those that are written out win wherever they stand") {
    const Settings settings = read(
        "x-common: &common {epochs: 7, momentum: 0.5, batch: 8}\n"
        "training: {momentum: 0.25, <<: *common, batch: 16}\n");
    CHECK(settings.training.epochs == 7);
    CHECK(settings.training.momentum == 0.25);
    CHECK(settings.training.batch.local == 16);
}

TEST_CASE("of a list of maps the first one that has a key wins") {
    const Settings settings = read(
        "x-one: &one {epochs: 7}\n"
        "x-two: &two {epochs: 8, momentum: 0.5}\n"
        "training:\n  <<: [*one, *two]\n");
    CHECK(settings.training.epochs == 7);
    CHECK(settings.training.momentum == 0.5);
}

TEST_CASE("what is merged may itself have merged, and an element of a list may merge") {
    const Settings settings = read_cluster_text(
        "run: small\nmodel: synthetic\n"
        "x-one: &one {epochs: 7}\n"
        "x-two: &two {<<: *one, momentum: 0.5}\n"
        "training: {<<: *two}\n"
        "x-peer: &peer {listen: '0.0.0.0:1'}\n"
        "peers: [{<<: *peer, name: a, address: 'h:1'}, {<<: *peer, name: b, address: 'i:1'}]\n",
        "c.yaml", {});
    CHECK(settings.training.epochs == 7);
    CHECK(settings.training.momentum == 0.5);
    REQUIRE(settings.peers.size() == 2);
    CHECK(settings.peers[1].listen == "0.0.0.0:1");
}

TEST_CASE("a merge of something else is refused at its key, a merged value where it was written") {
    CHECK(complaint("training: {<<: 3}\n") ==
          "c.yaml:4:12: <<: expected an alias of keys and values, such as *common, or a list of "
          "such, found 3");
    CHECK(contains(complaint("x-a: &a {epochs: 2}\ntraining: {<<: [*a, b]}\n"),
                   "c.yaml:5:12: <<: expected"));
    CHECK(contains(complaint("training:\n  <<:\n"), "found nothing"));
    CHECK(contains(complaint("x-a: &a\n  epochs: many\ntraining: {<<: *a}\n"),
                   "c.yaml:5:11: training.epochs: expected a number"));
    CHECK(
        contains(complaint("x-a: &a {}\ntraining: {<<: *a, <<: *a}\n"), "expected every key once"));
}

TEST_CASE("only keys at the top of a file are its own") {
    CHECK(read("x-: 1\nx-notes: [any, {thing: 1}]\n").run == "small");
    CHECK(contains(complaint("training: {x-common: 1}\n"), "unknown key training.x-common"));
    CHECK(contains(test::complaint("run: small\nmodel: synthetic\n" + peers, "c.yaml", {"x-a=1"}),
                   "--set x-a=1: unknown key x-a"));
}

TEST_CASE("merged aliases do not let a small file grow") {
    std::string text = "x-0: &m0 {";
    for (int key = 0; key < 10; ++key) text += "k" + std::to_string(key) + ": 1, ";
    text += "}\n";
    for (int level = 1; level < 12; ++level) {
        const std::string name = std::to_string(level), before = std::to_string(level - 1);
        text += "x-" + name + ": &m" + name + " {";
        for (int key = 0; key < 10; ++key)
            text += "k" + std::to_string(key) + ": {<<: *m" + before + "}, ";
        text += "}\n";
    }
    CHECK(contains(complaint(text), "expected at most 20000 values, found more"));
}

}  // namespace ako::merge_keys
