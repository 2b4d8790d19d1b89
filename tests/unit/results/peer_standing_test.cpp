// One word of a peer, out of all that is known of it.
#include "src/results/peer_standing.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "src/results/metrics_line.h"

namespace ako::peer_standing_test {

TEST_CASE("what a peer is, by its presence and its rounds") {
    CHECK(standing_of(Presence::absent, false, false, false, 0) == PeerStanding::absent);
    CHECK(standing_of(Presence::up, false, false, false, 0) == PeerStanding::connected);
    CHECK(standing_of(Presence::up, false, false, true, 7) == PeerStanding::joining);
    CHECK(standing_of(Presence::up, true, false, false, 7) == PeerStanding::advancing);
    CHECK(standing_of(Presence::up, true, true, false, 7) == PeerStanding::slow);
    CHECK(standing_of(Presence::up, false, true, false, 7) == PeerStanding::still);
    CHECK(standing_of(Presence::up, false, false, false, 7) == PeerStanding::still);
    CHECK(standing_of(Presence::down, false, false, false, 7) == PeerStanding::down);
    // What it did before it was lost is no sign of life.
    CHECK(standing_of(Presence::lost, true, false, false, 7) == PeerStanding::lost);
    CHECK(standing_of(Presence::gone, true, false, false, 7) == PeerStanding::gone);
    CHECK(standing_of(Presence::left, false, false, false, 7) == PeerStanding::left);
}

TEST_CASE("each has a word of its own, and words for people") {
    std::set<std::string> seen;
    for (const PeerStanding standing : peer_standings) {
        CHECK(seen.insert(word(standing)).second);
        CHECK(std::string(words(standing)).size() > 3);
    }
    CHECK(word(PeerStanding::left) == std::string("left"));
}

TEST_CASE("of who ended by a failure it is said how") {
    LinkLine link;
    link.presence = Presence::left;
    CHECK(standing_of(link) == PeerStanding::left);
    link.ended = "numbers";
    link.why = "ended at round 31: its numbers are not to be trusted";
    CHECK(standing_of(link) == PeerStanding::ended);
    CHECK(is_trouble(standing_of(link)));
    CHECK(standing_text(standing_of(link), 4, link.why) == link.why);
    CHECK(standing_text(standing_of(link), 4, "") == "has ended for 4 s");
    link.presence = Presence::up;  // another process under its name
    CHECK(standing_of(link) != PeerStanding::ended);
    MetricsLine line;
    line.links = {link};
    CHECK(parse_metrics_line(to_json_text(line))->links[0].ended == "numbers");
}

TEST_CASE("a metrics line comes back with all that it says of a link") {
    MetricsLine line;
    line.phase = "training";
    line.memory_limit = 512;
    line.losses_not_finite = 3;
    line.usage = {10, 20, 0.8, 0.01, 0.1, 0.3, 0.6, 0.02, 0.01, 0.5, 3};
    line.round_parts[RoundPart::wait].add(std::chrono::milliseconds(3));
    line.links.resize(1);
    LinkLine& link = line.links[0];
    link.peer = "b";
    link.presence = Presence::lost;
    link.since = 9.5;
    link.why = "no byte for 2000 ms";
    link.rejects = {{"run_name", 2}};
    link.diverged_blocks = 4;
    link.usage = {0.9, 12, 3, 4};
    const std::string text = to_json_text(line);
    CHECK(text.find("\"standing\":\"lost\"") != std::string::npos);
    const auto came = parse_metrics_line(text);
    REQUIRE(came);
    CHECK(to_json_text(*came) == text);
    CHECK(came->round_parts[RoundPart::wait] == line.round_parts[RoundPart::wait]);
    CHECK(came->losses_not_finite == 3);
    CHECK(came->usage.major_faults_per_s == 3);
    CHECK(came->links[0].rejects == link.rejects);
    CHECK(came->links[0].diverged_blocks == 4);
    CHECK(came->links[0].since == 9.5);
    CHECK(came->links[0].why == link.why);
}

}  // namespace ako::peer_standing_test
