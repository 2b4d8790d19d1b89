#include "src/results/run_folder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

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
void link_latest(FileLayer& files, const fs::path& folder) {
    const fs::path latest = folder.parent_path() / "latest";
    const fs::path fresh =
        folder.parent_path() / fmt::format(".latest-{}", folder.filename().string());
    std::error_code error;
    const fs::file_status there = fs::symlink_status(latest, error);
    if (fs::exists(there) && !fs::is_symlink(there)) return;  // it is the user's
    error.clear();
    fs::create_symlink(folder.filename(), fresh, error);
    if (!error) fs::rename(fresh, latest, error);
    if (error)
        fs::remove(fresh, error);
    else  // one that is lost with the power is no loss of the run
        (void)files.sync_folder(folder.parent_path().string());
}

/// Folders whose names are to be on the disk, the lowest first.
class MadeFolders {
  public:
    /// Makes the folder, and those above it that lack. One that is there may be as new.
    std::error_code make(const fs::path& folder) {
        std::error_code error, unknown;
        fs::path at = fs::absolute(folder, error).lexically_normal();
        if (!at.has_filename()) at = at.parent_path();
        do {
            made_.push_back(at.string());
            at = at.parent_path();
        } while (at.has_relative_path() && !fs::exists(at, unknown));
        if (!error) fs::create_directories(folder, error);
        return error;
    }
    void add(const fs::path& folder) { made_.insert(made_.begin(), folder.string()); }
    /// Their names are in the folders above them.
    void sync(FileLayer& files) const {
        for (const std::string& folder : made_) {
            const std::string above = fs::path(folder).parent_path().string();
            if (const auto synced = files.sync_folder(above.empty() ? "." : above); !synced)
                throw StartupError(above + ": cannot be synced: " + synced.error().what,
                                   "is the disk sound?");
        }
    }

  private:
    std::vector<std::string> made_;
};

[[noreturn]] void refuse_folder(const std::string& chosen, const std::error_code& error) {
    throw StartupError(
        fmt::format("--output-dir: the folder {} cannot be made: {}", chosen, error.message()),
        "is it writable, or is something else of that name there?");
}

/// After a loss of power somebody may want to go on with this run.
void write_settings(FileLayer& files, const fs::path& folder, const MadeFolders& made,
                    const Settings& settings) {
    const std::string path = (folder / "config.yaml").string();
    const std::string text = write_cluster_text(settings);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
    const auto written = write_durable_file(files, path, path + ".new", std::span(&bytes, 1));
    if (!written)
        throw StartupError(path + ": cannot be written: " + written.error().what,
                           "is the disk full, the folder writable?");
    made.sync(files);
}

}  // namespace

std::string make_run_folder(FileLayer& files, const Settings& settings) {
    const std::string stem = fmt::format("{}-{}", settings.run, time_text());
    MadeFolders made;
    std::error_code error = made.make(settings.output);
    fs::path folder = fs::path(settings.output) / stem;
    bool own = false;
    for (int again = 2; !error && !own && again < same_second_max; ++again) {
        own = fs::create_directory(folder, error);
        if (!own && !error) folder = fs::path(settings.output) / fmt::format("{}-{}", stem, again);
    }
    if (!own)
        throw StartupError(fmt::format("output: the folder {} cannot be made: {}", folder.string(),
                                       error.message()),
                           "set another one with --set output=FOLDER");
    made.add(folder);
    write_settings(files, folder, made, settings);
    return folder.string();
}

std::string make_run_folder(FileLayer& files, const Settings& settings, const std::string& chosen) {
    std::error_code error;
    const fs::path folder = fs::absolute(chosen, error).lexically_normal();
    MadeFolders made;
    if (!error) error = made.make(folder);
    const bool empty = !error && fs::is_empty(folder, error);
    if (error) refuse_folder(chosen, error);
    if (!empty)
        throw StartupError(fmt::format("--output-dir: the folder {} is not empty", chosen),
                           "results of two runs must not mix: name a new folder");
    write_settings(files, folder, made, settings);
    return folder.string();
}

void require_folder(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) refuse_folder(folder, error);
}

void LatestRun::trained(FileLayer& files) {
    if (!folder_.empty()) link_latest(files, folder_);
    folder_.clear();
}

}  // namespace ako
