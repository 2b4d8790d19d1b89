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
constexpr int network_tries = 2;

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

bool Runner::prepare_network(const Cell& cell, std::string& why) {
    const bool alone = cell.candidate.alone();
    if (alone && !prepared_.empty()) return true;  // any machine will do
    const std::size_t machines = alone ? plan_.machines.front() : cell.setting.machines;
    const Rate& rate = alone ? plan_.rates.front() : cell.rate;
    const std::string wanted = fmt::format("{} machines, {}", machines, rate.text());
    // What the one before left behind may be gone the second time.
    for (int tries = 0; prepared_ != wanted && tries < network_tries; ++tries) {
        prepared_.clear();
        achievable_mbit_.clear();
        try {
            achievable_mbit_ = network_.prepare(machines, rate);
            prepared_ = wanted;
        } catch (const StartupError& error) {
            why = fmt::format("the network could not be made: {}", error.what());
        }
    }
    without_network_ = prepared_ == wanted ? 0 : without_network_ + 1;
    return prepared_ == wanted;
}

std::vector<std::string> Runner::prepare_folder(const Cell& cell, const std::string& folder) {
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
                                      "--plain", "--output-dir", run_folder_of(folder)};
    for (const std::string& word : network_.launch_words(cell)) words.push_back(word);
    return words;
}

CellResult Runner::result_of(const Cell& cell, const std::string& folder) const {
    CellResult result;
    result.commit = commit_;
    result.network = network_.text();
    result.machine = machine_;
    if (!cell.candidate.alone()) result.achievable_mbit = achievable_mbit_;
    result.figures = read_figures(run_folder_of(folder) + "/summary.json");
    result.curve = read_curve(run_folder_of(folder) + "/curve.json").value_or(AccuracyCurve{});
    return result;
}

Runner::Ending Runner::wait_for(ChildProcess& child, const Cell& cell,
                                const std::atomic<int>& interrupts,
                                const std::function<void(double seconds)>& every_second) {
    Ending ending;
    const double began = seconds_now();
    double kill_at = 0;
    ending.lost = !cell.loss;
    while (!child.wait(1)) {
        const double seconds = seconds_now() - began;
        every_second(seconds);
        if (!ending.lost && seconds >= cell.loss->after_s) {
            const pid_t peer = peer_process(child.pid(), peer_name(cell.loss->machine));
            ending.lost = peer > 0 && kill(peer, SIGKILL) == 0;
        }
        const bool end_it = interrupts > 0 || seconds > plan_.cell_minutes_max * 60;
        if (end_it && kill_at == 0) {
            ending.interrupted = interrupts > 0;
            ending.late = !ending.interrupted;
            child.signal(SIGINT);
            kill_at = seconds + ending_seconds_max;
        }
        if (kill_at > 0 && seconds > kill_at) {
            child.signal(SIGKILL);
            // Its peers may linger, until the network is made anew.
            prepared_.clear();
        }
    }
    // Between the child's end and our look at it there may have been the interrupt that ended both.
    ending.interrupted |= interrupts > 0;
    ending.seconds = seconds_now() - began;
    return ending;
}

std::string Runner::why_it_failed(const Cell& cell, const std::string& folder, const Ending& ending,
                                  int exit, const CellResult& result) const {
    if (ending.late)
        return fmt::format("not done after {:.0f} minutes (cell_minutes_max)",
                           plan_.cell_minutes_max);
    if (exit != 0) return fmt::format("exit {}: {}", exit, why_failed(folder));
    if (!ending.lost)
        return fmt::format("it ended before {:g} s, when a peer was to be killed",
                           cell.loss->after_s);
    if (cell.part != Cell::Part::timing && result.curve.points.empty())
        return "it left no curve.json: nothing was evaluated";
    return "";
}

std::optional<CellResult> Runner::run(const Cell& cell, const std::atomic<int>& interrupts,
                                      const std::function<void(double seconds)>& every_second) {
    const std::string folder = cell_folder(plan_, cell, network_);
    const std::vector<std::string> words = prepare_folder(cell, folder);
    CellResult result;
    if (std::string why; !prepare_network(cell, why)) {
        if (interrupts > 0) return std::nullopt;  // it may be what ended the attempt
        result = result_of(cell, folder);
        result.why = why;
    } else {
        ChildProcess child(words, folder + "/launch.log");
        const Ending ending = wait_for(child, cell, interrupts, every_second);
        if (ending.interrupted) return std::nullopt;
        result = result_of(cell, folder);
        result.seconds = ending.seconds;
        result.why = why_it_failed(cell, folder, ending, child.exit(), result);
    }
    result.failed = !result.why.empty();
    write_cell_result(folder, cell, result);
    return result;
}

}  // namespace ako
