#include "src/screen/run_screen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ako/printable.h"
#include "src/results/number_text.h"
#include "src/screen/peer_table.h"
#include "src/screen/plot.h"
#include "src/screen/screen_line.h"

namespace ako {

namespace {

using Lines = std::vector<ScreenLine>;
using Middle = ScreenChoice::Middle;

constexpr std::size_t plot_rows_max = 32;
constexpr std::size_t plot_rows_usual = 7;
constexpr std::size_t log_rows_usual = 3;
/// Rows of peers below which the middle gives way.
constexpr std::size_t peer_rows_min = 3;
/// If more peers than this say the same, they are only counted.
constexpr std::size_t others_named_max = 4;

const char* const help_of_all[] = {
    " P      rounds in which one cycle over the parameters is sent",
    " stale  rounds by which the oldest block held of any live peer is behind",
    " links  sessions that are up, of those to all other peers",
};
const char* const help_of_one[] = {
    " bold row     this peer, with its totals; the others are as it hears of them",
    " to, from, P  of its link with that peer; stale: of what it holds of its row",
    " links        sessions that are up, or whether that peer is; - and ?: not known",
};
const char* const help_of_keys[] = {
    " l      links: P and rounds behind; again: rates and ages; again: the plots;",
    "        or what a peer knows of the other: absent, down, lost, gone or left",
    " arrow keys  move where not all peers or links fit",
    " q      ends the run, as Ctrl-C does: the peers stop after their round, agree",
    "        and write what they have; Ctrl-C once more ends them at once",
};

void append(Lines& lines, const Lines& more) {
    lines.insert(lines.end(), more.begin(), more.end());
}

/// `left` at the left end, `right` at the right one.
ScreenLine spread(ScreenLine left, const ScreenLine& right, std::size_t columns) {
    const std::size_t used = right.columns() + 1;
    return left.pad_to(columns > used ? columns - used : 0).add(right);
}

ScreenLine title(const RunState& state, std::size_t columns) {
    const bool training = state.phase() == "training";
    const std::size_t peers = state.peers().size();
    const std::size_t at_work = state.peers_at_work();
    ScreenLine right(training ? fmt::format("{} of {} peers", at_work, peers)
                              : fmt::format("{} peer{}", peers, peers == 1 ? "" : "s"),
                     training && at_work < peers ? Paint::bad : Paint::plain);
    right.add("  " + clock_text(state.seconds()));
    ScreenLine left(" " + state.run(), Paint::strong);
    // A peer may wait for sixty others.
    const std::size_t used = left.columns() + right.columns() + 5;
    left.add("  " + shortened(state.phase(), columns > used ? columns - used : 0),
             training ? Paint::plain : Paint::notice);
    return spread(std::move(left), right, columns);
}

std::string bar(double share, std::size_t width, bool unicode) {
    const double full = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
    const auto whole = static_cast<std::size_t>(full);
    std::string text;
    if (!unicode) return std::string(whole, '=') + std::string(width - whole, ' ');
    for (std::size_t k = 0; k < whole; ++k) text += "█";
    if (whole == width) return text;
    // The last character in eighths.
    const char* const parts[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    text += parts[static_cast<std::size_t>((full - static_cast<double>(whole)) * 8)];
    return text + std::string(width - whole - 1, ' ');
}

ScreenLine progress_line(const RunState& state, const ScreenStyle& style) {
    const auto left = state.seconds_left();
    const std::string tail =
        fmt::format("{:>4.0f} %   epoch {:.2f} of {:.4g}{}", std::floor(state.progress() * 100),
                    state.progress() * state.epochs(), state.epochs(),
                    left ? "   " + clock_text(std::ceil(*left)) + " left" : std::string());
    const std::size_t frame = 5;  // brackets, a space on either side
    const std::size_t used = tail.size() + frame;
    const std::size_t width = style.columns > used + 10 ? style.columns - used : 10;
    ScreenLine line(style.unicode ? " ▕" : " [", Paint::faint);
    line.add(bar(state.progress(), width, style.unicode), Paint::good);
    return line.add(style.unicode ? "▏" : "]", Paint::faint).add(tail);
}

/// Both plots beside each other. `none`: what stands for an accuracy that is not there.
Lines plots(const RunState& state, std::size_t rows, const ScreenStyle& style,
            const char* none = "not yet") {
    PlotStyle half{(style.columns - 1) / 2, rows, style.unicode, Paint::loss};
    const auto loss = state.newest_loss();
    const auto accuracy = state.newest_accuracy();
    PlotTexts texts{"loss", loss ? fmt::format("{:.4f}", *loss) : "", false, true, state.epochs()};
    Lines lines = plot(state.loss().points(), texts, half);
    half.paint = Paint::accuracy;
    texts = {"test accuracy", accuracy ? fmt::format("{:.2f} %", *accuracy * 100) : none, true,
             false, state.epochs()};
    const Lines right = plot(state.accuracy().points(), texts, half);
    for (std::size_t k = 0; k < lines.size(); ++k) lines[k].pad_to(half.columns + 1).add(right[k]);
    return lines;
}

Lines help(const RunState& state) {
    Lines lines;
    for (const char* line : state.own() != nullptr ? help_of_one : help_of_all)
        lines.emplace_back(line);
    for (const char* line : help_of_keys) lines.emplace_back(line);
    return lines;
}

/// Rows that the middle needs at least and can use at most, the blank line above it included.
struct RowsNeeded {
    std::size_t least;
    std::size_t most;
};

/// As it should be, or the barest.
RowsNeeded middle_need(const RunState& state, Middle middle, bool usual) {
    const std::size_t peers = state.peers().size();
    constexpr std::size_t help_rows = std::size(help_of_all) + std::size(help_of_keys) + 1;
    constexpr std::size_t plots_most = plot_rows_max + 1;
    if (middle == Middle::help) return {help_rows, help_rows + plots_most};
    if (middle == Middle::plots) return {(usual ? plot_rows_usual : plot_rows_min) + 1, plots_most};
    // A title and a header; of many peers some can be seen at least.
    return {std::min<std::size_t>(peers, usual ? 8 : 3) + 3, peers + 3 + plots_most};
}

/// `rows` is without the blank line above.
Lines upper_middle(const RunState& state, const ScreenChoice& choice, std::size_t rows,
                   const ScreenStyle& style) {
    if (choice.middle == Middle::help) return help(state);
    const auto figures =
        choice.middle == Middle::links ? LinkFigures::freshness : LinkFigures::rates;
    return link_table(state, figures, choice.first_peer, choice.first_column, rows - 2,
                      style.columns);
}

/// The plots fill what a table leaves, where that is enough for them.
Lines middle_lines(const RunState& state, const ScreenChoice& choice, std::size_t rows,
                   const ScreenStyle& style) {
    if (choice.middle == Middle::plots) return plots(state, rows, style);
    Lines lines = upper_middle(state, choice, rows, style);
    if (lines.size() + 1 + plot_rows_min > rows) return lines;
    lines.emplace_back();
    append(lines, plots(state, rows - lines.size(), style));
    return lines;
}

std::size_t name_width(const RunState& state) {
    std::size_t width = 3;  // "ako"
    for (const PeerState& peer : state.peers()) width = std::max(width, peer.name.size());
    return std::min<std::size_t>(width, 20);
}

/// Entries of the log, the newest first, each with the rows that it takes.
using Entries = std::vector<std::vector<std::string>>;

/// As many as can be seen.
Entries newest_entries(const RunState& state, const ScreenStyle& style) {
    const std::size_t width = name_width(state);
    const std::size_t indent = log_text({}, width).size();
    Entries entries;
    std::size_t rows = 0;
    for (auto entry = state.log().rbegin(); entry != state.log().rend() && rows < style.rows;
         ++entry) {
        entries.push_back(wrapped(log_text(*entry, width), style.columns, indent));
        rows += entries.back().size();
    }
    return entries;
}

/// The newest entries that fit, oldest first. If even the newest does not, what can be seen of it.
Lines log_lines(const Entries& newest, std::size_t rows, std::size_t columns) {
    std::vector<std::string> texts;
    for (const std::vector<std::string>& entry : newest) {
        if (texts.size() + entry.size() > rows) break;
        texts.insert(texts.begin(), entry.begin(), entry.end());
    }
    if (texts.empty() && !newest.empty()) {
        texts.assign(newest[0].begin(), newest[0].begin() + static_cast<std::ptrdiff_t>(rows));
        texts.back() = shortened(texts.back() + " ..", columns);
    }
    Lines lines;
    for (const std::string& text : texts) lines.emplace_back(text);
    return lines;
}

ScreenLine key_line(const ScreenChoice& choice) {
    ScreenLine line(" ");
    const auto key = [&line](const char* name, const char* what) {
        line.add(name, Paint::strong).add(what, Paint::faint);
    };
    key("l", choice.middle == Middle::links   ? " rates of links   "
             : choice.middle == Middle::rates ? " plots   "
                                              : " links   ");
    key("h", choice.middle == Middle::help ? " plots   " : " help   ");
    key("q", " end the run");
    return line;
}

/// How many rows each part gets.
struct Layout {
    std::size_t peers = 0;   ///< without the header
    std::size_t middle = 0;  ///< with the blank line above; 0: none
    std::size_t log = 0;     ///< likewise
};

Layout lay_out(const RunState& state, const ScreenChoice& choice, std::size_t room,
               const Entries& newest) {
    const std::size_t peers = state.peers().size();
    const std::size_t newest_rows = newest.empty() ? 0 : newest[0].size();
    const std::size_t log_most =
        std::accumulate(newest.begin(), newest.end(), std::size_t{0},
                        [](std::size_t rows, const auto& entry) { return rows + entry.size(); });
    const auto log_rows = [log_most](std::size_t rows) {
        return log_most == 0 ? 0 : std::min(log_most, rows) + 1;
    };
    const RowsNeeded usual = middle_need(state, choice.middle, true);
    const RowsNeeded bare = middle_need(state, choice.middle, false);
    const bool plotting = choice.middle == Middle::plots;
    // Help that has no room beside anything has all there is.
    if (choice.middle == Middle::help && usual.least > room) return {0, room, 0};
    // From the best on: the first that has room with all peers, else with some of them. Plots can
    // be small, and give way to peers; of a table, which was asked for, all should be seen.
    using Ways = std::vector<std::pair<RowsNeeded, std::size_t>>;
    const std::size_t log = log_rows(std::max(log_rows_usual, newest_rows));
    const Ways ways =
        plotting ? Ways{{usual, log},        {bare, log}, {bare, log_rows(newest_rows)},
                        {bare, log_rows(1)}, {bare, 0},   {{0, 0}, 0}}
                 : Ways{{usual, log}, {usual, log_rows(1)}, {usual, 0}, {bare, 0}, {{0, 0}, 0}};
    for (const std::size_t peers_least : {peers, std::min(peers, peer_rows_min), std::size_t{0}}) {
        for (const auto& [need, log_rows_wanted] : ways) {
            // Peers are only left out for a middle; without one they take what there is.
            if (need.least == 0 && peers_least > 0 && !(plotting && peers_least == peers)) continue;
            if (plotting && need.least > 0 && peers_least == 0) continue;
            if (peers_least + need.least + log_rows_wanted > room) continue;
            Layout layout{std::min(peers, room - need.least - log_rows_wanted), need.least,
                          log_rows_wanted};
            // What is left: the middle grows first, then the log.
            std::size_t left = room - layout.peers - layout.middle - layout.log;
            const std::size_t more = std::min(left, need.most - need.least);
            layout.middle += more;
            left -= more;
            if (layout.log == 0 && need.least == 0 && log_most > 0 && left > 1) {
                layout.log = 1;  // the blank line above
                left -= 1;
            }
            if (layout.log > 0) layout.log += std::min(left, log_most + 1 - layout.log);
            return layout;
        }
    }
    return {};
}

std::vector<std::string> texts_of(const Lines& lines, const ScreenStyle& style) {
    std::vector<std::string> texts;
    for (const ScreenLine& line : lines) texts.push_back(line.text(style.columns, style.colours));
    return texts;
}

}  // namespace

std::string log_text(const LogEntry& entry, std::size_t name_width) {
    std::string text =
        fmt::format("{:>7}  {:<{}}  {}", clock_text(entry.seconds),
                    shortened(entry.name, name_width), name_width, printable(entry.text));
    if (entry.others.size() > others_named_max)
        return text + fmt::format(" ({} others: the same)", entry.others.size());
    if (entry.others.empty()) return text;
    return text + fmt::format(" ({}: the same)", fmt::join(entry.others, ", "));
}

std::vector<std::string> run_screen(const RunState& state, const ScreenChoice& choice,
                                    const ScreenStyle& style) {
    // Title, bar, blank, header, keys.
    constexpr std::size_t fixed_rows = 5;
    const std::size_t room = style.rows > fixed_rows ? style.rows - fixed_rows : 0;
    const Entries newest = newest_entries(state, style);
    const Layout layout = lay_out(state, choice, room, newest);
    Lines lines = {title(state, style.columns), progress_line(state, style), ScreenLine()};
    if (layout.peers == 0 && layout.middle > 1) {
        // Somebody asked for what has no room beside peers: it has theirs and the header's, too.
        append(lines, middle_lines(state, choice, layout.middle + 1, style));
    } else {
        append(lines, peer_table(state, choice.first_peer, layout.peers, style.columns));
        if (layout.middle > 1) {
            lines.emplace_back();
            append(lines, middle_lines(state, choice, layout.middle - 1, style));
        }
    }
    if (layout.log > 1) {
        lines.emplace_back();
        append(lines, log_lines(newest, layout.log - 1, style.columns));
    }
    lines.resize(std::max<std::size_t>(style.rows, 1) - 1);
    lines.push_back(key_line(choice));
    return texts_of(lines, style);
}

std::vector<std::string> closing_screen(const RunState& state, const ScreenStyle& style) {
    constexpr std::size_t plot_rows = 10;
    Lines lines = {title(state, style.columns), progress_line(state, style), ScreenLine()};
    append(lines, peer_table(state, 0, state.peers().size(), style.columns));
    if (!state.loss().points().empty()) {
        lines.emplace_back();
        append(lines, plots(state, plot_rows, style, "none"));
    }
    return texts_of(lines, style);
}

}  // namespace ako
