// See run_standing.h.
#include "src/results/run_standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "src/results/metrics_line.h"
#include "src/system/whole_file.h"

namespace ako {
namespace {

namespace fs = std::filesystem;

/// The last line of a metrics file is within these; 64 links have 22 kB.
constexpr std::streamoff last_line_bytes = 1 << 16;

std::optional<MetricsLine> last_line(const fs::path& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    const std::streamoff end = file.tellg();
    if (!file || end <= 0) return std::nullopt;
    file.seekg(std::max<std::streamoff>(0, end - last_line_bytes));
    std::optional<MetricsLine> last;
    for (std::string text; std::getline(file, text);)
        if (auto line = parse_metrics_line(text)) last = std::move(line);
    return last;
}

std::string summary_words(const nlohmann::json& summary) {
    const int exit = summary.at("exit");
    std::string words = exit == 0 ? "" : fmt::format("exit {}, ", exit);
    const auto& accuracy = summary.at("accuracy");
    if (accuracy.is_number()) words += fmt::format("{:.2f} % ", 100 * accuracy.get<double>());
    words += fmt::format("after {:.0f} s", summary.at("seconds").get<double>());
    if (summary.at("replicas_identical").get<bool>()) words += ", identical";
    return words;
}

}  // namespace

std::string run_standing(const std::string& folder, const std::vector<std::string>& peers) {
    const std::string text = whole_text((fs::path(folder) / "summary.json").string());
    if (!text.empty()) try {
            return summary_words(nlohmann::json::parse(text));
        } catch (const nlohmann::json::exception&) {
            return "summary.json is damaged";
        }
    std::optional<MetricsLine> newest;
    for (const std::string& peer : peers) {
        auto line = last_line(fs::path(folder) / fmt::format("metrics-{}.jsonl", peer));
        if (line && (!newest || line->progress > newest->progress)) newest = std::move(line);
    }
    if (!newest) return "";
    return fmt::format("{}, {:.0f} %", newest->phase, 100 * newest->progress);
}

}  // namespace ako
