#include "src/screen/shown_run.h"

#include <cmath>
#include <utility>

#include "ako/printable.h"
#include "src/screen/live_view.h"
#include "src/screen/run_display.h"

namespace ako {

namespace {

std::unique_ptr<RunView> make_view(Console& console, bool live,
                                   const std::vector<std::string>& peer_names) {
    if (live) return std::make_unique<LiveView>(console, peer_names);
    return std::make_unique<RunDisplay>(console, peer_names);
}

}  // namespace

ShownRun::ShownRun(Console& console, bool live, RunState state,
                   const std::vector<std::string>& peer_names)
    : state_(std::move(state)), view_(make_view(console, live, peer_names)) {}

void ShownRun::log(double seconds, const std::string& name, const std::string& text) {
    LogEntry entry{seconds, name, printable(text)};
    view_->show_log(entry);
    state_.take_log(std::move(entry));
}

void ShownRun::show(double seconds) {
    if (seconds < next_second_) return;
    state_.refresh(seconds);
    view_->show_second(state_);
    next_second_ = std::floor(seconds) + 1;
}

void ShownRun::close(double seconds) {
    state_.refresh(seconds);
    view_->close(state_);
}

}  // namespace ako
