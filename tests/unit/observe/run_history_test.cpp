// Curves and events since the run began, within their bounds.
#include "src/observe/run_history.h"

#include <doctest/doctest.h>

#include "tests/contains.h"

namespace ako::run_history_test {

using ako::test::contains;

TEST_CASE("a curve keeps its beginning, its end and its shape in few points") {
    ThinnedCurve curve;
    constexpr int count = 10'000;
    for (int k = 0; k < count; ++k) {
        curve.add(k, 2.0 * k);
        CHECK(curve.points().size() <= ThinnedCurve::points_max);
    }
    const auto points = curve.points();
    CHECK(points.size() > ThinnedCurve::points_max / 2 - 1);
    for (std::size_t k = 0; k < points.size(); ++k) {
        CHECK(points[k].second == doctest::Approx(2 * points[k].first));
        if (k > 0) CHECK(points[k].first > points[k - 1].first);
    }
    CHECK(points.front().first < count / 100);
    CHECK(points.back().first > count - count / 50);
}

TEST_CASE("who was lost and came back is an event each, with its time, and the newest are kept") {
    RunHistory history;
    MetricsLine line;
    line.loss = 1;
    line.links.emplace_back();
    LinkLine& link = line.links[0];
    link.peer = "b";
    const auto stands = [&](double time, Presence presence) {
        line.time = time;
        link.presence = presence;
        link.live = link.advancing = presence == Presence::up;
        link.round = 1;
        link.since = time - 0.5;
        history.add(line);
    };
    stands(1, Presence::up);
    stands(2, Presence::up);
    link.why = "no byte for 2000 ms";
    stands(7, Presence::lost);
    stands(8, Presence::lost);
    link.why = "its port is refused";  // another reason for the same is no event
    stands(8.5, Presence::lost);
    stands(9, Presence::up);
    const std::string text = history.text();
    CHECK_MESSAGE(
        contains(text, R"("events":[{"time":1.0,"peer":"b","text":"trains"},)"
                       R"({"time":6.5,"peer":"b","text":"was lost: no byte for 2000 ms"},)"
                       R"({"time":9.0,"peer":"b","text":"is back, and trains"}])"),
        text);
    RunHistory of_a_failure;
    LinkLine failed = link;
    failed.ended = "numbers";
    failed.why = "ended at round 31: its numbers are not to be trusted";
    failed.presence = Presence::left;
    MetricsLine of_failed;
    of_failed.links.push_back(failed);
    of_a_failure.add(of_failed);
    CHECK(contains(of_a_failure.text(),
                   R"("text":"ended at round 31: its numbers are not to be trusted"}])"));
    for (int k = 10; k < 1000; k += 2) {
        stands(k, Presence::lost);
        stands(k + 1, Presence::up);
    }
    const std::string later = history.text();
    std::size_t events = 0;
    for (std::size_t at = later.find("peer"); at != std::string::npos;
         at = later.find("peer", at + 1))
        ++events;
    CHECK(events == RunHistory::events_max);
    CHECK(contains(later, R"("time":999.0)"));
}

}  // namespace ako::run_history_test
