// A user with a cluster file of an earlier release read "unknown key training.batch_per_peer" and
// nothing of what it is called now. Since then every key that was renamed says its new name.
#include <doctest/doctest.h>

#include <string>

#include "src/config/cluster_file.h"
#include "src/config/key_texts.h"
#include "tests/contains.h"
#include "tests/unit/config/complaint.h"

namespace ako::renamed_keys {

using ako::test::complaint;
using ako::test::contains;

namespace {

const std::string start = "run: small\nmodel: synthetic\npeers: [{name: a, address: 'h:1'}]\n";

}  // namespace

TEST_CASE("a key that was renamed says its new name") {
    CHECK(complaint(start + "training: {batch_per_peer: 32}\n", "c.yaml", {}) ==
          "c.yaml:4:12: unknown key training.batch_per_peer (it is training.batch now)");
    CHECK(complaint(start + "training:\n  accumulate: 2\n", "c.yaml", {}) ==
          "c.yaml:5:3: unknown key training.accumulate (it is training.batch.accumulate now)");
    CHECK(contains(complaint(start, "c.yaml", {"training.batch_per_peer=8"}),
                   "(it is training.batch now)"));
    std::string hint;
    try {
        key_texts_of("training.batch_per_peer");
    } catch (const StartupError& error) {
        hint = error.hint();
    }
    CHECK(hint == "it is training.batch now");
}

}  // namespace ako::renamed_keys
