#include "src/commands/resume_words.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "ako/error.h"
#include "src/results/checkpoint_file.h"
#include "src/wiring/resume.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

void require_run_folder(const std::string& folder) {
    std::error_code error;
    if (fs::is_directory(folder, error)) return;
    if (fs::exists(folder, error))
        throw StartupError("--resume: " + folder + " is a file, not the folder of a run",
                           "the cluster file goes first: ako launch " + folder + " --resume");
    throw StartupError("--resume: there is no folder " + folder,
                       "runs are in folders below `output`, the newest is runs/latest");
}

}  // namespace

std::string cluster_file_of(const ResumeWords& words) {
    require_run_folder(words.folder);
    return words.folder + "/config.yaml";
}

std::string resume_folder(const ResumeWords& words, const Settings& settings,
                          const std::vector<std::string>& peers) {
    if (!words.said) return "";
    if (words.folder.empty()) return newest_run_with_checkpoints(settings, peers);
    require_run_folder(words.folder);
    std::string folder = fs::canonical(words.folder).string();
    // One of several peers may have lost its own.
    const bool found = std::any_of(peers.begin(), peers.end(), [&folder](const std::string& peer) {
        return !checkpoint_paths(folder, peer).empty();
    });
    if (found || peers.size() < 2) return folder;
    throw StartupError(
        "--resume: no checkpoint of " + peers.front() + " or any other peer in " + folder,
        "with training.checkpoint_every a run keeps some; is it the folder of the "
        "run?");
}

}  // namespace ako
