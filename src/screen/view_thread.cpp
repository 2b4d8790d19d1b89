#include "src/screen/view_thread.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "src/system/terminal_signals.h"

namespace ako {

ViewThread::ViewThread(RunState state, std::size_t self,
                       std::function<std::unique_ptr<RunView>()> make_view,
                       std::function<void()> end)
    : self_(self),
      name_(state.peers().at(self).name),
      make_view_(std::move(make_view)),
      end_(std::move(end)),
      wake_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      state_(std::move(state)) {
    // Signals that ask the run to end are for the threads that know what to do with them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ViewThread::~ViewThread() {
    if (thread_.joinable()) end_thread(nullptr);
    if (wake_fd_ >= 0) ::close(wake_fd_);
}

void ViewThread::close(std::function<void(RunState&)> last) { end_thread(std::move(last)); }

void ViewThread::end_thread(std::function<void(RunState&)> last) {
    {
        const std::lock_guard lock(mutex_);
        last_ = std::move(last);
        ending_ = true;
    }
    wake();
    thread_.join();
}

void ViewThread::take_line(MetricsLine line) {
    {
        const std::lock_guard lock(mutex_);
        inbox_.line = std::move(line);
    }
    wake();
}

void ViewThread::take_log(std::string text) {
    {
        const std::lock_guard lock(mutex_);
        if (inbox_.log.size() >= RunState::log_max) inbox_.log.pop_front();  // its file has it
        inbox_.log.push_back({seconds(), name_, std::move(text)});
    }
    wake();
}

double ViewThread::seconds() const { return seconds_of(clock_.now() - began_); }

void ViewThread::wake() const {
    const std::uint64_t one = 1;
    if (wake_fd_ >= 0 && ::write(wake_fd_, &one, sizeof one) < 0) return;  // it is awake
}

void ViewThread::wait(const RunView& view, int signals_fd) {
    std::array<pollfd, 3> watched = {{{wake_fd_, POLLIN, 0},
                                      {signals_fd, POLLIN, 0},
                                      {input_gone_ ? -1 : view.input_fd(), POLLIN, 0}}};
    const double left_s = std::floor(state_.seconds()) + 1 - seconds();
    poll(watched.data(), watched.size(), static_cast<int>(std::max(0.0, left_s) * 1e3) + 1);
    input_ready_ = (watched[2].revents & POLLIN) != 0;
    input_gone_ |= watched[2].revents != 0 && !input_ready_;
    std::uint64_t count = 0;
    if ((watched[0].revents & POLLIN) != 0 && ::read(wake_fd_, &count, sizeof count) < 0) return;
}

bool ViewThread::take_inbox(RunView& view) {
    Inbox inbox;
    {
        const std::lock_guard lock(mutex_);
        inbox = std::exchange(inbox_, {});
    }
    const bool has_line = inbox.line.has_value();
    if (has_line) state_.take_line(self_, std::move(*inbox.line), seconds());
    for (LogEntry& entry : inbox.log) {
        view.show_log(entry);
        state_.take_log(std::move(entry));
    }
    return has_line;
}

void ViewThread::run() {
    std::optional<TerminalSignals> signals;  // until the view has left the terminal
    const std::unique_ptr<RunView> view = make_view_();
    if (view->is_screen()) signals.emplace();
    bool end_asked = false;
    const auto ending = [this] {
        const std::lock_guard lock(mutex_);
        return ending_;
    };
    while (!ending()) {
        wait(*view, signals ? signals->fd() : -1);
        const auto taken = signals ? signals->take() : TerminalSignals::Taken{};
        if (taken.suspend) view->suspend(state_);
        if (taken.resized) view->resized(state_);
        if (input_ready_ && view->take_input(state_) && !std::exchange(end_asked, true)) end_();
        const bool news = take_inbox(*view);
        if (!news && seconds() < std::floor(state_.seconds()) + 1) continue;
        state_.refresh(seconds());
        view->show_second(state_);
    }
    take_inbox(*view);
    if (!last_) return;
    last_(state_);
    state_.refresh(seconds());
    view->close(state_);
}

}  // namespace ako
