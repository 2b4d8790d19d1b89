// What Prometheus scrapes. Its own checker reads the same in tests/e2e.
#include "src/observe/prometheus_text.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>

#include "tests/unit/observe/observed_example.h"

namespace ako::prometheus_text_test {

namespace {

/// Values by name and labels; fails where a sample stands apart from its metric's head.
std::map<std::string, std::string> samples_of(const std::string& text) {
    std::map<std::string, std::string> samples;
    std::set<std::string> heads;
    std::string metric;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# HELP ")) {
            metric = line.substr(7, line.find(' ', 7) - 7);
            CHECK_MESSAGE(heads.insert(metric).second, metric << " begins twice");
        } else if (!line.starts_with("# TYPE ")) {
            const std::string name = line.substr(0, line.find_first_of("{ "));
            const bool of_histogram = name == metric + "_bucket" || name == metric + "_sum" ||
                                      name == metric + "_count";
            CHECK_MESSAGE((name == metric || of_histogram), line);
            const std::size_t end = line.rfind(' ');
            CHECK(samples.emplace(line.substr(0, end), line.substr(end + 1)).second);
        }
    }
    return samples;
}

}  // namespace

TEST_CASE("a peer's figures as metrics, in base units, with the other end of a link as label") {
    auto samples = samples_of(prometheus_text(observed_example()));
    CHECK(samples["ako_rounds_total"] == "321");
    CHECK(samples["ako_samples_total"] == "20544");
    CHECK(samples["ako_progress_ratio"] == "0.43");
    CHECK(samples["ako_training_loss"] == "0.25");
    CHECK(samples["ako_sent_bytes_per_second"] == "2000000");
    CHECK(samples["ako_run_info{run=\"three\",name=\"a\",mode=\"ako\",model=\"lenet\"}"] == "1");
    CHECK(samples["ako_phase_info{phase=\"training\"}"] == "1");
    CHECK(samples["ako_link_sent_bytes_total{peer=\"b\"}"] == "123456789");
    CHECK(samples["ako_link_staleness_seconds{peer=\"b\"}"] == "0.21");
    CHECK(samples["ako_link_up_ratio{peer=\"b\"}"] == "1");
    CHECK(samples["ako_link_up_ratio{peer=\"c\"}"] == "0");
    CHECK(samples["ako_link_rejects_total{peer=\"b\",field=\"run_name\"}"] == "2");
    CHECK(samples["ako_link_presence_info{peer=\"c\",presence=\"lost\",standing=\"lost\"}"] == "1");
    CHECK(samples["ako_losses_not_finite_total"] == "2");
    CHECK(samples["ako_link_standing_seconds{peer=\"c\"}"] == "3");
    CHECK(samples["ako_refused_blocks_total{peer=\"b\",reason=\"damaged\"}"] == "3");
    CHECK(samples["ako_refused_blocks_total{peer=\"b\",reason=\"diverged\"}"] == "0");
    CHECK(samples["ako_memory_planned_bytes{purpose=\"rows of the others\"}"] == "8000");
}

TEST_CASE("how a peer ended, if it did by a failure") {
    Observed observed = observed_example();
    const std::string text = prometheus_text(observed);
    CHECK(text.find("ako_link_ended_info") == std::string::npos);
    LinkLine& link = observed.line.links[1];
    link.presence = Presence::left;
    link.ended = "program";
    link.why = "ended: \"x\"";
    auto samples = samples_of(prometheus_text(observed));
    CHECK(samples[R"(ako_link_ended_info{peer="c",cause="program",why="ended: \"x\""})"] == "1");
    CHECK(samples[R"(ako_link_presence_info{peer="c",presence="left",standing="ended"})"] == "1");
}

TEST_CASE("whether the final exchange agreed is said once it is over") {
    Observed observed = observed_example();
    CHECK(samples_of(prometheus_text(observed)).count("ako_finish_agreed_ratio") == 0);
    observed.line.agreed = false;
    CHECK(samples_of(prometheus_text(observed))["ako_finish_agreed_ratio"] == "0");
    observed.line.agreed = true;
    CHECK(samples_of(prometheus_text(observed))["ako_finish_agreed_ratio"] == "1");
}

TEST_CASE("the parts of a round as histograms, whose bins contain those before") {
    Observed observed = observed_example();
    PartDurations& gradient = observed.line.round_parts[RoundPart::gradient];
    gradient.add(std::chrono::milliseconds(1));  // at the bound
    gradient.add(std::chrono::milliseconds(30));
    gradient.add(std::chrono::seconds(60));
    auto samples = samples_of(prometheus_text(observed));
    const auto bucket = [&samples](const std::string& bound) {
        return samples["ako_round_seconds_bucket{part=\"gradient\",le=\"" + bound + "\"}"];
    };
    CHECK(bucket("0.0005") == "0");
    CHECK(bucket("0.001") == "1");
    CHECK(bucket("0.02") == "1");
    CHECK(bucket("0.05") == "2");
    CHECK(bucket("5") == "2");
    CHECK(bucket("+Inf") == "3");
    CHECK(samples["ako_round_seconds_count{part=\"gradient\"}"] == "3");
    CHECK(samples["ako_round_seconds_sum{part=\"gradient\"}"] == "60.031");
    CHECK(samples["ako_round_seconds_count{part=\"wait\"}"] == "0");
}

TEST_CASE("what is not known is left out") {
    auto samples = samples_of(prometheus_text(observed_example()));
    CHECK(samples.count("ako_test_accuracy_ratio") == 0);
    CHECK(samples.count("ako_link_partitions{peer=\"b\"}") == 1);
    CHECK(samples.count("ako_link_partitions{peer=\"c\"}") == 0);
    CHECK(samples.count("ako_peer_training_loss{peer=\"c\"}") == 0);
}

TEST_CASE("numbers that are none, and texts with quotes") {
    Observed observed = observed_example();
    observed.line.loss = std::numeric_limits<double>::infinity();
    observed.run.run = "a \"b\"\\\n";
    auto samples = samples_of(prometheus_text(observed));
    CHECK(samples["ako_training_loss"] == "+Inf");
    CHECK(samples.count(
              "ako_run_info{run=\"a \\\"b\\\"\\\\\\n\",name=\"a\",mode=\"ako\",model=\"lenet\"}") ==
          1);
}

}  // namespace ako::prometheus_text_test
