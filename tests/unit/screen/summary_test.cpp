// The summary that one peer writes: what it knows itself, and what it heard of the others.
#include "src/results/summary.h"

#include <doctest/doctest.h>

#include "tests/contains.h"

using namespace ako;
using test::contains;

namespace {

PeerResult result_of(bool identical, int exit) {
    PeerResult result;
    result.name = "a";
    result.agreed = true;
    result.identical = identical;
    result.exit = exit;
    result.accuracy = 0.5;
    result.digest = "3110fa";
    result.finished_with = {"a", "c"};
    return result;
}

MetricsLine line_of() {
    MetricsLine line;
    for (const char* name : {"b", "c"}) {
        line.links.emplace_back();
        line.links.back().peer = name;
    }
    line.links[0].presence = Presence::lost;
    line.links[0].round = 30;
    line.links[0].images = 1920;
    line.links[1].presence = Presence::left;
    return line;
}

}  // namespace

TEST_CASE("a program can tell whose word a summary is, and what is not known") {
    Summary summary = summary_of_one("r", false, result_of(true, 0), line_of());
    CHECK(summary.replicas_identical());
    CHECK(summary.finished_with() == std::vector<std::string>{"a", "c"});
    CHECK(summary.exit_status() == exit_ok);
    const std::string json = summary.json();
    CHECK(contains(json, R"("seen_by": "a")"));
    CHECK(contains(json, R"("presence": "lost")"));
    CHECK(contains(json, R"("images": 1920)"));
    REQUIRE(summary.peers.size() == 1);
    REQUIRE(summary.others.size() == 2);
    summary.seen_by.clear();
    CHECK(contains(summary.json(), R"("seen_by": null)"));

    summary = summary_of_one("r", false, result_of(false, exit_no_agreement), line_of());
    CHECK(!summary.replicas_identical());
    CHECK(summary.exit_status() == exit_no_agreement);
    CHECK(summary_of_one("r", true, result_of(false, 0), line_of()).others.empty());
}
