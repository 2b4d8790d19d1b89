#include "src/screen/live_view.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "src/screen/screen_line.h"

namespace ako {

namespace {

using Middle = ScreenChoice::Middle;

Middle after_l(Middle middle) {
    if (middle == Middle::links) return Middle::rates;
    return middle == Middle::rates ? Middle::plots : Middle::links;
}

}  // namespace

LiveView::LiveView(Console& console, const std::vector<std::string>& peer_names)
    : console_(console),
      name_width_(column_width("ako", peer_names)),
      log_elsewhere_(isatty(STDERR_FILENO) != 1) {}

void LiveView::print_log(const LogEntry& entry) {
    console_.print(Console::Stream::err, log_text(entry, name_width_) + "\n");
}

void LiveView::show_log(const LogEntry& entry) {
    if (log_elsewhere_) print_log(entry);
}

void LiveView::show_second(const RunState& state) { draw(state); }

void LiveView::draw(const RunState& state) {
    // Continued in the background, it waits for the foreground.
    if (!terminal_.enter()) return;
    terminal_.draw(run_screen(state, choice_, terminal_.style()));
}

bool LiveView::take_input(const RunState& state) {
    bool end = false;
    for (const Key key : terminal_.take_keys()) {
        if (key == Key::q)
            end = true;
        else if (key == Key::l)
            choice_.middle = after_l(choice_.middle);
        else if (key == Key::h)
            choice_.middle = choice_.middle == Middle::help ? Middle::plots : Middle::help;
        else
            move(key, state);
    }
    draw(state);
    return end;
}

void LiveView::move(Key key, const RunState& state) {
    const std::size_t last = state.peers().size() - 1;
    const auto down = [](std::size_t& place) { place -= place > 0 ? 1 : 0; };
    const auto up = [last](std::size_t& place) { place = std::min(place + 1, last); };
    if (key == Key::up) down(choice_.first_peer);
    if (key == Key::down) up(choice_.first_peer);
    if (key == Key::left) down(choice_.first_column);
    if (key == Key::right) up(choice_.first_column);
}

void LiveView::suspend(const RunState& state) {
    terminal_.leave();
    // For this thread, which stops all. A signal for the process may be taken by another one, and
    // this one would draw before it stands still.
    raise(SIGSTOP);
    draw(state);
}

void LiveView::close(const RunState& state) {
    ScreenStyle style = terminal_.style();
    terminal_.leave();
    if (!log_elsewhere_) {
        if (state.log_dropped() > 0)
            console_.print(Console::Stream::err,
                           fmt::format("({} earlier lines are in the peers' log files)\n",
                                       state.log_dropped()));
        for (const LogEntry& entry : state.log()) print_log(entry);
        if (!state.log().empty()) console_.print(Console::Stream::err, "\n");
    }
    for (const std::string& line : closing_screen(state, style))
        console_.print(Console::Stream::out, line + "\n");
}

}  // namespace ako
