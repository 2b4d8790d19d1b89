// Which peers `ako launch --restart` and the service of systemd start again.
#include "src/launch/restarts.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <fstream>
#include <set>
#include <sstream>

#include "ako/ending.h"
#include "tests/in_source.h"

namespace ako::restarts_test {

namespace {

/// The words behind `key=` in the unit file.
std::set<std::string> words_of(const std::string& key) {
    std::ifstream in(test::in_source("deploy/ako@.service"));
    std::set<std::string> words;
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(key + "=")) continue;
        std::istringstream rest(line.substr(key.size() + 1));
        for (std::string word; rest >> word;) words.insert(word);
    }
    return words;
}

}  // namespace

TEST_CASE("a process dies by a signal or a crash, and ends by everything else") {
    for (const int number : {SIGKILL, SIGSEGV, SIGABRT, SIGBUS, SIGQUIT})
        CHECK(Restarts::died(-number));
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        CHECK_FALSE(Restarts::died(-number));
        CHECK_FALSE(Restarts::died(128 + number));  // as a shell around it says
    }
    for (const EndingEntry& entry : endings) CHECK_FALSE(Restarts::died(entry.exit));
    CHECK_FALSE(Restarts::died(exit_not_written));
    CHECK(Restarts::died(exit_crash));
    CHECK(Restarts::died(128 + SIGKILL));
    CHECK(Restarts::died(255));        // ssh lost its machine
    CHECK_FALSE(Restarts::died(127));  // a command that is not there
    CHECK(Restarts::cause(-SIGKILL) == "signal 9: Killed");
    CHECK(Restarts::cause(1) == "exit 1");
}

TEST_CASE("restarts are counted for each peer, and wait longer where a peer dies in no time") {
    Restarts restarts(2, 4);
    CHECK(restarts.next(0, false) == 0.5);
    CHECK(restarts.next(0, false) == 1);
    CHECK(restarts.next(0, false) == 2);
    CHECK(restarts.next(1, false) == 0.5);
    CHECK(restarts.next(0, true) == 0.5);  // it had trained: no loop of crashes
    CHECK_FALSE(restarts.next(0, true));
    CHECK(restarts.made(0) == 4);
    CHECK(restarts.made(1) == 1);
    CHECK_FALSE(Restarts(1, 0).next(0, true));
    Restarts many(1, 100);
    double pause = 0;
    for (int k = 0; k < 20; ++k) pause = *many.next(0, false);
    CHECK(pause == Restarts::pause_max_s);
}

TEST_CASE("the service starts again what died, and nothing that has ended") {
    CHECK(words_of("Restart") == std::set<std::string>{"on-failure"});
    std::set<std::string> stay = words_of("RestartPreventExitStatus");
    stay.merge(words_of("SuccessExitStatus"));
    for (const EndingEntry& entry : endings) {
        CAPTURE(entry.word);
        CHECK((entry.exit == exit_ok || stay.contains(std::to_string(entry.exit))));
    }
    CHECK(stay.contains(std::to_string(exit_not_written)));
    for (const int exit : {exit_crash + 0, 127, 255})
        CHECK_FALSE(stay.contains(std::to_string(exit)));
}

}  // namespace ako::restarts_test
