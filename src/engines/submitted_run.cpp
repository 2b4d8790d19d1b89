// See submitted_run.h.
#include "src/engines/submitted_run.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "ako/error.h"
#include "src/system/whole_file.h"

namespace ako {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "submitted.json";
constexpr const char* runs_folder = "runs";  ///< the default of the key `output`

std::string name_of(const std::string& folder) {
    return fs::path(folder).lexically_normal().filename().string();
}

}  // namespace

std::string Submission::name() const { return name_of(folder); }
std::string Submission::path(const std::string& file) const {
    return (fs::path(folder) / file).string();
}
std::string SubmittedRun::name() const { return name_of(folder); }
std::string SubmittedRun::path(const std::string& file) const {
    return (fs::path(folder) / file).string();
}

void write_submitted_run(const SubmittedRun& run) {
    const nlohmann::ordered_json json = {{"engine", run.engine},
                                         {"id", run.id},
                                         {"image", run.image},
                                         {"peers", run.peers},
                                         {"submitted_at", run.submitted_at}};
    write_whole_file(run.path(file_name), json.dump() + "\n");
}

std::optional<SubmittedRun> submitted_run(const std::string& folder) try {
    const auto json = nlohmann::json::parse(whole_text((fs::path(folder) / file_name).string()));
    SubmittedRun run;
    run.folder = fs::canonical(folder).string();
    run.engine = json.at("engine");
    run.id = json.at("id");
    run.image = json.at("image");
    run.peers = json.at("peers").get<std::vector<std::string>>();
    run.submitted_at = json.at("submitted_at");
    return run;
} catch (const nlohmann::json::exception&) {
    return std::nullopt;
}

std::vector<SubmittedRun> submitted_runs(const std::string& folder) {
    std::vector<SubmittedRun> runs;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
        if (entry.is_symlink(none)) continue;  // latest
        if (auto run = submitted_run(entry.path().string())) runs.push_back(std::move(*run));
    }
    std::sort(runs.begin(), runs.end(), [](const SubmittedRun& a, const SubmittedRun& b) {
        return std::tie(a.submitted_at, a.folder) > std::tie(b.submitted_at, b.folder);
    });
    return runs;
}

std::optional<SubmittedRun> find_submitted_run(const std::string& name) {
    for (const fs::path& folder : {fs::path(name), fs::path(runs_folder) / name})
        if (auto run = submitted_run(folder.string())) return run;
    return std::nullopt;
}

SubmittedRun submitted_run_named(const std::string& name) {
    if (auto run = find_submitted_run(name)) return *run;
    throw StartupError(name + " is no run that `ako submit` has started",
                       "`ako jobs` lists them: their folders are below `runs`");
}

}  // namespace ako
