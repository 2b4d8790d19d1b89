// The environment between `ako launch` and a program.
#include "src/launch/launched_peer.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "ako/error.h"

namespace ako::launched_peer_test {

TEST_CASE("launched peer: what launch says reaches the program, and not its children") {
    CHECK(!take_launched_peer());
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    for (const auto& [name, value] : environment_of({"c.yaml", "b", "/tmp/run", ends[1], true}))
        setenv(name.c_str(), value.c_str(), 1);
    const auto launched = take_launched_peer();
    REQUIRE(launched);
    CHECK(launched->file == "c.yaml");
    CHECK(launched->peer == "b");
    CHECK(launched->output_dir == "/tmp/run");
    CHECK(launched->report_fd == ends[1]);
    CHECK(launched->restarted);
    CHECK(!take_launched_peer());
    CHECK(std::string(std::getenv("AKO_PEER")) == "b");  // programs may read it
    setenv("AKO_LAUNCH_FILE", "c.yaml", 1);
    CHECK_THROWS_AS(take_launched_peer(), StartupError);
    // A wrapper has closed the pipe, and something else has its number.
    close(ends[1]);
    for (const auto& [name, value] : environment_of({"c.yaml", "b", "/tmp/run", ends[1], true}))
        setenv(name.c_str(), value.c_str(), 1);
    REQUIRE(dup2(open("/dev/null", O_WRONLY), ends[1]) == ends[1]);
    CHECK_THROWS_AS(take_launched_peer(), StartupError);
    unsetenv("AKO_PEER");
    unsetenv("AKO_LAUNCH_FILE");
}

}  // namespace ako::launched_peer_test
