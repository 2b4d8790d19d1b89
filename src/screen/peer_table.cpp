#include "src/screen/peer_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "src/results/number_text.h"

namespace ako {

namespace {

/// Names may have 32 letters; the columns of figures give way before names are cut below this.
constexpr std::size_t name_width_max = 20;

/// One column of figures. Which are shown depends on the width; they stand in the order of the
/// list.
struct Column {
    std::string title;
    std::size_t width;
    int importance;  ///< the least important are left out first
    std::function<std::string(const PeerState&)> text;
};

std::string number_or_dash(double number, int digits) {
    return number > 0 ? fmt::format("{:.{}f}", number, digits) : "-";
}

std::size_t links_up(const PeerState& peer) {
    return static_cast<std::size_t>(
        std::count_if(peer.line.links.begin(), peer.line.links.end(),
                      [](const LinkLine& link) { return link.presence == Presence::up; }));
}

/// Nothing is wrong with a peer that has left, and one that is absent may still come.
Paint paint_of(Presence presence) {
    switch (presence) {
        case Presence::up:
            return Paint::plain;
        case Presence::left:
            return Paint::faint;
        case Presence::absent:
            return Paint::notice;
        case Presence::down:
        case Presence::lost:
        case Presence::gone:
            return Paint::bad;
    }
    return Paint::plain;
}

/// As the worst of them.
Paint paint_of_links(const MetricsLine& line) {
    Paint worst = Paint::plain;
    for (const LinkLine& link : line.links) {
        const Paint paint = paint_of(link.presence);
        if (paint == Paint::bad) return paint;
        if (paint == Paint::notice) worst = paint;
    }
    return worst;
}

std::string loss_text(const PeerState& peer) {
    return peer.loss() ? fmt::format("{:.4f}", *peer.loss()) : "-";
}

std::string links_text(const PeerState& peer) {
    if (peer.seen) return word(peer.seen->presence);
    return fmt::format("{}/{}", links_up(peer), peer.line.links.size());
}

Paint paint_of_links(const PeerState& peer) {
    return peer.seen ? paint_of(peer.seen->presence) : paint_of_links(peer.line);
}

std::string noise_text(const PeerState& peer) {
    return peer.line.noise_scale ? fmt::format("{:.3g}", *peer.line.noise_scale) : "-";
}

bool knows_noise(const PeerState& peer) { return peer.line.noise_scale.has_value(); }

bool paces_checkpoints(const PeerState& peer) { return peer.line.checkpoints.has_value(); }

/// How often, and at what price: "31 s 0.4 %".
std::string checkpoints_text(const PeerState& peer) {
    const auto& paced = peer.line.checkpoints;
    return paced ? fmt::format("{:.0f} s {:.1f} %", paced->seconds, 100 * paced->share) : "-";
}

bool trains_several(const PeerState& peer) { return peer.line.learners > 1; }

bool was_restarted(const PeerState& peer) { return peer.restarts > 0; }

/// What not every run has to tell.
struct Extras {
    bool noise = false;
    bool learners = false;
    bool restarts = false;
    bool checkpoints = false;
};

/// `one`: as one peer sees it.
std::vector<Column> all_columns(bool one, const Extras& told) {
    std::vector<Column> columns = {
        {"samples/s", 10, 7,
         [](const PeerState& p) { return fmt::format("{:.0f}", p.line.samples_per_s); }},
        {"loss", 9, 9, loss_text},
        {one ? "to Mbit/s" : "out Mbit/s", 12, 6,
         [](const PeerState& p) { return fmt::format("{:.1f}", p.line.egress_mbit); }},
        {one ? "from Mbit/s" : "in Mbit/s", one ? 13u : 11u, 5,
         [](const PeerState& p) { return fmt::format("{:.1f}", p.line.ingress_mbit); }},
        {"P", 7, 8,
         [](const PeerState& p) {
             return number_or_dash(p.seen ? p.seen->partitions : p.line.partitions(), 1);
         }},
        {"stale", 7, 8,
         [](const PeerState& p) {
             return fmt::to_string(p.seen ? p.seen->staleness_rounds : p.line.staleness_rounds());
         }},
        {"links", 7, 8, links_text},
        {"samples", 12, 2, [](const PeerState& p) { return grouped(p.line.samples); }},
        {"sent", 11, 3,
         [](const PeerState& p) { return bytes_text(static_cast<double>(p.line.egress_bytes)); }},
        {"received", 11, 1,
         [](const PeerState& p) { return bytes_text(static_cast<double>(p.line.ingress_bytes)); }},
    };
    if (told.noise) columns.push_back({"noise", 9, 7, noise_text});
    if (told.learners)
        columns.push_back({"learners", 10, 7,
                           [](const PeerState& p) { return fmt::to_string(p.line.learners); }});
    if (told.restarts)
        columns.push_back(
            {"restarts", 10, 7, [](const PeerState& p) { return fmt::to_string(p.restarts); }});
    if (told.checkpoints) columns.push_back({"saved every", 13, 4, checkpoints_text});
    return columns;
}

std::vector<Column> columns_that_fit(std::size_t room, const RunState& state) {
    const auto any = [&state](bool (*has)(const PeerState&)) {
        return std::any_of(state.peers().begin(), state.peers().end(), has);
    };
    std::vector<Column> columns = all_columns(
        state.own() != nullptr, {any(knows_noise), any(trains_several), any(was_restarted),
                                 any(paces_checkpoints)});
    const auto width = [&columns] {
        std::size_t sum = 0;
        for (const Column& column : columns) sum += column.width;
        return sum;
    };
    while (!columns.empty() && width() > room)
        columns.erase(std::min_element(
            columns.begin(), columns.end(),
            [](const Column& a, const Column& b) { return a.importance < b.importance; }));
    return columns;
}

std::size_t name_width_of(const RunState& state, std::size_t columns) {
    std::size_t width = 4;  // "peer"
    for (const PeerState& peer : state.peers()) width = std::max(width, peer.name.size());
    return std::min(width, columns >= 120 ? 32 : name_width_max);
}

Paint paint_of(PeerState::Mood mood) {
    switch (mood) {
        case PeerState::Mood::trains:
            return Paint::plain;
        case PeerState::Mood::waits:
            return Paint::notice;
        case PeerState::Mood::ended:
            return Paint::good;
        case PeerState::Mood::ill:
            return Paint::bad;
    }
    return Paint::plain;
}

constexpr std::size_t round_width = 9;

std::string totals(const PeerState& peer) {
    const MetricsLine& line = peer.line;
    const bool is_told = peer.told && !peer.heard;
    if (peer.seen || is_told) return fmt::format("{} samples", grouped(line.samples));
    const std::string restarts = was_restarted(peer) ? fmt::format("   {} restart{}", peer.restarts,
                                                                   peer.restarts == 1 ? "" : "s")
                                                     : "";
    return fmt::format("{} samples   {} sent   {} received{}", grouped(line.samples),
                       bytes_text(static_cast<double>(line.egress_bytes)),
                       bytes_text(static_cast<double>(line.ingress_bytes)), restarts);
}

ScreenLine peer_row(const PeerState& peer, std::size_t name_width,
                    const std::vector<Column>& columns, bool strong) {
    ScreenLine row(fmt::format(" {:<{}}", shortened(peer.name, name_width), name_width),
                   strong ? Paint::strong : Paint::plain);
    row.add(fmt::format("{:>{}}", peer.heard || peer.told ? grouped(peer.line.round) : "-",
                        round_width));
    if (!peer.doing.empty()) {
        row.add("  ").add(peer.doing, paint_of(peer.mood));
        if (peer.mood == PeerState::Mood::ended) row.add("   ").add(totals(peer));
        return row;
    }
    for (const Column& column : columns) {
        row.add(fmt::format("{:>{}}", column.text(peer), column.width),
                column.title == "links" ? paint_of_links(peer) : Paint::plain);
    }
    return row;
}

/// What is known of the direction from one peer to another: what the sender observes of its
/// sending, and how old what the receiver holds is.
struct Direction {
    const LinkLine* sent = nullptr;
    const LinkLine* held = nullptr;
};

const LinkLine* link_to(const PeerState& peer, const std::string& other) {
    for (const LinkLine& link : peer.line.links)
        if (link.peer == other) return &link;
    return nullptr;
}

/// As the sender says. One that hangs says nothing new: then as the receiver does.
Presence presence_on(const Direction& way, const PeerState& to) {
    if (way.sent->presence != Presence::up) return way.sent->presence;
    if (has_finished(to.line)) return Presence::left;
    const bool held_known = to.heard && !to.exit && way.held != nullptr;
    return held_known ? way.held->presence : Presence::up;
}

std::string share_text(double number) {
    return fmt::format("{:.{}f}", number, number < 99.95 ? 1 : 0);
}

/// From a peer that only another tells of: all that is known is how old what that one holds is.
ScreenLine seen_cell(const PeerState& from, const Direction& way, LinkFigures figures,
                     const char* separator) {
    if (way.held == nullptr) return ScreenLine("?", Paint::faint);
    const Presence presence = from.seen->presence;
    if (presence != Presence::up) return ScreenLine(word(presence), paint_of(presence));
    const std::string age = figures == LinkFigures::freshness
                                ? fmt::to_string(way.held->staleness_rounds)
                                : fmt::format("{:.1f}", way.held->staleness_ms / 1e3);
    return ScreenLine("?", Paint::faint).add(separator, Paint::faint).add(age);
}

ScreenLine link_cell(const PeerState& from, const PeerState& to, LinkFigures figures,
                     const char* separator) {
    if (&from == &to) return ScreenLine("-", Paint::faint);
    const Direction way{link_to(from, to.name), link_to(to, from.name)};
    if (from.seen) return seen_cell(from, way, figures, separator);
    if (!from.heard || way.sent == nullptr) return ScreenLine("?", Paint::faint);
    if (has_finished(from.line)) return ScreenLine(word(Presence::left), paint_of(Presence::left));
    if (from.exit) return ScreenLine("ended", Paint::faint);
    const bool held_known = to.heard && way.held != nullptr;
    const Presence presence = presence_on(way, to);
    if (presence != Presence::up) return ScreenLine(word(presence), paint_of(presence));
    if (to.exit) return ScreenLine("ended", Paint::faint);
    std::string first;
    std::string second = "?";
    if (figures == LinkFigures::freshness) {
        first = way.sent->partitions > 0 ? share_text(way.sent->partitions) : "-";
        if (held_known) second = fmt::to_string(way.held->staleness_rounds);
    } else {
        first = share_text(way.sent->egress_mbit);
        if (held_known) second = fmt::format("{:.1f}", way.held->staleness_ms / 1e3);
    }
    return ScreenLine(first).add(separator, Paint::faint).add(second);
}

/// All cells of the table of links, and how wide they are with a gap.
struct LinkCells {
    std::vector<std::vector<ScreenLine>> cells;  ///< [from][to]
    std::size_t width = 0;
};

LinkCells link_cells(const std::vector<PeerState>& peers, LinkFigures figures,
                     const char* separator, std::size_t width_min) {
    LinkCells all{std::vector<std::vector<ScreenLine>>(peers.size()), width_min};
    for (std::size_t from = 0; from < peers.size(); ++from) {
        for (const PeerState& to : peers) {
            all.cells[from].push_back(link_cell(peers[from], to, figures, separator));
            all.width = std::max(all.width, all.cells[from].back().columns() + 2);
        }
    }
    return all;
}

/// Right-aligned in a cell.
void add_cell(ScreenLine& line, const ScreenLine& cell, std::size_t width) {
    const std::size_t used = cell.columns();
    line.add(std::string(used < width ? width - used : 1, ' ')).add(cell);
}

}  // namespace

std::vector<ScreenLine> peer_table(const RunState& state, std::size_t first, std::size_t rows_max,
                                   std::size_t columns) {
    const std::size_t name_width = name_width_of(state, columns);
    const std::size_t used = 1 + name_width + round_width;
    const PeerState* own = state.own();
    const std::vector<Column> shown = columns_that_fit(columns > used ? columns - used : 0, state);
    std::string header = fmt::format(" {:<{}}{:>{}}", "peer", name_width, "round", round_width);
    for (const Column& column : shown) header += fmt::format("{:>{}}", column.title, column.width);
    std::vector<ScreenLine> lines = {ScreenLine(header, Paint::strong)};

    const std::vector<PeerState>& peers = state.peers();
    const bool all = peers.size() <= rows_max;
    const std::size_t rows = all ? peers.size() : std::max<std::size_t>(rows_max, 1) - 1;
    first = std::min(first, peers.size() - rows);
    for (std::size_t k = first; k < first + rows; ++k)
        lines.push_back(peer_row(peers[k], name_width, shown, &peers[k] == own));
    if (all) return lines;
    const std::size_t below = peers.size() - first - rows;
    lines.emplace_back(fmt::format(" (up, down: {} more peers, {} above and {} below)",
                                   peers.size() - rows, first, below),
                       Paint::notice);
    return lines;
}

std::vector<ScreenLine> link_table(const RunState& state, LinkFigures figures,
                                   std::size_t first_row, std::size_t first_column,
                                   std::size_t rows_max, std::size_t columns) {
    const std::vector<PeerState>& peers = state.peers();
    const bool freshness = figures == LinkFigures::freshness;
    std::vector<ScreenLine> lines;
    lines.emplace_back(" links from row to column: ", Paint::strong);
    lines[0].add(freshness ? "P / rounds behind" : "Mbit/s / age in seconds", Paint::faint);

    const std::size_t name_width = std::min<std::size_t>(name_width_of(state, columns), 12);
    const std::size_t room = columns > name_width + 1 ? columns - name_width - 1 : 0;
    // Narrower where otherwise columns would have to be left out.
    LinkCells spaced = link_cells(peers, figures, " / ", std::min<std::size_t>(name_width, 9) + 2);
    const auto [cells, cell_width] =
        spaced.width * peers.size() <= room
            ? std::move(spaced)
            : link_cells(peers, figures, "/", std::min<std::size_t>(name_width, 9) + 1);
    const std::size_t wide = std::min(std::max<std::size_t>(room / cell_width, 1), peers.size());
    const bool all = peers.size() <= rows_max;
    const std::size_t high = all ? peers.size() : std::max<std::size_t>(rows_max, 1) - 1;
    first_row = std::min(first_row, peers.size() - high);
    first_column = std::min(first_column, peers.size() - wide);

    lines.emplace_back(fmt::format(" {:<{}}", "", name_width));
    for (std::size_t to = first_column; to < first_column + wide; ++to)
        add_cell(lines[1], ScreenLine(shortened(peers[to].name, cell_width - 1), Paint::strong),
                 cell_width);
    for (std::size_t from = first_row; from < first_row + high; ++from) {
        lines.emplace_back(
            fmt::format(" {:<{}}", shortened(peers[from].name, name_width), name_width),
            Paint::strong);
        for (std::size_t to = first_column; to < first_column + wide; ++to)
            add_cell(lines.back(), cells[from][to], cell_width);
    }
    if (!all)
        lines.emplace_back(fmt::format(" (up, down: {} more rows)", peers.size() - high),
                           Paint::notice);
    if (wide < peers.size())
        lines[0].add(fmt::format("   (left, right: {} more columns)", peers.size() - wide),
                     Paint::notice);
    return lines;
}

}  // namespace ako
