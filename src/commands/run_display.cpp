#include "src/commands/run_display.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "src/commands/view/text.h"

namespace ako {

namespace {

/// A header in every screenful.
constexpr std::size_t header_distance = 24;
/// Columns of a terminal that does not say how many it has.
constexpr std::size_t columns_default = 80;

std::size_t longest(const std::vector<std::string>& names) {
    std::size_t width = 4;  // "peer"
    for (const std::string& name : names) width = std::max(width, name.size());
    return width;
}

std::size_t terminal_columns() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return columns_default;
    return size.ws_col;
}

/// Cuts off what a line of the terminal has no room for: the bar must stay one line.
std::string cut(std::string text, std::size_t columns) {
    if (text.size() > columns) text.resize(columns);
    return text;
}

}  // namespace

RunDisplay::RunDisplay(const std::vector<std::string>& peer_names, std::string run)
    : name_width_(longest(peer_names)),
      run_(std::move(run)),
      terminal_(isatty(STDOUT_FILENO) == 1),
      colours_(terminal_ && std::getenv("NO_COLOR") == nullptr),
      rows_since_header_(header_distance) {}

RunDisplay::~RunDisplay() { clear_bar(); }

std::string RunDisplay::bold(const std::string& text) const {
    return colours_ ? "\033[1m" + text + "\033[0m" : text;
}

void RunDisplay::clear_bar() {
    if (!bar_.empty()) fmt::print("\r\033[K");
    bar_.clear();
    std::fflush(stdout);
}

void RunDisplay::write_row(const std::string& row) {
    const std::string bar = std::exchange(bar_, "");
    if (!bar.empty()) fmt::print("\r\033[K");
    if (rows_since_header_ >= header_distance) {
        rows_since_header_ = 0;
        fmt::print("{}\n", bold(fmt::format(
                               "{:>7}  {:<{}}  {:>7}  {:>8}  {:>7}  {:>6}  {:>13}  {:>5}  {:>5}",
                               "time", "peer", name_width_, "round", "images/s", "loss", "test %",
                               "egress Mbit/s", "P", "stale")));
    }
    ++rows_since_header_;
    fmt::print("{}\n{}", row, bar);
    bar_ = bar;
    std::fflush(stdout);
}

void RunDisplay::show_row(double seconds, const std::string& name, const MetricsLine& line) {
    const std::string accuracy =
        line.accuracy ? fmt::format("{:.2f}", *line.accuracy * 100) : std::string("-");
    const double partitions = line.partitions();
    write_row(fmt::format(
        "{:>7}  {:<{}}  {:>7}  {:>8.0f}  {:>7.4f}  {:>6}  {:>13.2f}  {:>5}  {:>5}",
        clock_text(seconds), name, name_width_, line.round, line.images_per_s, line.loss, accuracy,
        line.egress_mbit, partitions > 0 ? fmt::format("{:.1f}", partitions) : std::string("-"),
        line.staleness_rounds()));
}

void RunDisplay::show_state(double seconds, const std::string& name, std::uint64_t round,
                            const std::string& what) {
    write_row(fmt::format("{:>7}  {:<{}}  {:>7}  {}", clock_text(seconds), name, name_width_, round,
                          what));
}

void RunDisplay::show_log(double seconds, const std::string& name, const std::string& text) {
    const std::string bar = std::exchange(bar_, "");
    if (!bar.empty()) fmt::print("\r\033[K");
    std::fflush(stdout);
    fmt::print(stderr, "{:>7}  {:<{}}  {}\n", clock_text(seconds), name, name_width_, text);
    std::fflush(stderr);
    fmt::print("{}", bar);
    bar_ = bar;
    std::fflush(stdout);
}

std::optional<double> RunDisplay::seconds_left(double seconds, double progress) {
    if (progress <= 0) return std::nullopt;
    if (training_began_ < 0) {
        training_began_ = seconds;
        progress_began_ = progress;
    }
    const double made = progress - progress_began_;
    if (made <= 0) return std::nullopt;
    return (seconds - training_began_) * (1 - progress) / made;
}

void RunDisplay::show_progress(double seconds, double progress, const std::string& phase) {
    if (!terminal_) return;
    const auto left = seconds_left(seconds, progress);
    const std::string head = fmt::format("{} ", run_);
    const std::string tail = fmt::format(" {:>3.0f} %  {}", std::floor(progress * 100),
                                         phase != "training" ? phase
                                         : left ? clock_text(std::ceil(*left)) + " left"
                                                : std::string("starting"));
    constexpr std::size_t frame = 4;  // brackets, and the last column stays free
    constexpr std::size_t bar_columns_max = 50;
    const std::size_t columns = terminal_columns();
    const std::size_t used = head.size() + tail.size() + frame;
    const std::size_t width = columns > used ? std::min(columns - used, bar_columns_max) : 0;
    const auto full =
        static_cast<std::size_t>(std::clamp(progress, 0.0, 1.0) * static_cast<double>(width));
    bar_ = cut(fmt::format("{}[{}{}]{}", head, std::string(full, '='),
                           std::string(width - full, ' '), tail),
               columns - 1);
    fmt::print("\r\033[K{}", bar_);
    std::fflush(stdout);
}

}  // namespace ako
