// The summary that one peer writes: what it knows itself, and what it heard of the others.
#include "src/results/summary.h"

#include <doctest/doctest.h>

#include "tests/contains.h"

namespace ako::summary_test {

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
    line.links[0].why = "no byte for 2000 ms";
    line.links[0].round = 30;
    line.links[0].samples = 1920;
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
    CHECK(contains(json, R"("standing": "lost")"));
    CHECK(contains(json, R"("why": "no byte for 2000 ms")"));
    CHECK(contains(json, R"("samples": 1920)"));
    REQUIRE(summary.peers.size() == 1);
    REQUIRE(summary.others.size() == 2);
    summary.seen_by.clear();
    CHECK(contains(summary.json(), R"("seen_by": null)"));

    summary = summary_of_one("r", false, result_of(false, exit_no_agreement), line_of());
    CHECK(!summary.replicas_identical());
    CHECK(summary.exit_status() == exit_no_agreement);
    CHECK(summary_of_one("r", true, result_of(false, 0), line_of()).others.empty());
}

TEST_CASE("a peer that left is told as such, with what of its data nobody saw") {
    PeerResult stays = result_of(true, exit_ok);
    stays.rounds = 900;
    stays.left_peers = {{"b", 800, 0.319, 15000, 7700}};
    PeerResult left;
    left.name = "b";
    left.ending = Ending::left;
    left.exit = exit_left;
    left.rounds = 812;
    left.left_peers = {{"b", 812, 0.315, 15000, 7712}};  // it knows best how far it came
    left.handed_to = {"a", "c"};
    left.finish_seconds = 0.24;
    const std::optional<PeerResult> parsed = parse_result_line(result_line(left));
    REQUIRE(parsed);
    CHECK(parsed->handed_to == left.handed_to);
    CHECK(parsed->ending == Ending::left);
    CHECK(handed_over_text(*parsed) == "all that it learned is at a, c (0.2 s)");

    Summary summary;
    summary.run = "r";
    summary.peers = {stays, *parsed};
    CHECK(summary.exit_status() == exit_ok);
    const std::string text = summary.text("runs/x");
    CHECK_MESSAGE(contains(text,
                           "b left at 31 % of the budget, after 812 rounds: 7,288 of the "
                           "15,000 samples in its data shard were never seen\n"),
                  text);
    CHECK(!contains(text, "b: "));
    CHECK(!contains(text, "lost"));
    CHECK(contains(summary.json(), R"("unseen": 7288)"));

    // Without a shard of its own nothing of it is unseen.
    summary.peers[1].left_peers = {{"b", 812, 0.315, 0, 0}};
    CHECK(contains(summary.text("runs/x"), "after 812 rounds\n"));
    CHECK(contains(summary.json(), R"("unseen": null)"));

    // A peer that left and came back in time ended with the others.
    summary.peers.pop_back();
    summary.seen_by = "a";
    CHECK(summary.left_peers().size() == 1);
    summary.peers[0].finished_with = {"a", "b", "c"};
    CHECK(summary.left_peers().empty());
}

TEST_CASE("a peer that ended by a failure is told with its cause") {
    PeerResult stays = result_of(true, exit_ok);
    LeftPeer ended{"b", 30, 0.2, 15000, 1920};
    ended.farewell = {EndCause::numbers, 31, "the loss of round 31 is not finite"};
    stays.left_peers = {ended};
    stays.losses_not_finite = 2;
    const std::optional<PeerResult> parsed = parse_result_line(result_line(stays));
    REQUIRE(parsed);
    REQUIRE(parsed->left_peers.size() == 1);
    CHECK(parsed->left_peers[0].farewell == ended.farewell);
    CHECK(parsed->losses_not_finite == 2);
    Summary summary;
    summary.peers = {*parsed};
    const std::string text = summary.text("runs/x");
    CHECK_MESSAGE(contains(text,
                           "b ended at round 31: its numbers are not to be trusted (the loss of "
                           "round 31 is not finite); what it gave up to round 30 stays: 13,080 of "
                           "the 15,000 samples"),
                  text);
    CHECK_MESSAGE(contains(text, "a: 2 losses are not numbers\n"), text);
    const std::string json = summary.json();
    CHECK(contains(json, R"("cause": "numbers")"));
    CHECK(contains(json, R"("since": 31)"));
    CHECK(contains(json, R"("why": "the loss of round 31 is not finite")"));
    CHECK(contains(json, R"("losses_not_finite": 2)"));
}

TEST_CASE("what was made beyond the budget is said where it is more than a round of every peer") {
    CHECK(samples_beyond(20'000, 20'000, 64, 3) == 0);
    CHECK(samples_beyond(19'000, 20'000, 64, 3) == 0);
    CHECK(samples_beyond(20'192, 20'000, 64, 3) == 0);
    CHECK(samples_beyond(21'088, 20'000, 64, 3) == 1'088);
    PeerResult result = result_of(true, exit_ok);
    CHECK(beyond_budget_text(result).empty());
    result.samples_total = 21'088;
    result.samples_beyond = 1'088;
    const std::optional<PeerResult> parsed = parse_result_line(result_line(result));
    REQUIRE(parsed);
    CHECK(
        beyond_budget_text(*parsed) ==
        "1,088 samples (5.4 %) beyond the budget of 20,000: the peers made them while word of its "
        "end was on its way");
    Summary summary;
    summary.peers = {*parsed};
    CHECK(contains(summary.json(), R"("samples_beyond": 1088)"));
    CHECK(contains(summary.text("runs/x"), "1,088 samples (5.4 %) beyond the budget"));
}

TEST_CASE("with elastic data shards it is said how often the data were seen") {
    PeerResult result = result_of(true, exit_ok);
    result.seen = Seen{60000, 3, 59800, 74};
    result.samples_total = 240000;
    const std::optional<PeerResult> parsed = parse_result_line(result_line(result));
    REQUIRE(parsed);
    REQUIRE(parsed->seen);
    CHECK(seen_again(*parsed->seen, 240000) == 126);
    CHECK(seen_text(*parsed->seen, 240000) ==
          "all 60,000 samples were seen 3 times, 59,800 of them once more; 126 of the 240,000 "
          "trained "
          "on were a repetition");
    CHECK(seen_text(Seen{60000, 0, 500, 0}, 500) == "500 of 60,000 samples were seen");
    CHECK(seen_text(Seen{60000, 1, 0, 0}, 60000) ==
          "all 60,000 samples were seen 1 time, 0 of them once more");
    Summary summary;
    summary.peers = {*parsed};
    CHECK(contains(summary.json(), R"("repeated": 126)"));
    result.seen.reset();
    CHECK(!parse_result_line(result_line(result))->seen);
}

}  // namespace ako::summary_test
