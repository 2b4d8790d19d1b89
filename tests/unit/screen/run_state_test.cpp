// What the state of a run makes of metrics lines, silence and ends.
#include "src/screen/run_state.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

namespace ako::run_state_test {

namespace {

using Mood = PeerState::Mood;

MetricsLine line_of(const std::string& phase, double progress) {
    MetricsLine line;
    line.phase = phase;
    line.progress = progress;
    line.round = 1;
    line.loss = 0.5;
    return line;
}

}  // namespace

TEST_CASE("what a peer does, from its start to its end") {
    RunState state("r", 1, {"a", "b"});
    state.refresh(0);
    CHECK(state.phase() == "starting");
    CHECK(state.peers_at_work() == 0);
    MetricsLine waiting = line_of("waiting", 0);
    waiting.waiting_for = {"b", "c"};
    state.take_line(0, waiting, 1);
    state.refresh(1);
    CHECK(state.peers()[0].doing == "waiting for b, c");
    CHECK(state.peers()[1].doing == "starting");
    CHECK(state.phase() == "waiting for b, c");
    state.take_line(1, line_of("training", 0.1), 2);
    state.refresh(2);
    CHECK(state.phase() == "training");
    CHECK(state.peers()[1].mood == Mood::trains);
    CHECK(state.peers()[1].doing.empty());
    state.refresh(4.6);
    CHECK(state.peers()[1].doing == "silent for 3 s");
    CHECK(state.peers()[1].mood == Mood::ill);
    CHECK(state.phase() == "no peer says anything");
    state.take_line(0, line_of("finishing", 1), 5);
    state.refresh(5);
    CHECK(state.phase() == "final exchange");  // b, which is silent, still said "training"
    state.take_line(1, line_of("evaluating", 1), 5);
    state.refresh(7);
    CHECK(state.peers()[0].doing == "final exchange");
    state.refresh(20);  // one long call, in which nothing can be said
    CHECK(state.peers()[1].doing == "evaluating the result");
    state.take_exit(0, -9);
    state.take_exit(1, 0);
    state.refresh(21);
    CHECK(state.peers()[0].doing == "ended by signal 9");
    CHECK(state.peers()[1].doing == "done");
    CHECK(state.phase() == "done");
    state.take_exit(1, 130);
    state.refresh(21);
    CHECK(state.peers()[1].doing == "interrupted");
    CHECK(state.peers()[1].mood == Mood::ended);
    state.take_exit(1, 4);
    state.refresh(21);
    CHECK(state.peers()[1].doing == "no agreement, or replicas that differ (exit 4)");
    CHECK(state.peers()[1].mood == Mood::ill);
}

TEST_CASE("a peer that is silent is as most of the others that are heard from say") {
    RunState state("r", 1, {"a", "b", "c", "d"});
    const auto say = [&state](std::size_t self, Presence of_b, double seconds) {
        MetricsLine line = line_of("training", 0.1);
        line.links.resize(2);
        line.links[0].peer = "c";
        line.links[0].presence = Presence::up;
        line.links[1].peer = "b";
        line.links[1].presence = of_b;
        state.take_line(self, line, seconds);
    };
    state.take_line(1, line_of("training", 0.1), 1);
    say(0, Presence::up, 4);
    say(2, Presence::absent, 4);
    state.refresh(4);
    CHECK(state.peers()[1].doing == "silent for 3 s (1 of 1 others: up)");
    for (const std::size_t self : {0, 2}) say(self, Presence::lost, 5);
    say(3, Presence::down, 5);
    state.refresh(5);
    CHECK(state.peers()[1].doing == "silent for 4 s (2 of 3 others: lost)");
    CHECK(state.peers()[1].mood == Mood::ill);
    say(0, Presence::gone, 8);
    state.take_exit(2, 0);
    state.refresh(8);  // d is silent too by now, and c has ended
    CHECK(state.peers()[1].doing == "silent for 7 s (1 of 1 others: gone)");
    state.take_line(0, line_of("evaluating", 1), 9);
    state.refresh(9);
    CHECK(state.peers()[1].doing == "silent for 8 s");
}

TEST_CASE("of a peer whose own lines do not come it is said what others know") {
    RunState state("r", 1, {"a", "b", "c"});
    state.take_line(0, line_of("training", 0.1), 0);
    LinkLine link;
    link.peer = "b";
    link.presence = Presence::gone;
    link.round = 712;
    link.why = "connection refused";
    state.take_told(1, link, 4.2);
    link.presence = Presence::absent;
    link.round = 0;
    state.take_told(2, link, 9);
    state.refresh(0);
    CHECK(state.peers()[1].doing == "gone for 4 s: connection refused (as others say)");
    CHECK(state.peers()[1].mood == Mood::ill);
    CHECK(state.peers()[1].line.round == 712);
    CHECK(state.peers()[2].doing == "not there yet (as others say)");
    CHECK(state.peers()[2].mood == Mood::waits);
    CHECK(state.phase() == "training");
    link.presence = Presence::up;
    link.advancing = true;
    state.take_told(2, link, 9);
    state.refresh(1);
    CHECK(state.peers()[2].doing == "does not answer here; others say that it trains");
    CHECK(state.peers()[2].mood == Mood::waits);
}

TEST_CASE("time left follows the pace since the training began, not since the start") {
    RunState state("r", 4, {"a"});
    state.take_line(0, line_of("waiting", 0), 1);
    state.refresh(50);
    CHECK(!state.seconds_left());
    state.take_line(0, line_of("training", 0.1), 60);
    state.refresh(60);
    CHECK(!state.seconds_left());
    state.take_line(0, line_of("training", 0.3), 80);
    state.refresh(80);
    CHECK(*state.seconds_left() == doctest::Approx(70));
    state.take_line(0, line_of("finishing", 1), 81);
    state.refresh(81);
    CHECK(!state.seconds_left());
}

TEST_CASE("a verdict that many repeat is one point of the plot") {
    RunState state("r", 1, {"a", "b"});
    MetricsLine line = line_of("training", 0.5);
    line.accuracy = 0.9;
    line.accuracy_at = 0.4;
    for (const std::size_t peer : {0, 1, 0, 1}) state.take_line(peer, line, 1);
    CHECK(state.accuracy().points() == std::vector<PlotPoint>{{0.4, 0.9}});
    line.accuracy = 0.95;
    line.accuracy_at = 0.45;
    state.take_line(1, line, 2);
    CHECK(*state.newest_accuracy() == 0.95);
    CHECK(state.accuracy().points().size() == 2);
}

TEST_CASE("log lines are limited, and what was dropped is counted") {
    RunState state("r", 1, {"a"});
    for (std::size_t k = 0; k < RunState::log_max + 5; ++k)
        state.take_log({0, "a", std::to_string(k)});
    CHECK(state.log().size() == RunState::log_max);
    CHECK(state.log().front().text == "5");
    CHECK(state.log_dropped() == 5);
}

TEST_CASE("what several peers say within a few seconds is one event") {
    RunState state("r", 1, {"a", "b", "c", "d"});
    state.take_log({1, "a", "peer d: session ended: end of file"});
    state.take_log({3, "a", "peer d is lost: no byte for 2000 ms; the last session: end of file"});
    state.take_log({3.1, "b", "peer d is lost: no byte for 2000 ms; the last session: reset"});
    state.take_log({3.2, "c", "peer d is lost: no byte for 2000 ms; the last session: reset"});
    REQUIRE(state.log().size() == 2);
    CHECK(state.log()[1].name == "a");
    CHECK(state.log()[1].others == std::vector<std::string>{"b", "c"});
    CHECK(state.log()[0].others.empty());
    state.take_log({4, "b", "peer d: session ended: reset"});
    CHECK(state.log()[0].others == std::vector<std::string>{"b"});
    state.take_log({5, "a", "peer c is lost: no byte for 2000 ms"});  // of another
    state.take_log({6, "b", "peer d is lost: no byte for 2000 ms"});  // once more
    state.take_log({14, "c", "peer d: session ended: reset"});        // long after
    CHECK(state.log().size() == 5);
    state.take_log({15, "b", "waiting for a"});
    state.take_log({15, "c", "waiting for b"});
    CHECK(state.log().size() == 7);
}

namespace {

LinkLine link_of(const std::string& peer, Presence presence, std::uint64_t round) {
    LinkLine link;
    link.peer = peer;
    link.presence = presence;
    link.live = presence == Presence::up || presence == Presence::down;
    link.advancing = presence == Presence::up && round > 0;
    link.round = round;
    link.samples = round * 64;
    return link;
}

}  // namespace

TEST_CASE("the lines of one peer tell what it knows of the others") {
    RunState state("r", 1, {"a", "b", "c"}, 1);
    state.refresh(0);
    CHECK(state.phase() == "starting");
    CHECK(state.peers()[0].doing == "not heard of yet");
    CHECK(state.peers()[1].doing == "starting");
    CHECK(state.peers_at_work() == 0);
    MetricsLine line = line_of("waiting", 0);
    line.waiting_for = {"c"};
    line.links = {link_of("a", Presence::up, 0), link_of("c", Presence::absent, 0)};
    state.take_line(1, line, 1);
    state.refresh(1);
    CHECK(state.phase() == "waiting for c");
    CHECK(state.peers()[0].doing == "connected");
    CHECK(state.peers()[2].doing == "not there yet");
    CHECK(!state.peers()[2].heard);
    CHECK(state.peers_at_work() == 2);
    line = line_of("training", 0.2);
    line.links = {link_of("a", Presence::up, 30), link_of("c", Presence::up, 20)};
    line.links[0].loss = 1.5;
    state.take_line(1, line, 2);
    state.refresh(2);
    CHECK(state.phase() == "training");
    CHECK(state.peers()[0].mood == Mood::trains);
    CHECK(state.peers()[0].line.round == 30);
    CHECK(state.peers()[0].line.samples == 1920);
    CHECK(state.peers()[2].loss() == std::nullopt);
    CHECK(*state.newest_loss() == doctest::Approx(1));  // of a and b; that of c is not known
    line.links[1] = link_of("c", Presence::lost, 21);
    line.links[0].advancing = false;
    state.take_line(1, line, 3);
    state.refresh(3);
    CHECK(state.peers()[0].doing == "connected, but its rounds have not moved for 0 s");
    line.links[0].joining = true;
    state.take_line(1, line, 3);
    state.refresh(3);
    CHECK(state.peers()[0].doing == "joins the run");
    CHECK(state.peers()[2].doing == "lost for 0 s");
    CHECK(state.peers()[2].mood == Mood::ill);
    CHECK(state.peers_at_work() == 2);
    state.refresh(8);  // this very process computes: nobody is silent
    CHECK(state.peers()[1].doing == "in one round for 5 s");
    CHECK(state.peers()[1].mood == Mood::waits);
    state.take_exit(1, 0);
    state.take_finished({"a", "b"});
    state.take_accuracy(0.97);
    state.refresh(9);
    CHECK(state.phase() == "done");
    CHECK(state.peers()[0].doing == "finished with the same parameters");
    CHECK(state.peers()[1].doing == "done");
    CHECK(state.peers()[2].doing == "lost for 0 s");
    CHECK(*state.newest_accuracy() == 0.97);
}

TEST_CASE("a history keeps means of equal parts and leaves out what is no number") {
    History history(10);
    history.add(0.01, 1);
    history.add(0.03, 3);
    history.add(0.5, std::numeric_limits<double>::quiet_NaN());
    history.add(1, 7);
    CHECK(history.points() == std::vector<PlotPoint>{{0.02, 2}, {1, 7}});
}

TEST_CASE("of a peer that ended by a failure its row says how, as heard here or by others") {
    RunState state("r", 1, {"a", "b", "c"}, 0);
    MetricsLine line = line_of("training", 0.1);
    LinkLine link;
    link.peer = "b";
    link.presence = Presence::left;
    link.ended = "numbers";
    link.why = "ended at round 31: its numbers are not to be trusted";
    line.links = {link};
    state.take_line(0, line, 1);
    link.peer = "c";
    state.take_told(2, link, 3);
    state.refresh(1);
    CHECK(state.peers()[1].mood == Mood::ill);
    CHECK(state.peers()[1].doing == link.why);
    CHECK(state.peers()[2].mood == Mood::ill);
    CHECK(state.peers()[2].doing == link.why + " (as others say)");
}

}  // namespace ako::run_state_test
