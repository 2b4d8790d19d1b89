// The screen of a run: golden pictures at two sizes, and what holds at any.
#include "src/screen/run_screen.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "src/screen/screen_line.h"
#include "tests/contains.h"
#include "tests/in_source.h"

namespace ako::run_screen_test {

using test::contains;

namespace {

using Middle = ScreenChoice::Middle;

std::vector<std::string> names_of(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < count; ++k)
        names.push_back(k < 26 ? std::string(1, static_cast<char>('a' + k))
                               : "peer" + std::to_string(k));
    return names;
}

MetricsLine line_of(const std::vector<std::string>& names, std::size_t self, double progress) {
    MetricsLine line;
    line.time = 100 * progress;
    line.phase = "training";
    line.round = static_cast<std::uint64_t>(1000 * progress) + self;
    line.samples = line.round * 64;
    line.samples_per_s = 600 + static_cast<double>(self);
    line.loss = 2.3 * std::exp(-6 * progress) + 0.01;
    line.progress = progress;
    line.accuracy_at = std::floor(progress * 16) / 16;
    if (*line.accuracy_at > 0)
        line.accuracy = 0.993 - 0.05 * std::exp(-8 * *line.accuracy_at);
    else
        line.accuracy_at.reset();
    line.egress_mbit = 834.5;
    line.ingress_mbit = 790.25;
    line.egress_bytes = 12'345'678;
    line.ingress_bytes = 987'654'321;
    for (std::size_t k = 0; k < names.size(); ++k) {
        if (k == self) continue;
        LinkLine link;
        link.peer = names[k];
        link.presence = Presence::up;
        link.live = true;
        link.partitions = 1 + static_cast<double>(k);
        link.staleness_rounds = 3 * self;
        link.staleness_ms = 250;
        link.egress_mbit = 278;
        line.links.push_back(link);
    }
    return line;
}

/// A run of so many peers after so much of it.
RunState state_of(std::size_t peers, double progress) {
    const auto names = names_of(peers);
    RunState state("mnist-lenet", 4, names);
    for (double at = 0.01; at <= progress; at += 0.01) {
        for (std::size_t k = 0; k < peers; ++k) state.take_line(k, line_of(names, k, at), 100 * at);
        state.refresh(100 * at);
    }
    return state;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

std::string slurp(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Compares with screens/NAME.txt beside this; with AKO_DRAW_SCREENS set, draws it anew, to be
/// looked at before it is committed.
void check_picture(const std::string& name, const std::vector<std::string>& lines) {
    const std::string path = test::in_source("tests/unit/screen/screens/" + name + ".txt");
    if (std::getenv("AKO_DRAW_SCREENS") != nullptr) std::ofstream(path) << joined(lines);
    CAPTURE(name);
    CHECK(joined(lines) == slurp(path));
}

ScreenStyle style_of(std::size_t columns, std::size_t rows, bool unicode = true) {
    return {columns, rows, unicode, false};
}

/// The same without what Select Graphic Rendition adds.
std::string without_colours(const std::string& text) {
    std::string plain;
    for (std::size_t k = 0; k < text.size(); ++k) {
        if (text[k] != '\033')
            plain += text[k];
        else
            k = text.find('m', k);
    }
    return plain;
}

/// What a line says of another peer.
void set_presence(MetricsLine& line, const std::string& peer, Presence presence) {
    for (LinkLine& link : line.links)
        if (link.peer == peer) link.presence = presence;
}

/// The peer b waits, c hangs and d was killed; all know both, but b not yet that d is gone.
void add_troubles(RunState& state) {
    state.take_log({3, "ako", "a log line that is older than the others"});
    state.take_log({55, "a", "peer d is lost: no byte for 2.0 s"});
    state.take_log({55.5, "c", "peer d is lost: no byte for 2.0 s"});
    state.take_log({56, "b", "peer d is lost:\tno \033[31mbyte\xff for 2.0 s"});
    MetricsLine line = state.peers()[1].line;
    line.phase = "waiting";
    line.waiting_for = {"c", "d"};
    set_presence(line, "c", Presence::lost);
    set_presence(line, "d", Presence::lost);
    state.take_line(1, line, 62);
    for (std::size_t k = 0; k < state.peers().size(); ++k) {
        if (k >= 1 && k <= 3) continue;
        line = state.peers()[k].line;
        set_presence(line, "c", Presence::lost);
        set_presence(line, "d", Presence::gone);
        state.take_line(k, line, 62);
    }
    state.take_line(2, state.peers()[2].line, 58);
    state.take_exit(3, -9);
    state.refresh(62);
}

}  // namespace

TEST_CASE("pictures: training at 80 x 24 and 120 x 40, in braille and in ASCII") {
    const RunState state = state_of(4, 0.62);
    check_picture("training_80x24", run_screen(state, {}, style_of(80, 24)));
    check_picture("training_80x24_ascii", run_screen(state, {}, style_of(80, 24, false)));
    check_picture("training_120x40", run_screen(state, {}, style_of(120, 40)));
    check_picture("links_80x24", run_screen(state, {Middle::links}, style_of(80, 24)));
    check_picture("rates_120x40", run_screen(state, {Middle::rates}, style_of(120, 40)));
    check_picture("help_80x24", run_screen(state, {Middle::help}, style_of(80, 24)));
}

TEST_CASE("pictures: the start, troubles, more peers than rows, and what stays") {
    RunState start("mnist-lenet", 4, names_of(4));
    start.refresh(0.5);
    check_picture("start_80x24", run_screen(start, {}, style_of(80, 24)));
    RunState state = state_of(4, 0.62);
    add_troubles(state);
    check_picture("troubles_80x24", run_screen(state, {}, style_of(80, 24)));
    RunState eight = state_of(8, 0.62);
    add_troubles(eight);
    check_picture("eight_80x24", run_screen(eight, {}, style_of(80, 24)));
    check_picture("eight_links_80x24", run_screen(eight, {Middle::links}, style_of(80, 24)));
    const RunState many = state_of(64, 0.3);
    check_picture("many_80x24", run_screen(many, {Middle::plots, 20}, style_of(80, 24)));
    check_picture("many_links_80x24", run_screen(many, {Middle::links, 20, 7}, style_of(80, 24)));
    RunState done = state_of(4, 1);
    for (std::size_t k = 0; k < 4; ++k) done.take_exit(k, k == 2 ? -9 : 0);
    done.refresh(101);
    check_picture("closing_80", closing_screen(done, style_of(80, 24)));
}

TEST_CASE("pictures: a small terminal shows the peers, and then what else there is room for") {
    RunState state = state_of(4, 0.62);
    check_picture("training_60x12", run_screen(state, {}, style_of(60, 12)));
    add_troubles(state);
    check_picture("troubles_60x12", run_screen(state, {}, style_of(60, 12)));
    check_picture("troubles_60x20", run_screen(state, {}, style_of(60, 20)));
    // As many peers are shown as there is room for: no plot is worth more.
    const std::string eight = joined(run_screen(state_of(8, 0.62), {}, style_of(60, 12)));
    for (const char* row : {" a  ", " f  ", "2 more peers"}) CHECK(contains(eight, row));
    CHECK(!contains(eight, "loss 0."));
    const std::string sixteen = joined(run_screen(state_of(16, 0.62), {}, style_of(80, 24)));
    CHECK(contains(sixteen, "\n p  "));
}

TEST_CASE("pictures: the run as one peer sees it") {
    RunState state("mnist-lenet as a sees it", 4, names_of(4), 0);
    const auto names = names_of(4);
    for (double at = 0.01; at <= 0.62; at += 0.01) {
        MetricsLine line = line_of(names, 0, at);
        for (std::size_t k = 0; k < line.links.size(); ++k) {
            LinkLine& link = line.links[k];
            link.advancing = true;
            link.round = line.round + k;
            link.samples = link.round * 64;
            link.samples_per_s = 590;
            link.ingress_mbit = 263;
            if (k != 1) link.loss = *line.loss + 0.01;
        }
        state.take_line(0, line, 100 * at);
        state.refresh(100 * at);
    }
    check_picture("one_80x24", run_screen(state, {}, style_of(80, 24)));
    check_picture("one_links_60x12", run_screen(state, {Middle::links}, style_of(60, 12)));
    MetricsLine line = state.peers()[0].line;
    set_presence(line, "c", Presence::gone);
    set_presence(line, "d", Presence::down);
    for (LinkLine& link : line.links) {
        link.since = line.time - 42;
        link.why = "no byte for 2000 ms";
    }
    state.take_line(0, line, 63);
    state.refresh(63);
    check_picture("one_troubles_60x12", run_screen(state, {}, style_of(60, 12)));
    CHECK(contains(joined(run_screen(state, {Middle::help}, style_of(80, 24))),
                   "bold row     this peer"));
}

TEST_CASE("help that was asked for is seen on a small terminal too") {
    const std::string help =
        joined(run_screen(state_of(4, 0.62), {Middle::help}, style_of(60, 12)));
    CHECK(contains(help, " P      rounds in which one cycle"));
    CHECK(contains(help, " q      ends the run"));
}

TEST_CASE("the last picture has the accuracy that the run came to, or says that there is none") {
    RunState state("r", 1, {"a"});
    MetricsLine line = line_of({"a"}, 0, 0.04);
    state.take_line(0, line, 1);
    state.refresh(1);
    CHECK(contains(joined(run_screen(state, {}, style_of(80, 24))), "test accuracy not yet"));
    state.take_exit(0, 0);
    state.refresh(2);
    CHECK(contains(joined(closing_screen(state, style_of(80, 24))), "test accuracy none"));
    state.take_accuracy(0.9731);
    CHECK(contains(joined(closing_screen(state, style_of(80, 24))), "test accuracy 97.31 %"));
}

TEST_CASE("a log line that is too long is broken, not cut off") {
    RunState state = state_of(2, 0.3);
    const std::string text = "peer d is lost: no byte for 2000 ms; the last session: it ended";
    for (const char* name : {"a", "b"}) state.take_log({30, name, text});
    for (const std::size_t rows : {12, 24}) {
        const auto lines = run_screen(state, {}, style_of(60, rows));
        std::string words;
        for (const std::string& line : lines)
            words += line.substr(std::min(line.size(), 14ul)) + " ";
        CHECK(contains(words, "no byte for 2000 ms; the last session: it ended (b: the same)"));
    }
    CHECK(wrapped("", 10, 2) == std::vector<std::string>{""});
    CHECK(wrapped("one two", 7, 2) == std::vector<std::string>{"one two"});
    CHECK(wrapped("one two three", 8, 2) == std::vector<std::string>{"one two", "  three"});
    CHECK(wrapped("\u00e9\u00e9\u00e9\u00e9 x", 2, 0) ==
          std::vector<std::string>{"\u00e9\u00e9", "\u00e9\u00e9", "x"});
    CHECK(wrapped("abc", 0, 5) == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("any size: as many lines as rows, none wider than the columns, the keys last") {
    RunState troubled = state_of(4, 0.62);
    add_troubles(troubled);
    const RunState states[] = {state_of(1, 0.3), state_of(4, 0.62), troubled, state_of(30, 0.1),
                               RunState("r", 1, names_of(64))};
    for (const RunState& state : states)
        for (const auto middle : {Middle::plots, Middle::links, Middle::rates, Middle::help})
            for (const std::size_t columns : {1, 20, 60, 79, 80, 81, 100, 200})
                for (const std::size_t rows : {1, 2, 6, 10, 12, 15, 24, 25, 40, 70}) {
                    const ScreenStyle style = style_of(columns, rows, columns % 2 == 0);
                    const auto lines = run_screen(state, {middle, 99, 99}, style);
                    CAPTURE(columns);
                    CAPTURE(rows);
                    REQUIRE(lines.size() == rows);
                    for (const std::string& line : lines) CHECK(columns_of(line) <= columns);
                    if (columns >= 79) CHECK(lines.back().find("q end the run") < 60);
                }
}

TEST_CASE("colours change no letter, and there are none unless asked for") {
    const RunState state = state_of(4, 0.62);
    for (const auto middle : {Middle::plots, Middle::links, Middle::help}) {
        ScreenStyle style = style_of(80, 24);
        const std::string plain = joined(run_screen(state, {middle}, style));
        CHECK(plain.find('\033') == std::string::npos);
        style.colours = true;
        const std::string coloured = joined(run_screen(state, {middle}, style));
        CHECK(coloured != plain);
        CHECK(without_colours(coloured) == plain);
    }
}

TEST_CASE("ASCII is ASCII") {
    for (const std::string& line : run_screen(state_of(4, 0.62), {}, style_of(120, 40, false)))
        for (const char letter : line) CHECK((letter >= 0x20 && letter < 0x7F));
}

TEST_CASE("a log line of others cannot steer the terminal") {
    const std::string text = log_text({1, "a",
                                       "\033]0;title\007 \xc2\x9b"
                                       "31m r\xc3\xa9sum\xc3\xa9 \xe2\x82"},
                                      1);
    CHECK(text == "   0:01  a  ?]0;title? ?31m r\xc3\xa9sum\xc3\xa9 ??");
}

}  // namespace ako::run_screen_test
