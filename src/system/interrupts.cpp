#include "src/system/interrupts.h"

#include <signal.h>
#include <unistd.h>

#include "ako/ending.h"

namespace ako {

namespace {

std::atomic<int> interrupts = 0;
std::atomic<int> first_signal = 0;  ///< known before it is counted; 0 = none yet
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not wait");

std::atomic<void (*)()> last_step = nullptr;
static_assert(decltype(last_step)::is_always_lock_free);

void remember(int number) {
    int none = 0;
    first_signal.compare_exchange_strong(none, number);
}

void on_signal(int number) {
    remember(number);
    if (interrupts.fetch_add(1) == 0) return;
    if (auto* const step = last_step.load()) step();
    _exit(exit_interrupted);
}

void on_hangup(int number) {
    remember(number);
    int none = 0;
    interrupts.compare_exchange_strong(none, 1);
}

}  // namespace

const std::atomic<int>& count_interrupts() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    action.sa_handler = on_hangup;
    if (!hangups_ignored()) sigaction(SIGHUP, &action, nullptr);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return interrupts;
}

bool asked_to_leave() { return first_signal.load() == SIGTERM; }

bool hangups_ignored() {
    struct sigaction now {};
    return sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

void before_sudden_end(void (*step)()) { last_step = step; }

}  // namespace ako
