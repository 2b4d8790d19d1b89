// See jobs_command.h.
#include "src/commands/jobs_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <vector>

#include "ako/error.h"
#include "ako/printable.h"
#include "src/engines/engine_table.h"
#include "src/engines/submitted_run.h"
#include "src/results/run_standing.h"

namespace ako {
namespace {

namespace fs = std::filesystem;

/// More of an engine's own words is for `ako status`.
constexpr std::size_t words_max = 80;

struct Row {
    std::string run, engine, id, state, age, training;
};

std::string word(EnginePhase phase) {
    switch (phase) {
        case EnginePhase::queued:
            return "queued";
        case EnginePhase::running:
            return "running";
        case EnginePhase::ended:
            return "ended";
        case EnginePhase::unknown:
            break;
    }
    return "unknown";
}

std::string age_of(const SubmittedRun& run) {
    const long long seconds =
        std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()) - run.submitted_at;
    if (seconds < 120) return fmt::format("{} s", seconds);
    if (seconds < 120 * 60) return fmt::format("{} min", seconds / 60);
    return fmt::format("{} h", seconds / 3600);
}

/// What fits into a table of a text of several lines.
std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text.size() <= words_max ? text : text.substr(0, words_max - 3) + "...";
}

/// What engines say; one that did not answer is not asked again.
class EngineAnswers {
  public:
    EngineState state_of(const SubmittedRun& run) {
        const auto silent = silent_.find(run.engine);
        if (silent != silent_.end()) return {EnginePhase::unknown, silent->second};
        try {
            return engine_named(run.engine).state(run);
        } catch (const StartupError& error) {
            const std::string why = "not known: " + one_line(error.what());
            silent_.emplace(run.engine, why);
            return {EnginePhase::unknown, why};
        }
    }

  private:
    std::map<std::string, std::string> silent_;
};

std::string state_words(const EngineState& state) {
    // What the engine says, unless it has nothing to say.
    std::string text = state.words.empty() ? word(state.phase) : one_line(state.words);
    if (state.phase == EnginePhase::ended && !state.words.empty()) text = "ended: " + text;
    if (state.requeues > 0) text += fmt::format(", {} times again", state.requeues);
    return text;
}

std::string newest_attempt(const fs::path& folder) {
    fs::path newest = folder;
    for (unsigned k = 0;; ++k) {
        const fs::path attempt = folder / fmt::format("attempt-{}", k);
        if (!fs::exists(attempt)) return newest.string();
        newest = attempt;
    }
}

/// Of an array how each element stands.
std::string training_words(const SubmittedRun& run) {
    std::string words;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(run.folder, none)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with("run-")) continue;
        words += fmt::format("{}{}: {}", words.empty() ? "" : "; ", name.substr(4),
                             run_standing(newest_attempt(entry.path()), run.peers));
    }
    return words.empty() ? run_standing(newest_attempt(run.folder), run.peers) : words;
}

void print_rows(const std::vector<Row>& rows) {
    std::size_t run = 3, engine = 6, id = 2, age = 3, state = 5;
    for (const Row& row : rows) {
        run = std::max(run, row.run.size());
        engine = std::max(engine, row.engine.size());
        id = std::max(id, row.id.size());
        age = std::max(age, row.age.size());
        state = std::max(state, row.state.size());
    }
    fmt::print("{:{}}  {:{}}  {:{}}  {:>{}}  {:{}}  training\n", "run", run, "engine", engine, "id",
               id, "age", age, "state", state);
    for (const Row& row : rows)
        fmt::print("{:{}}  {:{}}  {:{}}  {:>{}}  {:{}}  {}\n", printable(row.run), run, row.engine,
                   engine, printable(row.id), id, row.age, age, printable(row.state), state,
                   printable(row.training));
}

Row row_of(const SubmittedRun& run, const EngineState& state) {
    return {run.name(), run.engine, run.id, state_words(state), age_of(run), training_words(run)};
}

}  // namespace

ExitStatus jobs(const JobsOptions& options) {
    std::vector<Row> rows;
    EngineAnswers answers;
    for (const SubmittedRun& run : submitted_runs(options.folder))
        rows.push_back(row_of(run, answers.state_of(run)));
    if (rows.empty())
        fmt::print("no run below {} was started by `ako submit`\n", printable(options.folder));
    else
        print_rows(rows);
    return exit_ok;
}

ExitStatus logs(const LogsOptions& options) {
    const SubmittedRun run = submitted_run_named(options.run);
    std::vector<std::string> words = engine_named(run.engine).logs_command(run, options.follow);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    std::fflush(nullptr);
    execvp(pointers[0], pointers.data());
    throw StartupError(words.front() + " cannot be started", "is it installed here?");
}

ExitStatus cancel(const std::string& name) {
    const SubmittedRun run = submitted_run_named(name);
    const Engine& engine = engine_named(run.engine);
    engine.cancel(run);
    fmt::print("{}: ended\n", printable(run.name()));
    if (const std::string said = engine.fetch(run); !said.empty())
        fmt::print("{}\n", printable(said));
    return exit_ok;
}

ExitStatus status_of_submitted(const SubmittedRun& run) {
    const Engine& engine = engine_named(run.engine);
    const EngineState state = engine.state(run);
    print_rows({row_of(run, state)});
    if (!state.machines.empty())
        fmt::print("on {}\n", printable(fmt::format("{}", fmt::join(state.machines, ", "))));
    if (state.phase != EnginePhase::ended) return exit_ok;
    if (const std::string said = engine.fetch(run); !said.empty())
        fmt::print("{}\n", printable(said));
    return exit_ok;
}

}  // namespace ako
