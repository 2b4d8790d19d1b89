// The metrics as CSV: a line of them, letter by letter, and the file that they make.
#include "src/results/metrics_csv.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>

#include "ako/error.h"
#include "src/results/metrics_files.h"
#include "tests/temporary_folder.h"

namespace ako::metrics_csv_test {

namespace {

LinkLine live_link(double partitions, std::uint64_t staleness_rounds) {
    LinkLine link;
    link.live = true;
    link.partitions = partitions;
    link.staleness_rounds = staleness_rounds;
    return link;
}

MetricsLine full_line() {
    MetricsLine line;
    line.time = 12.0034;
    line.phase = "training";
    line.round = 99;
    line.samples = 3168;
    line.samples_per_s = 3144.4981;
    line.loss = 0.7353078588993862;
    line.accuracy = 0.9887;
    line.accuracy_at = 0.25;
    line.noise_scale = 412.5;
    line.learners = 3;
    line.losses_not_finite = 2;
    line.progress = 0.4375;
    line.egress_bytes = 13640508;
    line.ingress_bytes = 14079324;
    line.egress_mbit = 108.3154;
    line.ingress_mbit = 111.8;
    line.cpu_seconds = 0.667;
    line.memory_bytes = 115412992;
    line.round_parts[RoundPart::gradient].seconds = 0.573;
    line.round_parts[RoundPart::wait].seconds = 0.399;
    line.round_parts[RoundPart::input].seconds = 0.003;
    line.links = {live_link(10, 3), live_link(11, 7), live_link(0, 2), LinkLine{}};
    line.links[3].staleness_rounds = 500;  // of one that is not live
    return line;
}

std::string content(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

void ignore(const std::string&) {}

}  // namespace

TEST_CASE("a line of CSV has the peer's values below their names, rounded as in JSON") {
    CHECK(metrics_csv_head() ==
          "time,phase,round,samples,samples_per_s,loss,accuracy,accuracy_at,progress,"
          "egress_bytes,ingress_bytes,egress_mbit,ingress_mbit,cpu_seconds,memory_bytes,"
          "apply_seconds,input_seconds,gradient_seconds,wait_seconds,publish_seconds,partitions,"
          "staleness_rounds,noise_scale,learners,losses_not_finite");
    CHECK(to_csv_text(full_line()) ==
          "12.003,training,99,3168,3144.498,0.7353078588993862,0.9887,0.25,0.4375,"
          "13640508,14079324,108.315,111.8,0.667,115412992,"
          "0,0.003,0.573,0.399,0,10.5,7,412.5,3,2");
}

TEST_CASE("nothing stands where a value is not known, and no column is lost") {
    MetricsLine line;
    line.phase = "waiting";
    CHECK(to_csv_text(line) == "0,waiting,0,0,0,,,,0,0,0,0,0,0,,0,0,0,0,0,,,,1,0");
    line = full_line();
    line.loss = std::numeric_limits<double>::quiet_NaN();
    line.links = {LinkLine{}};
    const std::string text = to_csv_text(line);
    CHECK(text.find(",3144.498,,0.9887,") != std::string::npos);
    CHECK(text.ends_with(",0.399,0,,,412.5,3,2"));
    const std::string head = metrics_csv_head();
    CHECK(std::count(text.begin(), text.end(), ',') == std::count(head.begin(), head.end(), ','));
}

TEST_CASE("a process that is started again goes on below the lines of the one before") {
    const test::TemporaryFolder folder;
    const std::string stem = folder.file("metrics-a");
    MetricsLine line;
    line.phase = "waiting";
    {
        MetricsFiles files(stem, false, ignore);
        CHECK(content(stem + ".csv").empty());
        files.write(line);
        line.time = 1;
        files.write(line);
    }
    const std::string rows =
        metrics_csv_head() + "\n0,waiting,0,0,0,,,,0,0,0,0,0,0,,0,0,0,0,0,,,,1,0\n";
    CHECK(content(stem + ".csv") == rows + "1,waiting,0,0,0,,,,0,0,0,0,0,0,,0,0,0,0,0,,,,1,0\n");
    std::ofstream(stem + ".csv") << rows << "1,wait";  // as a process that is killed leaves it
    MetricsFiles(stem, true, ignore).write(line);
    CHECK(content(stem + ".csv") == rows + "1,waiting,0,0,0,,,,0,0,0,0,0,0,,0,0,0,0,0,,,,1,0\n");
    const std::string json = content(stem + ".jsonl");
    CHECK(std::count(json.begin(), json.end(), '\n') == 3);
    MetricsFiles(stem, false, ignore).write(line);
    CHECK(content(stem + ".csv") ==
          metrics_csv_head() + "\n1,waiting,0,0,0,,,,0,0,0,0,0,0,,0,0,0,0,0,,,,1,0\n");
}

TEST_CASE("a disk that is full from the beginning costs the CSV lines, and not their names") {
    const test::TemporaryFolder folder;
    const std::string stem = folder.file("metrics-a");
    std::filesystem::create_symlink("/dev/full", stem + ".csv");
    std::vector<std::string> said;
    MetricsLine line;
    line.phase = "waiting";
    {
        MetricsFiles files(stem, true, [&said](const std::string& text) { said.push_back(text); });
        files.write(line);
        files.write(line);
    }
    REQUIRE(said.size() == 1);
    CHECK(said[0].find("metrics-a.csv: no metrics as CSV while it cannot be written") !=
          std::string::npos);
    CHECK(content(stem + ".jsonl").size() > 100);
    std::filesystem::remove(stem + ".csv");
    MetricsFiles(stem, true, ignore).write(line);  // there is room again
    CHECK(content(stem + ".csv").starts_with("time,phase,"));
}

TEST_CASE("metrics that cannot be opened as CSV are said with their name") {
    const test::TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("metrics-a.csv"));
    CHECK_THROWS_AS(MetricsFiles(folder.file("metrics-a"), false, ignore), StartupError);
}

}  // namespace ako::metrics_csv_test
