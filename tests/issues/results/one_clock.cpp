// The time of a curve began with the first round of the peer that took its parameters, although
// others had begun before: one curve had 3,968 samples at 0.0009 s. Now it begins with the first
// round of the peer that was first, where all clocks are one machine's.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "src/results/milestone_file.h"
#include "src/results/summary.h"

namespace ako::one_clock {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

CurvePoint point(double at, double progress) {
    CurvePoint point;
    point.seconds = at;
    point.progress = progress;
    point.accuracy = progress;
    return point;
}

/// It made the whole curve, and began so long after the machine.
PeerResult peer(const std::string& name, Time began, std::vector<CurvePoint> curve) {
    PeerResult result;
    result.name = name;
    result.training_began = began;
    result.curve = std::move(curve);
    return result;
}

/// The peer that evaluates began 1.5 s after the other, whose samples it counts from the start.
Summary late_evaluator() {
    Summary summary;
    summary.peers = {peer("a", seconds(100) + milliseconds(1500),
                          {point(0.0009, 0.1), point(2, 0.5), point(4, 1)}),
                     peer("b", seconds(100), {})};
    summary.peers[0].agreed = true;
    summary.peers[0].accuracy = 1;
    return summary;
}

TEST_CASE("issue: the clock of a curve is that of the peer that began first") {
    const Curve curve = late_evaluator().curve(EvaluateWhen::after);
    REQUIRE(curve.points.size() == 3);
    CHECK(curve.points[0].seconds == doctest::Approx(1.5009));
    CHECK(curve.points[1].seconds == doctest::Approx(3.5));
    CHECK(curve.points[2].seconds == doctest::Approx(5.5));  // the end of the final exchange, too
    CHECK(curve.began.at("a") == doctest::Approx(1.5));
    CHECK(curve.began.at("b") == 0);
    const auto json = nlohmann::json::parse(curve.json());
    CHECK(json.at("began").at("a") == 1.5);
    CHECK(json.at("points").at(0).at("seconds") == doctest::Approx(1.5009));
}

TEST_CASE("issue: clocks of several machines are not mixed") {
    Summary summary = late_evaluator();
    summary.keep_begins_between(seconds(99), seconds(110));
    CHECK(summary.curve(EvaluateWhen::after).began.size() == 2);
    // a is on a machine that was started an hour later.
    summary.peers[0].training_began = seconds(5);
    summary.keep_begins_between(seconds(99), seconds(110));
    const Curve curve = summary.curve(EvaluateWhen::after);
    CHECK(curve.began.empty());
    CHECK(curve.points[0].seconds == doctest::Approx(0.0009));
}

TEST_CASE("issue: when a peer began comes back from its result and from its milestones") {
    PeerResult result = peer("a", seconds(7), {});
    result.egress_mbit = 12.5;
    const auto read = parse_result_line(result_line(result));
    REQUIRE(read);
    CHECK(read->training_began == Time(seconds(7)));
    CHECK(read->egress_mbit == 12.5);
    result.training_began.reset();
    CHECK_FALSE(parse_result_line(result_line(result))->training_began);

    const std::string path =
        (std::filesystem::temp_directory_path() / "ako-one-clock-test.bin").string();
    {
        MilestoneWriter writer(path, 2, [](const std::string&) {});
        const std::vector<float> parameters = {1, 2};
        writer.append(point(0.5, 0.25), seconds(7), parameters);
    }
    MilestoneReader reader(path, 2);
    std::vector<float> parameters(2);
    REQUIRE(reader.count() == 1);
    CHECK_FALSE(reader.began());
    CHECK(reader.next(parameters).seconds == 0.5);
    CHECK(reader.began() == Time(seconds(7)));
    CHECK(parameters == std::vector<float>{1, 2});
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace ako::one_clock
