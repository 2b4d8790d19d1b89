#include "src/compare/runner.h"

#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "ako/error.h"
#include "src/compare/cell_settings.h"
#include "src/compare/earlier_results.h"
#include "src/compare/provenance.h"
#include "src/config/cluster_file.h"
#include "src/system/child_process.h"
#include "src/system/whole_file.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

/// How long a launch that is asked to end may take before it is killed: the final exchange, and the
/// evaluation after it.
constexpr double ending_seconds_max = 60;

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// The last line that is not empty: launch ends with what was wrong.
std::string last_line(const std::string& file) {
    std::ifstream in(file);
    std::string last;
    for (std::string line; std::getline(in, line);) {
        if (line.find_first_not_of(" \t") != std::string::npos) last = line;
    }
    return last;
}

/// What the first peer that has something to say says, else launch's last words.
std::string why_failed(const std::string& folder) try {
    std::ifstream in(folder + "/run/summary.json");
    const nlohmann::json json = nlohmann::json::parse(in);
    for (const nlohmann::json& peer : json.at("peers")) {
        const std::string why = peer.at("why");
        if (!why.empty() && peer.at("exit") != 0)
            return fmt::format("{}: {}", peer.at("name").get<std::string>(), why);
    }
    return last_line(folder + "/launch.log");
} catch (const nlohmann::json::exception&) {
    return last_line(folder + "/launch.log");
}

/// The process of one peer among launch's children; 0: it is not there (yet).
pid_t peer_process(pid_t launch, const std::string& name) {
    std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", launch));
    for (pid_t child = 0; children >> child;) {
        std::ifstream in(fmt::format("/proc/{}/cmdline", child), std::ios::binary);
        const std::string words((std::istreambuf_iterator<char>(in)), {});
        const std::string wanted = fmt::format("--peer{0}{1}{0}", '\0', name);
        if (words.find(wanted) != std::string::npos) return child;
    }
    return 0;
}

std::string run_folder_of(const std::string& folder) { return folder + "/run"; }

}  // namespace

Runner::Runner(const Plan& plan, CellNetwork& network, std::string program, std::string commit)
    : plan_(plan),
      network_(network),
      program_(std::move(program)),
      commit_(std::move(commit)),
      machine_(this_machine()) {}

std::vector<std::string> Runner::prepare(const Cell& cell, const std::string& folder) {
    const std::string wanted = cell.setting.text() + cell.rate.text();
    if (prepared_ != wanted) achievable_mbit_ = network_.prepare(cell.setting.machines, cell.rate);
    prepared_ = wanted;
    std::error_code error;
    fs::remove_all(folder, error);
    fs::create_directories(folder, error);
    if (error)
        throw StartupError(fmt::format("{}: cannot be made: {}", folder, error.message()),
                           "set another folder with --set output=FOLDER");
    Settings settings = cell_settings(plan_, cell, network_.overrides(cell));
    settings.output = folder;
    const std::string file = folder + "/cluster.yaml";
    write_whole_file(file, fmt::format("# {}\n{}", cell.text(), write_cluster_text(settings)));
    std::vector<std::string> words = {program_,  "launch",       file,
                                      "--plain", "--output-dir", folder + "/run"};
    for (const std::string& word : network_.launch_words()) words.push_back(word);
    return words;
}

std::optional<CellResult> Runner::run(const Cell& cell, const std::atomic<int>& interrupts,
                                      const std::function<void(double seconds)>& every_second) {
    const std::string folder = cell_folder(plan_, cell, network_);
    const std::vector<std::string> words = prepare(cell, folder);
    ChildProcess child(words, folder + "/launch.log");
    const double began = seconds_now();
    const double seconds_max = plan_.cell_minutes_max * 60;
    bool interrupted = false, late = false;
    double kill_at = 0;
    bool lost = !cell.loss;
    while (!child.wait(1)) {
        const double seconds = seconds_now() - began;
        every_second(seconds);
        if (!lost && seconds >= cell.loss->after_s) {
            const pid_t peer = peer_process(child.pid(), peer_name(cell.loss->machine));
            lost = peer > 0 && kill(peer, SIGKILL) == 0;
        }
        const bool end_it = interrupts > 0 || seconds > seconds_max;
        if (end_it && kill_at == 0) {
            interrupted = interrupts > 0;
            late = !interrupted;
            child.signal(SIGINT);
            kill_at = seconds + ending_seconds_max;
        }
        if (kill_at > 0 && seconds > kill_at) child.signal(SIGKILL);
    }
    // Between the child's end and our look at it there may have been the interrupt that ended both.
    if (interrupted || interrupts > 0) return std::nullopt;
    CellResult result;
    result.failed = late || child.exit() != 0;
    if (late)
        result.why =
            fmt::format("not done after {:.0f} minutes (cell_minutes_max)", plan_.cell_minutes_max);
    else if (result.failed)
        result.why = fmt::format("exit {}: {}", child.exit(), why_failed(folder));
    else if (!lost)
        result.why =
            fmt::format("it ended before {:g} s, when a peer was to be killed", cell.loss->after_s);
    result.failed |= !lost;
    result.seconds = seconds_now() - began;
    result.commit = commit_;
    result.network = network_.text();
    result.machine = machine_;
    result.achievable_mbit = achievable_mbit_;
    result.figures = read_figures(run_folder_of(folder) + "/summary.json");
    result.curve = read_curve(run_folder_of(folder) + "/curve.json").value_or(AccuracyCurve{});
    const bool needs_curve = cell.part != Cell::Part::timing;
    if (!result.failed && needs_curve && result.curve.points.empty()) {
        result.failed = true;
        result.why = "it left no curve.json: nothing was evaluated";
    }
    write_cell_result(folder, cell, result);
    return result;
}

}  // namespace ako
