// Peers that had finished together with parameters that differ, as by a flipped bit in a chunk of
// the ring, all exited 0 under `ako train`: only launch compared digests. Now such an ending has a
// name, exit status 4, and is said, in every mode.
#include <doctest/doctest.h>

#include "src/results/summary.h"
#include "src/training/run_driver.h"

namespace ako::not_identical {

namespace {

TrainingOutcome outcome(bool agreed, bool identical) {
    TrainingOutcome outcome;
    outcome.report.agreed = agreed;
    outcome.report.identical = identical;
    return outcome;
}

PeerResult peer(const std::string& name, const std::string& digest, int exit) {
    PeerResult result;
    result.name = name;
    result.ending = Ending::finished;
    result.agreed = true;
    result.accuracy = 0.5;
    result.digest = digest;
    result.exit = exit;
    return result;
}

TEST_CASE("issue: a finish with parameters that differ is an ending of its own") {
    for (const bool interrupted : {false, true}) {
        TrainingOutcome differs = outcome(true, false);
        judge_finish(differs, interrupted);
        CHECK(differs.ending == Ending::not_identical);
        CHECK(differs.why.find("not the same") != std::string::npos);
        TrainingOutcome same = outcome(true, true);
        judge_finish(same, interrupted);
        CHECK(same.ending == (interrupted ? Ending::interrupted : Ending::finished));
        TrainingOutcome none = outcome(false, false);
        judge_finish(none, interrupted);
        CHECK(none.ending == (interrupted ? Ending::interrupted : Ending::not_agreed));
    }
}

TEST_CASE("issue: launch says that replicas differ, also if only a peer knows it") {
    Summary summary;
    summary.peers = {peer("a", "3110fa", 0), peer("b", "8d7cce", 0)};
    CHECK(summary.exit_status() == exit_no_agreement);
    CHECK(summary.text("runs/x").find("replicas identical: no (b has 8d7cce)") !=
          std::string::npos);
    // The third is gone with its file; who was told its digest exits 4.
    summary.peers = {peer("a", "3110fa", exit_no_agreement), peer("b", "3110fa", 0)};
    CHECK(summary.exit_status() == exit_no_agreement);
    CHECK_FALSE(summary.replicas_identical());
    summary.interrupted = true;  // which is no reason to hide it
    CHECK(summary.exit_status() == exit_no_agreement);
    summary.peers[0].agreed = false;
    CHECK(summary.exit_status() == exit_interrupted);
    summary.peers[0].agreed = true;
    CHECK(summary.text("runs/x").find("replicas identical: yes") == std::string::npos);
}

TEST_CASE("issue: results that could not be written have an exit status of their own") {
    Summary summary;
    summary.peers = {peer("a", "3110fa", 0), peer("b", "3110fa", exit_not_written)};
    summary.peers[1].why = "trained and agreed, but no room";
    CHECK(summary.exit_status() == exit_not_written);
    const std::string text = summary.text("runs/x");
    CHECK(text.find("b: exit 6 after round 0: trained and agreed, but no room\n") !=
          std::string::npos);
    CHECK(text.find("replicas identical: yes (3110fa) on a, b\n") != std::string::npos);
    summary.peers[0].exit = exit_broken;
    CHECK(summary.exit_status() == exit_broken);
}

TEST_CASE("issue: a result comes back from its line") {
    PeerResult result = peer("a", "3110fa", exit_not_written);
    result.lost_shards = {{"d", 100, 7}};
    result.finished_with = {"a", "b"};
    const std::string line = result_line(result);
    CHECK(line.find('\n') == line.size() - 1);
    const auto read = parse_result_line(line);
    REQUIRE(read);
    CHECK(result_line(*read) == line);
    CHECK(read->exit == exit_not_written);
    result.why = "no room in /runs/caf\xe9";  // Latin-1, no UTF-8
    const auto mended = parse_result_line(result_line(result));
    REQUIRE(mended);
    CHECK(mended->why == "no room in /runs/caf\xef\xbf\xbd");
    CHECK_FALSE(parse_result_line("{\"time\": 1}"));
    CHECK_FALSE(parse_result_line("{\"result\": 1}"));
    CHECK_FALSE(parse_result_line(line.substr(0, line.size() / 2)));
}

}  // namespace
}  // namespace ako::not_identical
