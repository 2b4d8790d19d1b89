#include "src/results/metrics_files.h"

#include "src/results/metrics_csv.h"

namespace ako {

MetricsFiles::MetricsFiles(const std::string& stem, bool goes_on, const LineFile::Say& say)
    : json_(stem + ".jsonl", goes_on, "metrics", say),
      csv_(stem + ".csv", goes_on, "metrics as CSV", say) {}

void MetricsFiles::write(const MetricsLine& line) {
    json_.write(to_json_text(line));
    // With the first line, so that no disk is ever full between the two.
    const std::string head = csv_.empty() ? metrics_csv_head() + "\n" : "";
    csv_.write(head + to_csv_text(line));
}

}  // namespace ako
