// When a run had been ended by Ctrl-C at one peer, the others said `finished` and exited 0, at 14 %
// of the budget. Now launch and every peer say who was asked, how much was done, and exit 7.
#include <doctest/doctest.h>

#include "src/reporting/peer_report.h"
#include "src/results/summary.h"

namespace ako::stopped_early {

namespace {

PeerResult peer(const std::string& name, Ending ending) {
    PeerResult result;
    result.name = name;
    result.ending = ending;
    result.exit = entry_of(ending).exit;
    result.agreed = true;
    result.identical = true;
    result.accuracy = 0.5;
    result.rounds = 9;
    result.digest = "3110fa";
    result.finished_with = {"a", "b"};
    result.stopped_at = 0.149;
    result.asked_by = {"b"};
    return result;
}

bool begins(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

const std::string said = "stopped early at 14 % of the budget: peer b asked for it";

TEST_CASE("issue: an end that one peer was asked for has a status of its own in all") {
    Summary summary;
    summary.peers = {peer("a", Ending::stopped_early), peer("b", Ending::interrupted)};
    CHECK(summary.exit_status() == exit_stopped_early);
    CHECK(begins(summary.text("runs/x"), said + "\n"));
    CHECK(summary.json().find("\"stopped_at\": 0.149") != std::string::npos);
    CHECK(summary.asked_by() == std::vector<std::string>{"b"});
    SUBCASE("asked at launch, it is an interrupt") {
        summary.interrupted = true;
        CHECK(summary.exit_status() == exit_interrupted);
        CHECK(begins(summary.text("runs/x"), "stopped early at 14 % of the budget: interrupted\n"));
    }
    SUBCASE("also if every peer was asked") {
        summary.peers.erase(summary.peers.begin());
        CHECK(summary.exit_status() == exit_stopped_early);
    }
    SUBCASE("what is worse comes first") {
        summary.peers[0].exit = exit_not_written;
        CHECK(summary.exit_status() == exit_not_written);
    }
    SUBCASE("its own end is none") {
        for (PeerResult& it : summary.peers) it.stopped_at.reset();
        CHECK(summary.exit_status() == exit_ok);
        CHECK(begins(summary.text("runs/x"), "time: "));
        CHECK(summary.json().find("\"stopped_at\": null") != std::string::npos);
    }
    SUBCASE("in the mode local the others went on") {
        summary.alone = true;
        CHECK(summary.exit_status() == exit_ok);
    }
}

TEST_CASE("issue: a peer alone says who was asked, and its result keeps it") {
    const PeerResult result = peer("a", Ending::stopped_early);
    std::vector<std::string> lines;
    log_ending(result, [&lines](const std::string& line) { lines.push_back(line); });
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == said);
    CHECK(lines[1] == "stopped early: test accuracy 50.00 %, digest 3110fa");
    const auto read = parse_result_line(result_line(result));
    REQUIRE(read);
    CHECK(read->ending == Ending::stopped_early);
    CHECK(read->stopped_at == 0.149);
    CHECK(read->asked_by == result.asked_by);
}

TEST_CASE("the share of the budget is rounded down, and the names are a sentence") {
    CHECK(stopped_early_text(0.9999, asked_text({"a", "b"})) ==
          "stopped early at 99 % of the budget: peers a and b asked for it");
    CHECK(stopped_early_text(0.004, asked_text({"a", "b", "c"})) ==
          "stopped early at less than 1 % of the budget: peers a, b and c asked for it");
    CHECK(asked_text({}) == "somebody asked for it");
}

TEST_CASE("issue: of a run that never began nothing is said of replicas") {
    Summary summary;
    summary.peers = {PeerResult{}, PeerResult{}};
    for (PeerResult& it : summary.peers) {
        it.ending = Ending::interrupted;
        it.exit = exit_interrupted;
        it.why = never_began;
    }
    summary.interrupted = true;
    const std::string text = summary.text("runs/x");
    CHECK(text.find("no model: no peer made a round\n") != std::string::npos);
    CHECK(text.find("replicas") == std::string::npos);
    CHECK(text.find("final exchange") == std::string::npos);
    std::vector<std::string> lines;
    log_ending(summary.peers[0], [&lines](const std::string& line) { lines.push_back(line); });
    CHECK(lines == std::vector<std::string>{"stopped: interrupted before training began"});
}

}  // namespace
}  // namespace ako::stopped_early
