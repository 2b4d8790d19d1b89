// See status_command.h.
#include "src/commands/status_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "ako/error.h"
#include "src/config/cluster_file.h"
#include "src/config/peer_list.h"
#include "src/observe/ask_status.h"
#include "src/observe/observe_run.h"
#include "src/screen/peer_table.h"
#include "src/screen/run_state.h"
#include "src/screen/terminal.h"

namespace ako {
namespace {

constexpr std::chrono::seconds watch_interval{1};
constexpr std::size_t columns_without_terminal = 120;

/// Whom to ask: the peers of a file, or those that a peer knows of.
ObservedRun find_run(const StatusOptions& options) {
    if (std::filesystem::exists(options.target)) {
        const Settings settings = read_cluster_file(options.target, options.overrides);
        if (settings.observe.address.empty())
            throw StartupError(
                options.target + ": observe.address is null: its peers can not be asked",
                "start them with observe.address: 127.0.0.1:9470, or HOST:PORT that others reach");
        return observed_run(settings, 0);
    }
    const HostPort at = split_address(options.target, "", "the file or address to ask");
    const auto observed = ask_status(at.host, at.port);
    if (!observed)
        throw StartupError(observed.error().what,
                           "is it the address of a peer that runs with observe.address? In a file "
                           "of several peers each has the next port");
    ObservedRun run = observed->run;
    // Where that one is reached, those on its machine are too.
    for (ObservedPeer& peer : run.peers)
        if (peer.host == "127.0.0.1" || peer.host == "localhost") peer.host = at.host;
    return run;
}

std::vector<std::string> names_of(const ObservedRun& run) {
    std::vector<std::string> names;
    for (const ObservedPeer& peer : run.peers) names.push_back(peer.name);
    return names;
}

/// What people are shown, as text for a terminal of this style.
std::string page_of(const ObservedRun& run, const std::vector<StatusAnswer>& answers,
                    const ScreenStyle& style) {
    RunState state(run.run, 0, names_of(run));
    double seconds = 0;
    for (std::size_t k = 0; k < answers.size(); ++k) {
        if (!answers[k].observed) continue;
        const MetricsLine& line = answers[k].observed->line;
        seconds = std::max(seconds, line.time);
        state.take_line(k, line, 0);
    }
    state.refresh(0);
    std::string text = fmt::format("{}: {}, {:.0f} % after {:.0f} s\n\n", run.run, state.phase(),
                                   100 * state.progress(), seconds);
    const auto add = [&](const std::vector<ScreenLine>& lines) {
        for (const ScreenLine& line : lines) text += line.text(style.columns, style.colours) + "\n";
    };
    add(peer_table(state, 0, run.peers.size() + 1, style.columns));
    if (run.peers.size() > 1) {
        text += "\n";
        add(link_table(state, LinkFigures::freshness, 0, 0, run.peers.size() + 2, style.columns));
    }
    for (std::size_t k = 0; k < answers.size(); ++k)
        if (!answers[k].observed)
            text += fmt::format("\n{} does not answer: {}", run.peers[k].name, answers[k].why_not);
    if (text.back() != '\n') text += "\n";
    if (const Bottleneck found = bottleneck_of(run, answers);
        found.kind != Bottleneck::Kind::unknown)
        text += fmt::format("\nbottleneck: {}\n", found.text());
    return text;
}

bool nobody_answers(const std::vector<StatusAnswer>& answers) {
    return std::none_of(answers.begin(), answers.end(),
                        [](const StatusAnswer& answer) { return answer.observed.has_value(); });
}

}  // namespace

ExitStatus status(const StatusOptions& options) {
    const ObservedRun run = find_run(options);
    const bool screen = isatty(STDOUT_FILENO) == 1;
    for (bool again = false;; again = true) {
        const std::vector<StatusAnswer> answers = ask_all(run.peers);
        if (nobody_answers(answers)) {
            if (again) return exit_ok;  // it was there, and is over
            throw StartupError("no peer answers: " + answers.front().why_not,
                               "do they run, with the same observe.address?");
        }
        ScreenStyle style = screen ? Terminal::style() : ScreenStyle{};
        if (!screen) {
            style.columns = columns_without_terminal;
            style.colours = false;
        }
        const std::string text = page_of(run, answers, style);
        // A whole screen at once, over the one before.
        if (screen && options.watch) fmt::print("\x1b[H\x1b[J");
        fmt::print("{}", text);
        std::fflush(stdout);
        if (!options.watch) return exit_ok;
        if (!screen) fmt::print("\n");
        std::this_thread::sleep_for(watch_interval);
    }
}

}  // namespace ako
