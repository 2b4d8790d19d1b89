// See submit_command.h.
#include "src/commands/submit_command.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <random>

#include "ako/error.h"
#include "ako/printable.h"
#include "src/commands/chosen_mode.h"
#include "src/commands/launch_check.h"
#include "src/config/cluster_file.h"
#include "src/config/peer_list.h"
#include "src/engines/engine_command.h"
#include "src/engines/engine_table.h"
#include "src/engines/submitted_run.h"
#include "src/engines/time_limit.h"
#include "src/results/run_folder.h"
#include "src/system/child_process.h"
#include "src/system/whole_file.h"
#include "src/wiring/link_safety.h"

namespace ako {
namespace {

namespace fs = std::filesystem;

constexpr const char* key_name = "cluster.key";
constexpr int key_words = 8;  ///< of 32 bits, twice what a key must have

void write_secret(const std::string& path, const std::string& text) {
    const mode_t before = umask(0077);
    try {
        write_whole_file(path, text);
    } catch (...) {
        umask(before);
        throw;
    }
    umask(before);
}

std::string new_key() {
    std::random_device random;  // the kernel's
    std::string text;
    for (int k = 0; k < key_words; ++k) text += fmt::format("{:08x}", random());
    return text + "\n";
}

std::string program_here() {
    const std::string program = own_program();
    return program.starts_with("/usr/bin/") ? "ako" : program;
}

Settings read_settings(const SubmitOptions& options) {
    std::vector<std::string> overrides = options.overrides;
    const Settings as_written = read_with_choice(options.file, overrides);
    if (options.peers == 0 || as_written.peers.size() == options.peers) return as_written;
    // Fewer may begin as before, where that has a meaning.
    const unsigned least = as_written.exchange.start_peers_min;
    const bool keeps = as_written.places.has("exchange.start_peers_min") && least > 0;
    if (keeps && least > options.peers) overrides.push_back("exchange.start_peers_min=majority");
    overrides.push_back(keeps && least <= options.peers
                            ? fmt::format("peers={{min: {}, count: {}}}", least, options.peers)
                            : fmt::format("peers={{count: {}}}", options.peers));
    return read_with_choice(options.file, overrides);
}

/// What is only unwise.
void warn(const Engine& engine, const Submission& submission) {
    std::vector<std::string> warnings = engine.warnings(submission);
    const Settings& settings = submission.settings;
    if (settings.training.checkpoint_every == 0 && settings.model.kind != ModelKind::external)
        warnings.emplace_back(
            "training.checkpoint_every is 0: a run that the engine ends begins anew when it comes "
            "back");
    for (const std::string& warning : warnings)
        fmt::print(stderr, "ako: warning: {}\n", printable(warning));
}

/// The folder of the run, which goes again unless the engine takes it.
class NewRunFolder {
  public:
    NewRunFolder(Settings& settings, const SubmitOptions& options)
        : was_there_(!options.output_dir.empty() && fs::exists(options.output_dir)) {
        SystemFiles files;
        path_ = options.output_dir.empty() ? make_run_folder(files, settings)
                                           : make_run_folder(files, settings, options.output_dir);
        path_ = fs::absolute(path_).lexically_normal().string();
    }
    ~NewRunFolder() {
        if (kept_) return;
        std::error_code stays;
        for (const fs::directory_entry& entry : fs::directory_iterator(path_, stays))
            fs::remove_all(entry.path(), stays);
        if (!was_there_) fs::remove(path_, stays);
    }
    NewRunFolder(const NewRunFolder&) = delete;
    NewRunFolder& operator=(const NewRunFolder&) = delete;

    const std::string& path() const { return path_; }
    std::string file(const std::string& name) const { return (fs::path(path_) / name).string(); }
    void keep() { kept_ = true; }

  private:
    const bool was_there_;
    std::string path_;
    bool kept_ = false;
};

void print_files(const std::vector<EngineFile>& files) {
    fmt::print("# To be read; with --output-dir it is written with all that belongs to it.\n");
    for (const EngineFile& file : files)
        if (!file.secret)
            fmt::print("{}# ---- {}\n{}", &file == &files.front() ? "" : "\n", file.name,
                       file.text);
}

void write_files(const NewRunFolder& folder, const std::vector<EngineFile>& files) {
    for (const EngineFile& file : files) {
        fs::create_directories(fs::path(folder.file(file.name)).parent_path());
        if (file.secret)
            write_secret(folder.file(file.name), file.text);
        else
            write_whole_file(folder.file(file.name), file.text);
    }
}

void say_what_next(const SubmittedRun& run) {
    const std::string name = fs::proximate(run.folder).string();
    fmt::print("{}: {} {}, {} peers\n  ako status {}    ako logs {} -f    ako cancel {}\n",
               printable(name), run.engine, run.id, run.peers.size(), printable(name),
               printable(name), printable(name));
}

/// From here on the folder stays.
SubmittedRun submitted(const Engine& engine, const Submission& submission, NewRunFolder& folder) {
    SubmittedRun run;
    run.folder = folder.path();
    run.engine = engine.word();
    run.image = submission.resources.image;
    run.peers = peer_names(submission.settings);
    run.submitted_at = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    try {
        run.id = engine.submit(submission);
    } catch (const NoAnswer& error) {
        folder.keep();
        throw StartupError(fmt::format("{}; it may have been taken: its files stay in {}",
                                       error.what(), folder.path()),
                           error.hint());
    }
    folder.keep();
    try {
        write_submitted_run(run);
    } catch (const StartupError& error) {
        throw StartupError(fmt::format("{} runs it as {}, which cannot be noted: {}", run.engine,
                                       run.id, error.what()),
                           error.hint());
    }
    return run;
}

}  // namespace

ExitStatus submit(const SubmitOptions& options) {
    const Engine& engine = engine_named(options.engine);
    Settings settings = read_settings(options);
    LaunchOptions as_launched;
    as_launched.program = options.program;
    check_program(settings, as_launched);
    // Where files are the same, so is what keeps peers from starting.
    if (engine.shares_files()) check_before(settings, PortsAre::elsewhere);
    NewRunFolder folder(settings, options);
    time_limit_s(options.resources.time);
    // One processor's worth is left to the network; learners are threads themselves.
    if (!settings.places.has("training.threads") && settings.training.learners == 1)
        settings.training.threads = std::max(1U, options.resources.threads() - 1);
    read_cluster_key(settings);
    if (settings.cluster_key_file.empty()) {
        settings.cluster_key_file = folder.file(key_name);
        write_secret(settings.cluster_key_file, new_key());
    }
    Submission submission;
    submission.settings = settings;
    submission.folder = folder.path();
    submission.ako = program_here();
    submission.resources = options.resources;
    submission.restarts = options.restart;
    submission.requeue_always = options.requeue_always;
    submission.program = options.program;
    write_whole_file(folder.file("config.yaml"),
                     write_cluster_text(engine.settings_there(submission)));
    const std::vector<EngineFile> files = engine.render(submission);
    const bool only_printed = options.print && options.output_dir.empty();
    if (only_printed) return print_files(files), exit_ok;
    write_files(folder, files);
    if (options.print) return folder.keep(), exit_ok;
    warn(engine, submission);
    if (options.check) {
        engine.check(submission);
        fmt::print("{} would take it\n", options.engine);
        return exit_ok;
    }
    const SubmittedRun run = submitted(engine, submission, folder);
    say_what_next(run);
    return exit_ok;
}

}  // namespace ako
