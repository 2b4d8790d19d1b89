// When a peer says whom it waits for, in virtual time.
#include "src/exchange/waiting_line.h"

#include <doctest/doctest.h>

#include <vector>

namespace ako::waiting_line_test {

namespace {

using std::chrono::seconds;

/// The seconds at which the line is said, if `line` makes it and is asked every 50 ms.
template <class Line>
std::vector<long> said(long until_s, Line line) {
    WaitingLine waiting;
    std::vector<long> times;
    const Time begin = seconds(1000);
    for (Time now = begin; now <= begin + seconds(until_s); now += std::chrono::milliseconds(50)) {
        if (!waiting.due(now)) continue;
        const long second = std::chrono::duration_cast<seconds>(now - begin).count();
        if (waiting.news(line(second), now)) times.push_back(second);
    }
    return times;
}

}  // namespace

TEST_CASE("a line that stays the same is said after five seconds and then once a minute") {
    CHECK(said(130, [](long) { return "waiting for b"; }) == std::vector<long>{5, 65, 125});
    CHECK(said(4, [](long) { return "waiting for b"; }).empty());
}

TEST_CASE("a line that changes is said when it is next looked at") {
    const auto line = [](long second) { return second < 12 ? "no name" : "nobody listens"; };
    CHECK(said(80, line) == std::vector<long>{5, 15, 75});
}

TEST_CASE("a line that changes all the time is said every five seconds, no more often") {
    CHECK(said(20, [](long second) { return std::to_string(second); }) ==
          std::vector<long>{5, 10, 15, 20});
}

}  // namespace ako::waiting_line_test
