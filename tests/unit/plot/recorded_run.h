// A run's folder as its peers leave it, for tests of what `ako plot` makes of it.
#pragma once

#include <fstream>
#include <string>

#include "src/results/metrics_line.h"
#include "tests/temporary_folder.h"

namespace ako::test {

/// The line of a peer that has trained for so many seconds, a round in each, with one link.
inline MetricsLine line_at(double seconds, double loss) {
    MetricsLine line;
    line.time = seconds;
    line.phase = "training";
    line.round = static_cast<std::uint64_t>(seconds);
    line.samples = 32 * line.round;
    line.samples_per_s = 32;
    line.loss = loss;
    line.progress = seconds / 100;
    line.egress_bytes = 1000 * line.round;
    line.ingress_bytes = 2000 * line.round;
    line.cpu_seconds = seconds / 2;
    line.links.resize(1);
    line.links[0].peer = "other";
    line.links[0].live = true;
    line.links[0].partitions = 4;
    line.links[0].staleness_rounds = line.round % 5;
    return line;
}

class RecordedRun {
  public:
    const std::string& path() const { return folder_.path(); }
    std::string file(const std::string& name) const { return folder_.file(name); }
    /// At the end of a file of the folder.
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.file(name), std::ios::app) << text;
    }
    /// A whole line of the peer's metrics.
    void add(const std::string& peer, const MetricsLine& line) const {
        write("metrics-" + peer + ".jsonl", to_json_text(line) + "\n");
    }

  private:
    TemporaryFolder folder_;
};

constexpr const char* summary_text =
    R"({"run": "r", "seconds": 19.3, "accuracy": 0.9929, "replicas_identical": true,
 "finished_with": ["a", "b"], "lost_peers": ["c"], "digest": "ddea2afce146b94fbc4e", "exit": 0})";
constexpr const char* curve_text =
    R"({"points": [{"seconds": 4.5, "round": 9, "samples": 9, "progress": 0.5, "accuracy": 0.9,
 "loss": 0.2}, {"seconds": 9, "round": 18, "samples": 18, "progress": 1, "accuracy": 0.95,
 "loss": null}]})";
constexpr const char* config_text =
    "run: mnist\nmodel: synthetic\ntraining: {epochs: 4, target_accuracy: 0.97}\n"
    "peers: [{name: b, address: '127.0.0.1:7701'}, {name: a, address: '127.0.0.1:7702'}]\n";

}  // namespace ako::test
