#include "src/commands/resume_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "ako/error.h"
#include "src/results/checkpoint_file.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

void require_run_folder(const EarlierRun& run) {
    std::error_code error;
    const std::string option = run.option();
    if (fs::is_directory(run.folder, error)) return;
    if (fs::exists(run.folder, error))
        throw StartupError(
            option + ": " + run.folder + " is a file, not the folder of a run",
            "the cluster file goes first: ako launch " + run.folder + " " + option);
    throw StartupError(option + ": there is no folder " + run.folder,
                       "runs are in folders below `output`, the newest is runs/latest");
}

}  // namespace

std::string cluster_file_of(const ResumeWords& words) {
    require_run_folder({words.folder, words.branches});
    return words.folder + "/config.yaml";
}

EarlierRun earlier_run(const ResumeWords& words, const Settings& settings,
                       const std::vector<std::string>& peers) {
    if (!words.said) return {};
    if (words.folder.empty()) {
        const auto newest = newest_run_with_checkpoints(settings, peers);
        if (newest || words.if_any) return {newest.value_or(""), false, words.if_any};
        throw StartupError(
            fmt::format("--resume: no run of {} below {} has left a checkpoint of {}", settings.run,
                        settings.output, fmt::join(peers, ", ")),
            "with training.checkpoint_every a run keeps some; name its folder: --resume FOLDER");
    }
    require_run_folder({words.folder, words.branches});
    const EarlierRun run{fs::canonical(words.folder).string(), words.branches};
    // One of several peers may have lost its own.
    const bool found = std::any_of(peers.begin(), peers.end(), [&run](const std::string& peer) {
        return !checkpoint_paths(run.folder, peer).empty();
    });
    if (found || peers.size() < 2) return run;
    throw StartupError(
        fmt::format("{}: no checkpoint of {} or any other peer in {}", run.option(), peers.front(),
                    run.folder),
        "with training.checkpoint_every a run keeps some; is it the folder of the "
        "run?");
}

}  // namespace ako
