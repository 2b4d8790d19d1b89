// The metrics line as JSON: what a file and the pipe to `ako launch` carry.
#include "src/results/metrics_line.h"

#include <doctest/doctest.h>

#include <string>

namespace ako::metrics_line_test {

namespace {

/// A line of a peer whose links are in every state that there is.
MetricsLine line_of_all() {
    MetricsLine line;
    line.phase = "training";
    for (const Presence presence : presences) {
        line.links.emplace_back();
        line.links.back().peer = word(presence);
        line.links.back().presence = presence;
        line.links.back().live = presence == Presence::up || presence == Presence::down;
        line.links.back().partitions = 6.5;
        line.links.back().round = 1234;
        line.links.back().samples = 78976;
        line.links.back().samples_per_s = 512.5;
    }
    line.links[1].loss = 0.75;
    line.links[1].joining = true;
    return line;
}

}  // namespace

TEST_CASE("a line says of every link how the other peer is, and reads back") {
    const std::string text = to_json_text(line_of_all());
    CHECK(text.find(R"({"peer":"gone","presence":"gone","live":false)") != std::string::npos);
    const auto read = parse_metrics_line(text);
    REQUIRE(read);
    REQUIRE(read->links.size() == presences.size());
    for (const LinkLine& link : read->links) {
        CHECK(link.peer == word(link.presence));
        CHECK(link.partitions == 6.5);
        CHECK(link.joining == (&link == &read->links[1]));
        CHECK(link.round == 1234);
        CHECK(link.samples == 78976);
        CHECK(link.samples_per_s == 512.5);
        CHECK(link.loss.has_value() == (&link == &read->links[1]));
    }
    CHECK(read->links[1].loss == 0.75);
    CHECK(to_json_text(*read) == text);
}

TEST_CASE("a word that is no presence makes no line") {
    std::string text = to_json_text(line_of_all());
    text.replace(text.find(R"("presence":"gone")"), 17, R"("presence":"away")");
    CHECK(!parse_metrics_line(text));
    CHECK(!parse_metrics_line("{}"));
    CHECK(!parse_metrics_line("no line"));
}

}  // namespace ako::metrics_line_test
