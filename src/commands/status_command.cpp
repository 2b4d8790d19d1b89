// See status_command.h.
#include "src/commands/status_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "ako/error.h"
#include "ako/printable.h"
#include "src/commands/jobs_command.h"
#include "src/config/cluster_file.h"
#include "src/config/peer_list.h"
#include "src/engines/submitted_run.h"
#include "src/observe/ask_status.h"
#include "src/observe/health.h"
#include "src/observe/observe_run.h"
#include "src/screen/peer_table.h"
#include "src/screen/run_state.h"
#include "src/screen/terminal.h"

namespace ako {
namespace {

constexpr std::chrono::seconds watch_interval{1};
constexpr std::size_t columns_without_terminal = 120;

HostPort address_to_ask(const std::string& target) {
    return split_address(target, "", "the file or address to ask");
}

/// The peers to ask, and how they are reached.
struct Asked {
    ObservedRun run;
    /// By which all may be reached before their own hosts are tried; empty: by these alone.
    std::string through;
};

/// The peers of a file, or those that a peer knows of.
Asked find_run(const StatusOptions& options) {
    if (std::filesystem::exists(options.target)) {
        const Settings settings = read_cluster_file(options.target, options.overrides);
        if (settings.observe.address.empty())
            throw StartupError(
                options.target + ": observe.address is null: its peers can not be asked",
                "start them with observe.address: 127.0.0.1:9470, or HOST:PORT that others reach");
        return {observed_run(settings, 0), ""};
    }
    const HostPort at = address_to_ask(options.target);
    const auto observed = ask_status(at.host, at.port);
    if (!observed)
        throw StartupError(observed.error().what,
                           "is it the address of a peer that runs with observe.address? In a file "
                           "of several peers each has the next port");
    const ObservedRun& run = observed->run;
    const auto own = std::find_if(run.peers.begin(), run.peers.end(),
                                  [&](const ObservedPeer& peer) { return peer.name == run.peer; });
    // Where it is not reached by its own host, but as by a port that its container publishes or by
    // a tunnel, so may the others be.
    const bool is_own = own == run.peers.end() || own->host == at.host;
    return {run, is_own ? "" : at.host};
}

/// One line, for what starts containers.
ExitStatus health(const StatusOptions& options) {
    const HostPort at = address_to_ask(options.target);
    const auto words = ask_health(at.host, at.port);
    fmt::print("{}\n", printable(words ? *words : words.error().what));
    return words ? exit_ok : exit_unwell;
}

std::vector<std::string> names_of(const ObservedRun& run) {
    std::vector<std::string> names;
    for (const ObservedPeer& peer : run.peers) names.push_back(peer.name);
    return names;
}

/// What another knows of a peer.
struct Told {
    const LinkLine* link = nullptr;
    double seconds = 0;  ///< for so long it has stood so
};

/// What most say of this peer of those that answer, still look, and have met it if anyone has.
std::optional<Told> told_of(const std::string& name, const std::vector<StatusAnswer>& answers) {
    std::map<PeerStanding, std::vector<Told>> votes;
    for (const StatusAnswer& answer : answers) {
        if (!answer.observed || stands_still(answer.observed->age)) continue;
        const MetricsLine& line = answer.observed->line;
        if (has_finished(line)) continue;
        for (const LinkLine& link : line.links) {
            if (link.peer != name) continue;
            votes[standing_of(link)].push_back({&link, line.time - link.since});
        }
    }
    if (votes.size() > 1) votes.erase(PeerStanding::absent);
    const auto most = std::max_element(
        votes.begin(), votes.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    return most == votes.end() ? std::nullopt : std::optional(most->second.front());
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
        // One that answers may be in a long round; only much later it is taken to hang.
        const Observed& observed = *answers[k].observed;
        state.take_line(k, line, stands_still(observed.age) ? -observed.age : 0);
    }
    for (std::size_t k = 0; k < answers.size(); ++k) {
        if (answers[k].observed) continue;
        if (const auto told = told_of(run.peers[k].name, answers))
            state.take_told(k, *told->link, told->seconds);
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
    if (options.health) return health(options);
    if (const auto run = find_submitted_run(options.target)) return status_of_submitted(*run);
    const Asked whom = find_run(options);
    const bool screen = isatty(STDOUT_FILENO) == 1;
    for (bool again = false;; again = true) {
        const std::vector<StatusAnswer> answers = ask_all(whom.run.peers, whom.through);
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
        const std::string text = page_of(whom.run, answers, style);
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
