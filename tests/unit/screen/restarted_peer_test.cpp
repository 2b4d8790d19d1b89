// A peer that was started again: what people are shown of it, and that its files go on.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "src/results/metrics.h"
#include "src/results/milestone_file.h"
#include "src/results/summary.h"
#include "src/screen/peer_table.h"
#include "tests/contains.h"
#include "tests/fakes/hand_clock.h"
#include "tests/fakes/no_transport.h"

namespace ako::restarted_peer_test {

using std::chrono::seconds;
using test::contains;

namespace {

using Mood = PeerState::Mood;

MetricsLine trains(std::uint64_t round) {
    MetricsLine line;
    line.phase = "training";
    line.round = round;
    line.egress_bytes = 1000;
    return line;
}

/// All rows, without colours.
std::string table(const RunState& state, std::size_t columns = 100) {
    std::string text;
    for (const ScreenLine& line : peer_table(state, 0, 9, columns))
        text += line.text(columns, false) + "\n";
    return text;
}

struct File {
    explicit File(const std::string& name)
        : path((std::filesystem::temp_directory_path() / name).string()) {
        std::filesystem::remove(path);
    }
    ~File() { std::filesystem::remove(path); }
    std::string text() const {
        std::ifstream in(path);
        std::ostringstream out;
        out << in.rdbuf();
        return out.str();
    }
    const std::string path;
};

}  // namespace

TEST_CASE("the row of a peer that died says when it starts again, and then how often it has") {
    RunState state("r", 1, {"a", "b"});
    state.take_line(0, trains(10), 1);
    state.take_line(1, trains(12), 1);
    state.refresh(1);
    CHECK_FALSE(contains(table(state), "restarts"));
    state.take_exit(1, -9);
    state.take_restart(1, 4);
    state.refresh(1.5);
    CHECK(state.peers()[1].doing == "ended by signal 9, starts again in 3 s");
    CHECK(state.peers()[1].mood == Mood::ill);
    state.take_start(1);
    state.refresh(4);
    CHECK(state.peers()[1].doing == "starting again");
    CHECK(state.peers()[1].mood == Mood::waits);
    CHECK(state.peers()[1].line.round == 12);
    CHECK(state.peers()[1].line.egress_bytes == 0);  // of its process
    state.take_line(1, trains(13), 5);
    state.take_line(0, trains(20), 5);
    state.refresh(5);
    CHECK(state.peers()[1].mood == Mood::trains);
    CHECK(contains(table(state), "restarts"));
    state.take_exit(1, 0);
    state.refresh(6);
    CHECK(contains(table(state), "received   1 restart\n"));
    // One whose restart is called off.
    state.take_exit(0, -9);
    state.take_restart(0, 9);
    state.take_restart(0, std::nullopt);
    state.refresh(7);
    CHECK(state.peers()[0].doing == "ended by signal 9");
}

TEST_CASE("the summary counts restarts") {
    Summary summary;
    PeerResult result;
    result.name = "c";
    result.restarts = 2;
    result.rounds = 40;
    result.agreed = true;
    summary.peers = {result};
    CHECK(contains(summary.json(), R"("restarts": 2)"));
    CHECK(contains(summary.text("f"), "c died and was started again 2 times\n"));
    summary.peers[0].restarts = 1;
    CHECK(contains(summary.text("f"), "c died and was started again once\n"));
    summary.peers[0].restarts = 0;
    CHECK_FALSE(contains(summary.text("f"), "started again"));
}

TEST_CASE("metrics go on after the whole lines of the process before, or begin anew") {
    const File file("ako-restarted-metrics-test.jsonl");
    const File csv("ako-restarted-metrics-test.csv");
    std::ofstream(file.path) << "first\nsecond\nunfinis";
    std::ofstream(csv.path) << "names\n1\n2,";
    const test::NoTransport transport;
    const test::HandClock clock;
    const auto make = [&](bool goes_on) {
        return Metrics(
            file.path.substr(0, file.path.rfind('.')), [](const MetricsLine&) {},
            [](const std::string&) {}, {"a"}, 0, transport, clock, goes_on);
    };
    make(true).last();
    CHECK(file.text().starts_with("first\nsecond\n{\"time\":"));
    CHECK(file.text().ends_with("}\n"));
    CHECK(csv.text().starts_with("names\n1\n0,waiting,"));
    make(false).last();
    CHECK(file.text().starts_with("{\"time\":"));
    CHECK(csv.text().starts_with("time,phase,"));
    for (const File* const gone : {&file, &csv}) std::filesystem::remove(gone->path);
    make(true).last();
    CHECK(file.text().starts_with("{\"time\":"));
    CHECK(csv.text().starts_with("time,phase,"));
}

TEST_CASE("milestones of two processes are one file, by the clock of the first") {
    const File file("ako-restarted-milestones-test");
    const std::vector<float> parameters = {1, 2};
    const auto write = [&](bool goes_on, double at, Time began) {
        MilestoneWriter writer(
            file.path, 2, [](const std::string&) {}, goes_on);
        CurvePoint point;
        point.seconds = at;
        writer.append(point, began, parameters);
    };
    write(false, 3, seconds(100));
    // Killed in the middle of the next one.
    std::filesystem::resize_file(file.path, std::filesystem::file_size(file.path) + 11);
    write(true, 2, seconds(110));
    MilestoneReader reader(file.path, 2);
    std::vector<float> read(2);
    REQUIRE(reader.count() == 2);
    CHECK(reader.next(read).seconds == 3);
    CHECK(reader.next(read).seconds == 12);
    CHECK(read == parameters);
    CHECK(reader.began() == Time(seconds(100)));
    write(false, 1, seconds(120));
    CHECK(MilestoneReader(file.path, 2).count() == 1);
    // Nothing was there, or not even a head.
    std::ofstream(file.path) << "ako";
    write(true, 1, seconds(130));
    CHECK(MilestoneReader(file.path, 2).count() == 1);
}

}  // namespace ako::restarted_peer_test
