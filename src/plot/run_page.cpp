#include "src/plot/run_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "ako/error.h"
#include "src/config/fields.h"
#include "src/plot/html.h"
#include "src/plot/line_style.h"
#include "src/plot/run_charts.h"
#include "src/results/number_text.h"
#include "src/results/peer_result.h"
#include "src/system/whole_file.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

constexpr const char* not_known = "\u2013";

std::string paragraph(const std::string& text) {
    return fmt::format("<p>{}</p>\n", html_text(text));
}

HtmlCell head_cell(const std::string& html) {
    HtmlCell cell{html};
    cell.header = true;
    return cell;
}

bool any_restarted(const RunRecord& run) {
    return std::any_of(run.peers.begin(), run.peers.end(),
                       [](const PeerRecord& peer) { return peer.processes() > 1; });
}

/// The newest that is known, with so many digits after the point.
std::string newest_text(const PeerRecord& peer, std::optional<double> PeerMoment::*value,
                        int digits) {
    for (auto moment = peer.moments.rbegin(); moment != peer.moments.rend(); ++moment)
        if (const auto& known = (*moment).*value) return fmt::format("{:.{}f}", *known, digits);
    return not_known;
}

std::string mean_samples_per_s(const PeerRecord& peer) {
    double sum = 0;
    double count = 0;
    for (const PeerMoment& moment : peer.moments) {
        if (!moment.samples_per_s) continue;
        sum += *moment.samples_per_s;
        count += 1;
    }
    if (count == 0) return not_known;
    return grouped(static_cast<std::uint64_t>(std::llround(sum / count)));
}

/// A number that the table has of each peer.
struct PeerColumn {
    const char* head;
    std::string (*text)(const PeerRecord&);
};

constexpr std::array<PeerColumn, 9> peer_columns = {{
    {"rounds", [](const PeerRecord& peer) { return grouped(peer.newest.round); }},
    {"samples", [](const PeerRecord& peer) { return grouped(peer.samples); }},
    {"samples/s", mean_samples_per_s},
    {"loss", [](const PeerRecord& peer) { return newest_text(peer, &PeerMoment::loss, 4); }},
    {"P", [](const PeerRecord& peer) { return newest_text(peer, &PeerMoment::partitions, 1); }},
    {"stale",
     [](const PeerRecord& peer) { return newest_text(peer, &PeerMoment::staleness_rounds, 0); }},
    {"sent",
     [](const PeerRecord& peer) { return bytes_text(static_cast<double>(peer.egress_bytes)); }},
    {"received",
     [](const PeerRecord& peer) { return bytes_text(static_cast<double>(peer.ingress_bytes)); }},
    {"processor time", [](const PeerRecord& peer) { return clock_text(peer.cpu_seconds); }},
}};

/// Its name, with its colour where that alone tells it from all others.
HtmlCell name_cell(const RunRecord& run, std::size_t place) {
    const std::string name = html_text(run.peers[place].name);
    if (run.peers.size() > series_colours()) return head_cell(name);
    return head_cell(fmt::format(
        "<span class=\"swatch\" style=\"background: var(--series-{})\"></span>{}", place, name));
}

/// Its last line's; of one that was lost before the end, that it was.
std::string phase_cell(const RunRecord& run, const PeerRecord& peer) {
    const bool lost = run.outcome && peer.newest.phase != "done" &&
                      std::find(run.outcome->lost_peers.begin(), run.outcome->lost_peers.end(),
                                peer.name) != run.outcome->lost_peers.end();
    return html_text(lost ? "lost, while " + peer.newest.phase : peer.newest.phase);
}

std::string peers_table(const RunRecord& run) {
    const bool restarted = any_restarted(run);
    std::vector<std::string> heads = {"peer", "phase"};
    for (const PeerColumn& column : peer_columns) heads.push_back(column.head);
    if (restarted) heads.push_back("processes");
    std::vector<std::vector<HtmlCell>> rows;
    for (std::size_t place = 0; place < run.peers.size(); ++place) {
        const PeerRecord& peer = run.peers[place];
        std::vector<HtmlCell> row = {name_cell(run, place), {phase_cell(run, peer)}};
        for (const PeerColumn& column : peer_columns) row.push_back(number_cell(column.text(peer)));
        if (restarted) row.push_back(number_cell(fmt::to_string(peer.processes())));
        rows.push_back(std::move(row));
    }
    return html_table("Each peer: mean of samples/s, newest loss, P and staleness", heads, rows);
}

/// In one sentence.
std::string state_text(const RunRecord& run) {
    if (!run.outcome) {
        double progress = 0;
        for (const PeerRecord& peer : run.peers)
            progress = std::max(progress, peer.newest.progress);
        return fmt::format(
            "{:.0f} % of the budget after {}. There is no summary yet: the run is under way, or it "
            "was killed.",
            progress * 100, clock_text(run.seconds()));
    }
    const RunOutcome& outcome = *run.outcome;
    std::string text = fmt::format("Over after {}", clock_text(outcome.seconds));
    if (outcome.accuracy)
        text += fmt::format(" with a test accuracy of {:.2f} %", *outcome.accuracy * 100);
    if (outcome.exit != 0) text += fmt::format(", exit status {}", outcome.exit);
    if (!outcome.lost_peers.empty())
        text += fmt::format("; lost on the way: {}", fmt::join(outcome.lost_peers, ", "));
    return text + ".";
}

std::string opening(const RunRecord& run) {
    std::string text =
        fmt::format("<h1>{}</h1>\n<p class=\"soft\">{}</p>\n<p class=\"conclusion\">{}</p>\n",
                    html_text(run.settings ? run.settings->run : run.name),
                    html_text(fmt::format("{}, {} {}", run.name, run.peers.size(),
                                          run.peers.size() == 1 ? "peer" : "peers")),
                    html_text(state_text(run)));
    if (run.outcome && run.outcome->replicas_identical)
        text += paragraph(identical_text(run.outcome->digest, run.outcome->finished_with));
    return text;
}

/// What one has to know to read the charts.
std::string reading(const RunRecord& run, const std::vector<std::string>& missing) {
    std::string text =
        "Each peer has its colour and its symbol, the same in all charts. Time counts from the "
        "start of its first process.";
    if (any_restarted(run))
        text +=
            " Where a line is broken the peer was started again; how long it was away is not known "
            "and left out.";
    if (const double seconds = seconds_of_point(run); seconds > 0)
        text += fmt::format(
            " A point stands for {:.0f} s: the mean, of the stalest link the largest.", seconds);
    if (!missing.empty())
        text += fmt::format(" Without a value so far: {}.", fmt::join(missing, ", "));
    return fmt::format("<p class=\"soft\">{}</p>\n", html_text(text));
}

std::string settings_table(const Settings& settings) {
    std::vector<std::vector<HtmlCell>> rows;
    for (const Field& field : all_fields()) {
        if (!field.is_told || !heeds(settings, field.path)) continue;
        if (field.applies && !field.applies(settings)) continue;
        const std::string value = field.write(settings);
        if (value == "null" || value == "none") continue;
        rows.push_back({head_cell(html_text(field.path)), {html_text(value)}});
    }
    return "<h2>Settings</h2>\n" + html_table("The rest is in config.yaml", {"key", "value"}, rows);
}

/// An earlier call may have drawn this chart.
void remove_chart(const fs::path& stem) {
    std::error_code error;
    fs::remove(stem.string() + ".svg", error);
    fs::remove(stem.string() + ".svg.gnuplot", error);
}

void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        throw StartupError(
            fmt::format("the folder {} cannot be made: {}", folder.string(), error.message()),
            "name another one with --output FOLDER");
}

}  // namespace

std::string write_run_page(const RunRecord& run, const std::string& folder) {
    const fs::path plots = fs::path(folder) / "plots";
    make_folder(plots);
    const std::vector<Chart> charts = run_charts(run);
    std::string figures;
    for (const Chart& chart : charts) figures += draw_chart(chart, plots.string());
    std::vector<std::string> missing;
    for (const RunChart& known : known_run_charts) {
        const bool drawn = std::any_of(charts.begin(), charts.end(), [&known](const Chart& chart) {
            return chart.name == known.name;
        });
        if (drawn) continue;
        missing.emplace_back(known.words);
        remove_chart(plots / known.name);
    }
    std::string body = opening(run) + peers_table(run) + "<h2>Charts</h2>\n" +
                       reading(run, missing) + "<div class=\"plots\">\n" + figures + "</div>\n";
    if (run.settings) body += settings_table(*run.settings);
    std::string file = (fs::path(folder) / "run.html").string();
    write_whole_file(file, html_page(run.settings ? run.settings->run : run.name, body));
    return file;
}

}  // namespace ako
