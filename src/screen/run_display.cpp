#include "src/screen/run_display.h"

#include <fmt/format.h>

#include "src/results/number_text.h"
#include "src/screen/screen_line.h"

namespace ako {

namespace {

/// A header in every screenful.
constexpr std::size_t header_distance = 24;
/// Seconds between two rows that say the same in words.
constexpr double same_row_distance_s = 5;

}  // namespace

RunDisplay::RunDisplay(Console& console, const std::vector<std::string>& peer_names)
    : console_(console),
      name_width_(column_width("peer", peer_names)),
      rows_since_header_(header_distance) {}

void RunDisplay::write_row(const std::string& row) {
    if (rows_since_header_ >= header_distance) {
        rows_since_header_ = 0;
        console_.print(
            Console::Stream::out,
            fmt::format("{:>7}  {:<{}}  {:>7}  {:>9}  {:>7}  {:>6}  {:>13}  {:>5}  {:>5}\n", "time",
                        "peer", name_width_, "round", "samples/s", "loss", "test %",
                        "egress Mbit/s", "P", "stale"));
    }
    ++rows_since_header_;
    console_.print(Console::Stream::out, row + "\n");
}

void RunDisplay::show_row(double seconds, const std::string& name, const MetricsLine& line) {
    shown_.erase(name);
    const std::string accuracy =
        line.accuracy ? fmt::format("{:.2f}", *line.accuracy * 100) : std::string("-");
    const double partitions = line.partitions();
    write_row(fmt::format("{:>7}  {:<{}}  {:>7}  {:>9.0f}  {:>7}  {:>6}  {:>13.2f}  {:>5}  {:>5}",
                          clock_text(seconds), name, name_width_, line.round, line.samples_per_s,
                          line.loss ? fmt::format("{:.4f}", *line.loss) : "-", accuracy,
                          line.egress_mbit,
                          partitions > 0 ? fmt::format("{:.1f}", partitions) : std::string("-"),
                          line.staleness_rounds()));
}

void RunDisplay::show_doing(double seconds, const std::string& name, std::uint64_t round,
                            const std::string& doing) {
    const auto before = shown_.find(name);
    if (before != shown_.end() && before->second.doing == doing &&
        seconds - before->second.seconds < same_row_distance_s)
        return;
    shown_[name] = {doing, seconds};
    write_row(fmt::format("{:>7}  {:<{}}  {:>7}  {}", clock_text(seconds), name, name_width_, round,
                          doing));
}

void RunDisplay::show_second(const RunState& state) {
    for (const PeerState& peer : state.peers()) {
        if (!peer.heard || peer.exit || peer.line.phase == "done") continue;
        if (peer.doing.empty())
            show_row(state.seconds(), peer.name, peer.line);
        else
            show_doing(state.seconds(), peer.name, peer.line.round, peer.doing);
    }
}

void RunDisplay::show_log(const LogEntry& entry) {
    console_.print(Console::Stream::err,
                   fmt::format("{:>7}  {:<{}}  {}\n", clock_text(entry.seconds), entry.name,
                               name_width_, entry.text));
}

}  // namespace ako
