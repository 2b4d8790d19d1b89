// What `ako train` says in a pipe: how often, and what.
#include "src/screen/progress_lines.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "tests/contains.h"

namespace ako::progress_lines_test {

using test::contains;

namespace {

MetricsLine line_of(const std::string& phase, double progress) {
    MetricsLine line;
    line.phase = phase;
    line.progress = progress;
    line.round = static_cast<std::uint64_t>(progress * 10000);
    line.samples_per_s = 612;
    line.loss = 0.4321;
    line.links.resize(1);
    line.links[0].peer = "b";
    line.links[0].presence = Presence::up;
    line.links[0].live = true;
    return line;
}

/// All that is said of a run of so many seconds, once it is over.
std::string said_of(int seconds) {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    {
        Console console(ends[1], ends[1]);
        ProgressLines lines(console, "a");
        RunState state("r", 4, {"a", "b"}, 0);
        const auto at = [&](double second, const std::string& phase, double progress) {
            state.take_line(0, line_of(phase, progress), second);
            state.refresh(second);
            lines.show_second(state);
        };
        state.refresh(0.5);
        lines.show_second(state);
        for (int second = 1; second <= 3; ++second) at(second, "waiting", 0);
        for (int second = 4; second < seconds; ++second) {
            at(second, second % 5 == 0 ? "waiting" : "training", second / 100.0);
        }
        at(seconds, "finishing", 1);
        at(seconds + 1, "done", 1);
        lines.close(state);
    }
    close(ends[1]);
    std::string text;
    std::array<char, 65536> buffer;
    for (ssize_t count = 0; (count = read(ends[0], buffer.data(), buffer.size())) > 0;)
        text.append(buffer.data(), static_cast<std::size_t>(count));
    close(ends[0]);
    return text;
}

}  // namespace

TEST_CASE("a line every ten seconds and for what is new, with progress and time left") {
    const std::string said = said_of(50);
    CAPTURE(said);
    CHECK(std::count(said.begin(), said.end(), '\n') == 6);  // at 4, 14, 24, 34, 44 and the end
    CHECK(contains(said, "%  epoch 0.56 of 4  1:26 left  round 1,400"));
    CHECK(contains(said, "  100 %  epoch 4.00 of 4  round 10,000  final exchange\n"));
    CHECK(!contains(said, "done"));
}

TEST_CASE("what a line says of training") {
    RunState state("r", 4, {"a", "b"}, 0);
    MetricsLine line = line_of("training", 0.127);
    line.accuracy = 0.9731;
    line.egress_mbit = 12.34;
    line.ingress_mbit = 11;
    state.take_line(0, line, 1);
    state.refresh(1);
    CHECK(progress_text(state) ==
          "12 %  epoch 0.51 of 4  round 1,270  612 samples/s  loss 0.4321  test 97.31 %  "
          "out 12.3 in 11.0 Mbit/s  2 of 2 peers");
}

}  // namespace ako::progress_lines_test
