// A run or a peer whose name began with '-' was taken: its files were options to whatever command
// was given their names (`rm *`), and `--peer` could not name it. Since then the file is refused.
#include <doctest/doctest.h>

#include <string>

#include "tests/contains.h"
#include "tests/unit/config/complaint.h"

namespace ako::names_that_are_options {

using ako::test::contains;

namespace {

std::string complaint(const std::string& run, const std::string& peer) {
    return ako::test::complaint("{run: " + run + ", model: lenet, peers: [{name: " + peer +
                                    ", address: \"localhost:7701\"}]}",
                                "file", {});
}

}  // namespace

TEST_CASE("no name of a run or a peer begins as an option does") {
    const std::string run = complaint("-rf", "a");
    CHECK_MESSAGE(contains(run,
                           "run: expected a name of at most 64 letters, digits, '-', '_' and "
                           "'.', the first not '-' or '.', found"),
                  run);
    const std::string peer = complaint("r", "-a");
    CHECK_MESSAGE(contains(peer,
                           "peers.0.name: expected a name of at most 32 letters, digits, '-' "
                           "and '_', the first not '-', found"),
                  peer);
}

}  // namespace ako::names_that_are_options
