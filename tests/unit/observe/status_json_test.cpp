// A status goes out and comes back.
#include "src/observe/status_json.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/unit/observe/observed_example.h"

namespace ako::status_json_test {

TEST_CASE("a status comes back as it went out") {
    Observed sent = observed_example();
    sent.age = 3.5;
    const std::string text = status_text(sent);
    CHECK(text.find('\n') == std::string::npos);
    const auto came = parse_status(text);
    REQUIRE(came);
    CHECK(came->run.run == "three");
    CHECK(came->run.peer == "a");
    REQUIRE(came->run.peers.size() == 3);
    CHECK(came->run.peers[2].host == "::1");
    CHECK(came->run.peers[2].port == 9472);
    CHECK(to_json_text(came->line) == to_json_text(sent.line));
    CHECK(came->run.memory == sent.run.memory);
    CHECK(came->age == 3.5);
}

TEST_CASE("what is no status is none") {
    CHECK_FALSE(parse_status(""));
    CHECK_FALSE(parse_status("<!doctype html>"));
    CHECK_FALSE(parse_status("{}"));
    std::string text = status_text(observed_example());
    text.replace(text.find("\"port\":9470"), 11, "\"port\":null");
    CHECK_FALSE(parse_status(text));
}

}  // namespace ako::status_json_test
