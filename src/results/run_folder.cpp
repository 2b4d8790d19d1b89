#include "src/results/run_folder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "ako/error.h"
#include "src/config/cluster_file.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

/// Runs begun in the same second get a number; more than this many are a loop gone wild.
constexpr int same_second_max = 1000;

std::string time_text() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    return fmt::format("{:%Y%m%d-%H%M%S}", fmt::localtime(now));
}

/// A file system without links is no reason not to train.
void link_latest(const fs::path& folder) {
    const fs::path latest = folder.parent_path() / "latest";
    const fs::path fresh =
        folder.parent_path() / fmt::format(".latest-{}", folder.filename().string());
    std::error_code error;
    fs::create_symlink(folder.filename(), fresh, error);
    if (!error) fs::rename(fresh, latest, error);
    if (error) fs::remove(fresh, error);
}

}  // namespace

std::string make_run_folder(const Settings& settings) {
    const std::string stem = fmt::format("{}-{}", settings.run, time_text());
    std::error_code error;
    fs::create_directories(settings.output, error);
    fs::path folder = fs::path(settings.output) / stem;
    bool made = false;
    for (int again = 2; !error && !made && again < same_second_max; ++again) {
        made = fs::create_directory(folder, error);
        if (!made) folder = fs::path(settings.output) / fmt::format("{}-{}", stem, again);
    }
    if (!made)
        throw StartupError(fmt::format("output: the folder {} cannot be made: {}", folder.string(),
                                       error.message()),
                           "set another one with --set output=FOLDER");
    write_whole_file((folder / "config.yaml").string(), write_cluster_text(settings));
    return folder.string();
}

std::string make_run_folder(const Settings& settings, const std::string& chosen) {
    std::error_code error;
    const fs::path folder = fs::absolute(chosen, error).lexically_normal();
    if (!error) fs::create_directories(folder, error);
    const bool empty = !error && fs::is_empty(folder, error);
    if (error)
        throw StartupError(
            fmt::format("--output-dir: the folder {} cannot be made: {}", chosen, error.message()),
            "is it writable, or is something else of that name there?");
    if (!empty)
        throw StartupError(fmt::format("--output-dir: the folder {} is not empty", chosen),
                           "results of two runs must not mix: name a new folder");
    write_whole_file((folder / "config.yaml").string(), write_cluster_text(settings));
    return folder.string();
}

void LatestRun::trained() {
    if (!folder_.empty()) link_latest(folder_);
    folder_.clear();
}

}  // namespace ako
