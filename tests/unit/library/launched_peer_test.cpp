// The environment between `ako launch` and a program.
#include "src/launch/launched_peer.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "ako/error.h"

using namespace ako;

TEST_CASE("launched peer: what launch says reaches the program, and not its children") {
    CHECK(!take_launched_peer());
    for (const auto& [name, value] : environment_of({"c.yaml", "b", "/tmp/run", 3, true}))
        setenv(name.c_str(), value.c_str(), 1);
    const auto launched = take_launched_peer();
    REQUIRE(launched);
    CHECK(launched->file == "c.yaml");
    CHECK(launched->peer == "b");
    CHECK(launched->output_dir == "/tmp/run");
    CHECK(launched->report_fd == 3);
    CHECK(launched->restarted);
    CHECK(!take_launched_peer());
    CHECK(std::string(std::getenv("AKO_PEER")) == "b");  // programs may read it
    setenv("AKO_LAUNCH_FILE", "c.yaml", 1);
    CHECK_THROWS_AS(take_launched_peer(), StartupError);
    unsetenv("AKO_PEER");
    unsetenv("AKO_LAUNCH_FILE");
}
