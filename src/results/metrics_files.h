// The files of a peer's metrics: a line a second into each of
//
//   metrics-<peer>.jsonl  all of it: see metrics_line.h
//   metrics-<peer>.csv    the peer's own values, below a line that names them: see metrics_csv.h
//
// A full disk costs either of them the lines of that time, which each says once (line_file.h). One
// thread at a time.
#pragma once

#include <string>

#include "src/results/line_file.h"
#include "src/results/metrics_line.h"

namespace ako {

class MetricsFiles {
  public:
    /// `stem`: their path without its ending. `goes_on`: after the lines that an earlier process of
    /// this peer has left there. Throws StartupError.
    MetricsFiles(const std::string& stem, bool goes_on, const LineFile::Say& say);

    void write(const MetricsLine& line);

  private:
    LineFile json_;
    LineFile csv_;
};

}  // namespace ako
