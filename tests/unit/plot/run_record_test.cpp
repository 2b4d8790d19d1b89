// What the folder of a run tells: whole, under way, after a restart, and damaged.
#include "src/plot/run_record.h"

#include <doctest/doctest.h>

#include "ako/error.h"
#include "tests/contains.h"
#include "tests/unit/plot/recorded_run.h"

namespace ako::run_record_test {

using test::contains;
using test::line_at;
using test::RecordedRun;

namespace {

/// What reading this folder is refused with.
std::string refusal(const std::string& folder) {
    try {
        read_run(folder);
    } catch (const StartupError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a run that is over is read whole, its peers in the order of the cluster file") {
    const RecordedRun folder;
    for (const char* const peer : {"a", "b", "extra"})
        for (const double seconds : {1.0, 2.0}) folder.add(peer, line_at(seconds, 3 - seconds));
    folder.write("config.yaml", test::config_text);
    folder.write("summary.json", test::summary_text);
    folder.write("curve.json", test::curve_text);
    const RunRecord run = read_run(folder.path());
    REQUIRE(run.peers.size() == 3);
    CHECK(run.peers[0].name == "b");
    CHECK(run.peers[1].name == "a");
    CHECK(run.peers[2].name == "extra");
    const PeerRecord& peer = run.peers[1];
    REQUIRE(peer.moments.size() == 2);
    CHECK(peer.moments[1].seconds == 2);
    CHECK(peer.moments[1].loss == 1);
    CHECK(peer.moments[1].samples_per_s == 32);
    CHECK(peer.moments[1].partitions == 4);
    CHECK(peer.moments[1].staleness_rounds == 2);
    CHECK(peer.samples == 64);
    CHECK(peer.ingress_bytes == 4000);
    CHECK(peer.processes() == 1);
    REQUIRE(run.settings);
    CHECK(run.settings->run == "mnist");
    REQUIRE(run.outcome);
    CHECK(run.outcome->accuracy == 0.9929);
    CHECK(run.outcome->lost_peers == std::vector<std::string>{"c"});
    REQUIRE(run.curve.size() == 2);
    CHECK(run.curve[1].accuracy == 0.95);
    CHECK(run.seconds() == 2);
}

TEST_CASE("of a run under way the metrics are enough, without a line that is being written") {
    const RecordedRun folder;
    folder.add("a", line_at(1, 2));
    const std::string next = to_json_text(line_at(2, 1));
    folder.write("metrics-a.jsonl", next.substr(0, next.size() / 2));
    RunRecord run = read_run(folder.path());
    REQUIRE(run.peers.size() == 1);
    CHECK(run.peers[0].moments.size() == 1);
    CHECK_FALSE(run.outcome);
    CHECK_FALSE(run.settings);
    CHECK(run.curve.empty());
    folder.write("metrics-a.jsonl", next.substr(next.size() / 2));  // all but its end
    CHECK(read_run(folder.path()).peers[0].moments.size() == 1);
    folder.write("metrics-a.jsonl", "\n");
    CHECK(read_run(folder.path()).peers[0].moments.size() == 2);
}

TEST_CASE("time goes on where a peer is started again, and what it did adds up") {
    const RecordedRun folder;
    for (const double seconds : {1.0, 2.0, 3.0}) folder.add("a", line_at(seconds, 1));
    for (const double seconds : {0.5, 1.0, 1.5}) folder.add("a", line_at(seconds, 1));
    const PeerRecord peer = read_run(folder.path()).peers.at(0);
    REQUIRE(peer.moments.size() == 6);
    CHECK(peer.processes() == 2);
    CHECK(peer.moments[2].process == 0);
    CHECK(peer.moments[3].process == 1);
    CHECK(peer.moments[3].seconds == 3.5);
    CHECK(peer.moments[5].seconds == 4.5);
    CHECK(peer.samples == 32 * (3 + 1));
    CHECK(peer.egress_bytes == 1000 * (3 + 1));
    CHECK(peer.cpu_seconds == doctest::Approx(1.5 + 0.75));
    CHECK(peer.newest.time == 1.5);
}

TEST_CASE("a process that died within its first line is told from the next by its processor time") {
    const RecordedRun folder;
    MetricsLine first = line_at(1, 2);
    first.cpu_seconds = 0.9;
    MetricsLine second = line_at(1.001, 2);
    second.cpu_seconds = 0.3;
    folder.add("a", first);
    folder.add("a", second);
    const PeerRecord peer = read_run(folder.path()).peers.at(0);
    CHECK(peer.processes() == 2);
    CHECK(peer.moments[1].seconds == doctest::Approx(2.001));
}

TEST_CASE("what no round stands behind is not drawn") {
    const RecordedRun folder;
    MetricsLine line = line_at(1, 2);
    line.phase = "waiting";
    line.round = 0;
    folder.add("a", line);
    line = line_at(2, 2);
    line.links[0].live = false;
    folder.add("a", line);
    line = line_at(3, 2);      // with a live link
    line.phase = "finishing";  // the rounds since the line before
    folder.add("a", line);
    line.time = 3.25;
    line.round = 5;  // too few rounds for a mean
    folder.add("a", line);
    line.time = 4;
    line.samples_per_s = 0;
    folder.add("a", line);
    const std::vector<PeerMoment> moments = read_run(folder.path()).peers.at(0).moments;
    CHECK_FALSE(moments[0].samples_per_s);
    CHECK(moments[1].samples_per_s);
    CHECK_FALSE(moments[1].partitions);
    CHECK_FALSE(moments[1].staleness_rounds);
    CHECK(moments[2].samples_per_s);
    CHECK_FALSE(moments[2].partitions);  // a matter of the final exchange
    for (const std::size_t after : {3, 4}) {
        CHECK_FALSE(moments[after].samples_per_s);
        CHECK_FALSE(moments[after].loss);
    }
}

TEST_CASE("what cannot be read is named, with its line") {
    const RecordedRun folder;
    CHECK(contains(refusal(folder.file("nowhere")), "nowhere: there is no such folder"));
    CHECK(contains(refusal(folder.path()), "there are no metrics (metrics-<peer>.jsonl) in it"));
    folder.write("metrics-a.jsonl", "");
    CHECK(contains(refusal(folder.path()), "its metrics have no whole line yet"));
    CHECK(contains(refusal(folder.file("metrics-a.jsonl")), "this is no folder"));
    folder.add("a", line_at(1, 2));
    CHECK(refusal(folder.path()).empty());
    folder.write("metrics-a.jsonl", "\n{\"time\": 2}\n");  // an empty line is none
    CHECK(contains(refusal(folder.path()), "metrics-a.jsonl:3: no line of metrics"));
}

TEST_CASE("what lies beside the metrics must be what it is called") {
    const RecordedRun folder;
    folder.add("a", line_at(1, 2));
    folder.write("summary.json", "{}");
    CHECK(contains(refusal(folder.path()), "summary.json: cannot be understood: "));
    std::filesystem::remove(folder.file("summary.json"));
    folder.write("curve.json", "[");
    CHECK(contains(refusal(folder.path()), "curve.json: cannot be understood: "));
    std::filesystem::remove(folder.file("curve.json"));
    folder.write("config.yaml", "run: [");
    CHECK(contains(refusal(folder.path()), "config.yaml:"));
}

}  // namespace ako::run_record_test
