// How long a session and a peer are silent, in virtual time: what counts as silence of the other
// end, when people hear of it, and when a peer is lost.
#include "net/silence.h"

#include <doctest/doctest.h>

#include "net/peer_life.h"

namespace ako::silence_test {

using namespace std::chrono_literals;

TEST_CASE("silence begins with the newest byte, and does not go on while nothing is read") {
    Silence silence(1s);
    CHECK(silence.lasts(3s) == 2s);
    silence.heard(3s);
    CHECK(silence.lasts(4s) == 1s);
    silence.stop_reading(5s);
    silence.stop_reading(7s);  // it has stopped already
    CHECK_FALSE(silence.reads());
    CHECK(silence.lasts(100s) == 2s);
    CHECK(silence.lasts_unread(100s) == 97s);
    silence.read_again(100s);
    CHECK(silence.reads());
    CHECK(silence.lasts(101s) == 3s);
    CHECK(silence.newest_byte_at() == 3s);
}

TEST_CASE("time in which this thread did not look is no silence") {
    Silence silence(0s);
    silence.excuse(4s, 10s);
    CHECK(silence.lasts(10s) == 6s);
    silence.heard(10s);
    silence.excuse(4s, 11s);  // it never begins later than now
    CHECK(silence.lasts(11s) == 0s);
    silence.stop_reading(12s);
    silence.excuse(4s, 20s);  // nothing could be heard anyway
    CHECK(silence.lasts(20s) == 1s);
}

TEST_CASE("a peer is lost once, after the life time-out without a byte, if it was met") {
    PeerLife life(30s);
    CHECK_FALSE(life.becomes_lost(1000s));
    life.session_up();
    CHECK(life.session_down(5s, "reset") == "reset");
    CHECK_FALSE(life.becomes_lost(34s));
    life.excuse(2s, 35s);
    CHECK_FALSE(life.becomes_lost(36s));
    CHECK(*life.becomes_lost(37s) == "no byte for 30000 ms; the last session: reset");
    CHECK_FALSE(life.becomes_lost(38s));
    life.session_up();
    life.session_down(40s, "reset");
    CHECK(life.becomes_lost(70s));
}

TEST_CASE("a peer that has left is not lost") {
    PeerLife life(30s);
    life.session_up();
    life.said_bye();
    CHECK(life.session_down(5s, "closed by the peer") == "it left");
    CHECK_FALSE(life.becomes_lost(1000s));
}

TEST_CASE("silence is named once, and so is its end, where a peer is not lost before") {
    PeerLife life(30s);
    life.session_up();
    CHECK_FALSE(life.news_of_silence(1s));
    CHECK(*life.news_of_silence(2s) == "silent for 2000 ms; lost if it stays so for 30000 ms");
    CHECK_FALSE(life.news_of_silence(3s));
    CHECK(*life.news_of_silence(0s) == "heard from again");
    CHECK_FALSE(life.news_of_silence(0s));
    PeerLife short_life(2s);
    CHECK_FALSE(short_life.news_of_silence(2s));
}

}  // namespace ako::silence_test
