#include "src/commands/compare_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "ako/error.h"
#include "src/commands/cell_prediction.h"
#include "src/commands/comparison_time.h"
#include "src/compare/agenda.h"
#include "src/compare/cell_network.h"
#include "src/compare/cell_settings.h"
#include "src/compare/earlier_results.h"
#include "src/compare/progress_line.h"
#include "src/compare/provenance.h"
#include "src/compare/report.h"
#include "src/compare/runner.h"
#include "src/native_peer/training_data.h"
#include "src/plot/svg_plot.h"
#include "src/screen/terminal.h"
#include "src/system/build_info.h"
#include "src/system/child_process.h"
#include "src/system/interrupts.h"
#include "src/system/lock_file.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

/// Once the network could not be made for so many cells in a row, it will not be for the next ones.
constexpr unsigned without_network_max = 3;

/// Refuses a folder that cannot be written, or that another comparison is filling.
void require_own(const std::string& folder, const LockFile& lock) {
    if (lock.state() == LockFile::State::no_file)
        throw StartupError(
            fmt::format("output: the folder {} cannot be written: {}", folder, lock.why()),
            "set another one with --set output=FOLDER");
    if (lock.state() == LockFile::State::taken)
        throw StartupError(fmt::format("{}: another `ako compare` is at work there", folder),
                           "wait for it, or set another folder with --set output=FOLDER");
}

/// Tells the plan how large its training set is, where its cells depend on that. Without the data
/// nothing can be run, but a report can be written and cells listed.
void find_training_samples(Plan& plan, bool runs) {
    const std::optional<Cell> cell = composed_local_sgd(plan);
    if (!cell) return;
    const Settings settings = cell_settings(plan, *cell, make_paced_network("")->overrides(*cell));
    try {
        plan.training_samples = training_set_size(settings);
    } catch (const StartupError& error) {
        if (runs) throw;
        fmt::print(stderr,
                   "{}\nwithout the training set the round times of local SGD are not found\n",
                   error.what());
    }
}

/// The cells, what they will run on, and how long they will take.
void list_cells(const Plan& plan) {
    ResultSet imagined;
    std::vector<Cell> cells;
    while (const std::optional<Cell> cell = next_cell(plan, imagined)) {
        fmt::print("{}\n", cell->text());
        imagined.put(*cell, CellResult{});
        cells.push_back(*cell);
    }
    const auto screened = std::count_if(cells.begin(), cells.end(), [](const Cell& cell) {
        return cell.part == Cell::Part::screening;
    });
    fmt::print("{} cells{}\n", cells.size(),
               plan.screening ? fmt::format(", {} of them of the screening; what it will choose is "
                                            "not known yet",
                                            screened)
                              : "");
    std::fflush(stdout);
    try {
        const auto network = choose_network(plan, find_testbed_script(plan));
        fmt::print("network: {}\n{}\n", network->text(),
                   comparison_time_text(plan, cells, *network));
    } catch (const StartupError& error) {
        fmt::print("network: none: {}\n     {}\n", error.what(), error.hint());
    }
}

bool headline_failed(const ResultSet& results) {
    for (const auto& [text, done] : results.all()) {
        if (done.result.failed && done.cell.part != Cell::Part::screening) return true;
    }
    return false;
}

enum class RunEnd { done, interrupted, no_network };

/// Runs what is left.
RunEnd run_cells(const Plan& plan, const EarlierResults& earlier, Runner& runner, bool retry_failed,
                 const CellNetwork& network, ResultSet& results, ProgressLine& progress) {
    const std::atomic<int>& interrupts = count_interrupts();
    std::optional<CellPrediction> prediction;
    while (const std::optional<Cell> cell = next_cell(plan, results)) {
        if (interrupts > 0) return RunEnd::interrupted;
        std::optional<CellResult> result = earlier.of(*cell, retry_failed);
        if (!result) {
            progress.begin(*cell, results.all().size(), forecast(plan, results));
            result =
                runner.run(*cell, interrupts, [&](double seconds) { progress.update(seconds); });
            progress.clear();
            if (!result) return RunEnd::interrupted;
            if (!prediction) prediction.emplace(plan, network, *cell);
            progress.end(*result, prediction->beside(*cell, *result));
        }
        results.put(*cell, std::move(*result));
        if (runner.without_network() >= without_network_max) return RunEnd::no_network;
    }
    return RunEnd::done;
}

/// What there is, whatever network this machine could offer: cells of the testbed, and where a
/// cell did not run there, those that paced themselves.
void take_everything(const Plan& plan, ResultSet& results) {
    const auto testbed = make_testbed_network("", plan.testbed, nullptr);
    const auto paced = make_paced_network("");
    EarlierResults(plan, {testbed.get(), paced.get()}).take_all(results);
}

ExitStatus finish(const Plan& plan, const ResultSet& results, const std::string& commit) {
    const std::string report = write_report(plan, results, commit);
    fmt::print("report: {}\n", report);
    return headline_failed(results) ? exit_crash : exit_ok;
}

/// Runs what is left, and writes the report of all.
ExitStatus run_and_report(const Plan& plan, const CompareOptions& options,
                          const std::string& commit) {
    const std::unique_ptr<CellNetwork> network = choose_network(plan, find_testbed_script(plan));
    const EarlierResults earlier(plan, {network.get()});
    Runner runner(plan, *network, options.program.empty() ? own_program() : options.program,
                  commit);
    ResultSet results;
    earlier.take_in_order(results, options.retry_failed);
    fmt::print("network: {}\n", network->text());
    if (!results.all().empty()) fmt::print("{} cells are there already\n", results.all().size());
    std::fflush(stdout);
    const ScreenStyle style = Terminal::style();
    ProgressLine progress(Terminal::usable() ? style.columns : 0, style.unicode);
    const RunEnd end =
        run_cells(plan, earlier, runner, options.retry_failed, *network, results, progress);
    if (end == RunEnd::done) return finish(plan, results, commit);
    if (end == RunEnd::no_network)
        fmt::print(
            "stopped: {} cells in a row had no network; once it can be made, --retry-failed "
            "goes on from here\n",
            without_network_max);
    else
        fmt::print("interrupted: the same command goes on from here\n");
    earlier.take_all(results);
    if (results.all().empty())
        fmt::print("no report: no cell has ended\n");
    else
        finish(plan, results, commit);
    return end == RunEnd::no_network ? exit_start_up : exit_interrupted;
}

}  // namespace

ExitStatus compare(const CompareOptions& options) {
    Plan plan = read_plan(options.file, options.overrides);
    check_contenders(plan);
    find_training_samples(plan, !options.only_list && !options.only_report);
    if (options.only_list) {
        list_cells(plan);
        return exit_ok;
    }
    require_gnuplot();
    const LockFile lock(plan.output + "/lock");
    require_own(plan.output, lock);
    const std::string commit = build_commit();
    if (!options.only_report) return run_and_report(plan, options, commit);
    ResultSet results;
    take_everything(plan, results);
    return finish(plan, results, commit);
}

}  // namespace ako
