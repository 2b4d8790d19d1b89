#include "src/system/interrupts.h"

#include <signal.h>
#include <unistd.h>

#include "ako/ending.h"

namespace ako {

namespace {

std::atomic<int> interrupts = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not wait");

void on_signal(int) {
    if (interrupts.fetch_add(1) >= 1) _exit(exit_interrupted);
}

}  // namespace

const std::atomic<int>& count_interrupts() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return interrupts;
}

}  // namespace ako
