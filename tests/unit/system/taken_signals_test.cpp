// Signals are given back to whoever had them, whatever happened in between.
#include "src/system/taken_signals.h"

#include <doctest/doctest.h>

#include <array>

namespace ako::taken_signals_test {

namespace {

void programs_own(int) {}
void another_of_the_program(int) {}
void ours(int) {}

using Handler = void (*)(int);

constexpr std::array both = {SIGUSR1, SIGUSR2};

bool is_with(Handler handler, int number) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    return now.sa_handler == handler;
}

/// The program's handlers of two signals nobody else uses, and what was there before them again.
struct Program {
    TakenSignals<2> own = TakenSignals(both);
    Program() { own.take(programs_own, 0); }
    ~Program() {
        signal(SIGUSR1, programs_own);
        signal(SIGUSR2, programs_own);
        own.give_back();
    }
};

}  // namespace

TEST_CASE("taken signals: given back, but for those that the program has taken since") {
    const Program program;
    TakenSignals taken(both);
    taken.give_back();
    CHECK(is_with(programs_own, SIGUSR1));
    taken.take(ours, 0);
    CHECK(is_with(ours, SIGUSR1));
    CHECK(is_with(ours, SIGUSR2));
    signal(SIGUSR2, another_of_the_program);
    taken.give_back();
    CHECK(is_with(programs_own, SIGUSR1));
    CHECK(is_with(another_of_the_program, SIGUSR2));
}

TEST_CASE("taken signals: taken again after one was handed over, they still know whose they were") {
    const Program program;
    TakenSignals taken(both);
    taken.take(ours, 0);
    taken.hand_over(SIGUSR1);
    CHECK(is_with(programs_own, SIGUSR1));
    CHECK(is_with(ours, SIGUSR2));
    taken.take(ours, 0);
    CHECK(is_with(ours, SIGUSR1));
    taken.give_back();
    CHECK(is_with(programs_own, SIGUSR1));
    CHECK(is_with(programs_own, SIGUSR2));
}

}  // namespace ako::taken_signals_test
