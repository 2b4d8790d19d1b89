// A metrics line as CSV: what metrics_line.h says of a peer without its links, for spreadsheets and
// data frames. A line ends with a line feed alone; numbers have a point; nothing stands where a
// value is not known. Pure functions; any thread.
//
//   time, phase, round, samples, samples_per_s, loss, accuracy, accuracy_at, progress,
//   egress_bytes, ingress_bytes, egress_mbit, ingress_mbit, cpu_seconds, memory_bytes
//                     as in the metrics line
//   apply_seconds, input_seconds, gradient_seconds, wait_seconds, publish_seconds
//                     of all rounds so far: round_parts.h
//   partitions        P: the mean over the live links that know theirs
//   staleness_rounds  the largest of a live link
//   noise_scale, learners, losses_not_finite
//                     as in the metrics line
#pragma once

#include <string>

#include "src/results/metrics_line.h"

namespace ako {

/// The names of the columns: the first line of a file. Without the line break, as the next.
std::string metrics_csv_head();
std::string to_csv_text(const MetricsLine& line);

}  // namespace ako
