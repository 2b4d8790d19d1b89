// The display of `ako launch` as text, for files and pipes: a table with a row per second and peer,
// and the peers' log lines between its rows. No control characters. One thread, which never waits
// for who reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/results/metrics_line.h"
#include "src/screen/run_view.h"
#include "src/system/console.h"

namespace ako {

class RunDisplay final : public RunView {
  public:
    /// The console must outlive it.
    RunDisplay(Console& console, const std::vector<std::string>& peer_names);

    void show_log(const LogEntry& entry) override;
    void show_second(const RunState& state) override;
    void close(const RunState&) override {}

  private:
    void show_row(double seconds, const std::string& name, const MetricsLine& line);
    /// A row of a peer that makes no rounds now: `round` is its last, `doing` what it does instead.
    void show_doing(double seconds, const std::string& name, std::uint64_t round,
                    const std::string& doing);
    void write_row(const std::string& row);

    Console& console_;
    const std::size_t name_width_;  // constant after construction
    std::size_t rows_since_header_;
    struct Shown {
        std::string doing;
        double seconds;
    };
    std::map<std::string, Shown> shown_;  ///< by peer: its newest row without figures
};

}  // namespace ako
