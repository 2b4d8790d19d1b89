// The signals of a terminal: something to read, and nothing that stops the process.
#include "src/system/terminal_signals.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>

namespace ako::terminal_signals_test {

namespace {

bool readable(int fd) {
    pollfd watched{fd, POLLIN, 0};
    return poll(&watched, 1, 0) == 1;
}

}  // namespace

TEST_CASE("another size and Ctrl-Z are told once each") {
    const TerminalSignals signals;
    REQUIRE(signals.fd() >= 0);
    CHECK(!readable(signals.fd()));
    raise(SIGWINCH);
    raise(SIGWINCH);
    REQUIRE(readable(signals.fd()));
    TerminalSignals::Taken taken = signals.take();
    CHECK(taken.resized);
    CHECK(!taken.suspend);
    CHECK(!readable(signals.fd()));
    raise(SIGTSTP);
    REQUIRE(readable(signals.fd()));
    taken = signals.take();
    CHECK(!taken.resized);
    CHECK(taken.suspend);
    taken = signals.take();
    CHECK(!taken.resized);
    CHECK(!taken.suspend);
}

}  // namespace ako::terminal_signals_test
