// The outcome called it a final exchange of 0.00 s when the others had stayed ten seconds for a
// peer that was lost. Now its first line says for whom they waited, and how long.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "src/results/metrics.h"
#include "src/results/summary.h"
#include "tests/fakes/hand_clock.h"
#include "tests/fakes/no_transport.h"
#include "tests/temporary_folder.h"

namespace ako::what_the_end_took {

namespace {

PeerResult peer(const std::string& name, double waiting_seconds) {
    PeerResult result;
    result.name = name;
    result.agreed = true;
    result.accuracy = 0.5;
    result.digest = "3110fa";
    result.finish_seconds = 0.314;
    result.finish_waiting_seconds = waiting_seconds;
    return result;
}

std::string first_line(const Summary& summary) {
    const std::string text = summary.text("runs/x");
    return text.substr(0, text.find('\n'));
}

TEST_CASE("issue: the outcome says for whom the end was waiting") {
    Summary summary;
    summary.seconds = 25;
    summary.peers = {peer("a", 0), peer("b", 9.84)};
    PeerResult& waiter = summary.peers[1];
    waiter.waited_for = waiter.lost_peers = {"d"};
    CHECK(first_line(summary) ==
          "time: 25.0 s, of it 0.31 s for the final exchange and 9.8 s waiting for d, which was "
          "lost");
    const auto json = nlohmann::json::parse(summary.json());
    CHECK(json.at("finish_waiting_seconds") == 9.84);
    CHECK(json.at("waited_for") == std::vector<std::string>{"d"});

    waiter.waited_for = waiter.lost_peers = {"c", "d"};
    CHECK(first_line(summary).ends_with("waiting for c, d, which were lost"));
    waiter.lost_peers = {"c"};  // d came back
    CHECK(first_line(summary).ends_with("waiting for c, d"));
    for (PeerResult& each : summary.peers) each.agreed = false;
    CHECK(first_line(summary) == "time: 25.0 s, of it 9.8 s waiting for c, d");
}

TEST_CASE("issue: of an end that waited for nobody, nothing is said of waiting") {
    Summary summary;
    summary.seconds = 25;
    summary.peers = {peer("a", 0.04), peer("b", 0)};
    summary.peers[0].waited_for = {"d"};  // for a blink
    CHECK(first_line(summary) == "time: 25.0 s, of it 0.31 s for the final exchange");
    summary.peers.clear();
    CHECK(first_line(summary) == "time: 25.0 s");
}

TEST_CASE(
    "issue: a curve ends when the parameters are final, and not when all have been waited for") {
    test::HandClock clock{Time{}};
    const test::NoTransport transport;
    const test::TemporaryFolder folder;
    Metrics metrics(
        folder.file("metrics"), [](const MetricsLine&) {}, [](const std::string&) {}, {"a"}, 0,
        transport, clock);
    clock.set(std::chrono::seconds(5));
    metrics.reached(RoundMoment::may_train);
    clock.set(std::chrono::seconds(35));
    FinishReport report;
    report.after_seconds = 10;
    metrics.finished(report);
    CHECK(metrics.seconds_to_end() == doctest::Approx(20));
}

TEST_CASE("issue: what the end took comes back from a result's line") {
    PeerResult result = peer("b", 9.84);
    result.finish_serving_seconds = 1.5;
    result.waited_for = {"d"};
    const auto read = parse_result_line(result_line(result));
    REQUIRE(read);
    CHECK(read->finish_waiting_seconds == 9.84);
    CHECK(read->finish_serving_seconds == 1.5);
    CHECK(read->waited_for == result.waited_for);
}

}  // namespace
}  // namespace ako::what_the_end_took
