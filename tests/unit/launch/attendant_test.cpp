// The attendant of a peer on another machine: who asks the peer to stop, and what of it is passed
// on.
#include "src/launch/attendant.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

namespace ako::attendant_test {
namespace {

using Pipe = std::array<int, 2>;

Pipe make_pipe() {
    Pipe ends{};
    REQUIRE(pipe(ends.data()) == 0);
    return ends;
}

/// An attendant as a process, whose peer is a shell with this script.
class Attended {
  public:
    explicit Attended(const std::vector<std::string>& words) : in_(make_pipe()), out_(make_pipe()) {
        pid_ = fork();
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) {
            dup2(in_[0], STDIN_FILENO);
            dup2(out_[1], STDOUT_FILENO);
            for (const int fd : {in_[0], in_[1], out_[0], out_[1]}) close(fd);
            _exit(attend(words));
        }
        close(in_[0]);
        close(out_[1]);
    }
    explicit Attended(const std::string& script)
        : Attended(std::vector<std::string>{"/bin/sh", "-c", script}) {}
    ~Attended() {
        end_input();
        close(out_[0]);
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
    }
    Attended(const Attended&) = delete;
    Attended& operator=(const Attended&) = delete;

    void ask() { REQUIRE(write(in_[1], "\n", 1) == 1); }
    void end_input() {
        if (in_[1] >= 0) close(in_[1]);
        in_[1] = -1;
    }
    void send(int number) const { kill(pid_, number); }
    /// What was passed on, up to this.
    void await(const std::string& text) {
        char byte = 0;
        while (said_.find(text) == std::string::npos && read(out_[0], &byte, 1) == 1) said_ += byte;
        REQUIRE(said_.find(text) != std::string::npos);
    }
    int status() {
        int status = 0;
        REQUIRE(waitpid(pid_, &status, 0) == pid_);
        pid_ = -1;
        return WEXITSTATUS(status);
    }

  private:
    Pipe in_, out_;
    pid_t pid_ = -1;
    std::string said_;
};

/// Tells on the report pipe that it is ready, and exits 9 when it is asked to stop.
const std::string obeys = "trap 'exit 9' HUP; echo ready >&3; while :; do sleep 0.05; done";
const std::string ignores = "trap '' HUP; echo ready >&3; while :; do sleep 0.05; done";

}  // namespace

TEST_CASE("a line asks the peer to stop, and the end of lines does") {
    for (const bool by_line : {true, false}) {
        Attended peer(obeys);
        peer.await("ready");
        by_line ? peer.ask() : peer.end_input();
        CHECK(peer.status() == 9);
    }
}

TEST_CASE("a second line ends who does not stop") {
    Attended peer(ignores);
    peer.await("ready");
    peer.ask();
    peer.ask();
    CHECK(peer.status() == 128 + SIGKILL);
}

TEST_CASE("a signal to the attendant alone reaches its peer as well") {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        Attended peer(obeys);
        peer.await("ready");
        peer.send(number);
        CHECK(peer.status() == 9);
    }
}

TEST_CASE("reports are passed on to the last byte, and the exit status is the peer's") {
    Attended peer("printf 'first\\nlast\\n' >&3; exit 4");
    peer.await("first\nlast\n");
    CHECK(peer.status() == 4);
}

TEST_CASE("a program that is not there") {
    Attended peer(std::vector<std::string>{"/nowhere/ako"});
    CHECK(peer.status() == 127);
}

}  // namespace ako::attendant_test
