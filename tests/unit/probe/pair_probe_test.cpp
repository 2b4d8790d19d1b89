// One turn of two peers, played word by word.
#include "src/probe/pair_probe.h"

#include <doctest/doctest.h>

namespace ako::pair_probe_test {

using namespace std::chrono_literals;

/// What each of two ends gets through to the other, bytes per millisecond.
struct Pair {
    double there = 0, back = 0, there_both = 0, back_both = 0;
};

/// Two ends of which a flood arrives as the pair has it, with words at once.
class Turn {
  public:
    explicit Turn(const Pair& pair) : pair_(pair) {}

    /// Until both ends are over, or for so long.
    void play(Time limit = 60s) {
        asker.begin();
        for (const Time end = now + limit; now < end && !(asker.over() && asked.over());) {
            for (int words = 0; words < 100; ++words) exchange_words();
            now += 1ms;
            const bool both = asker.floods(now) && asked.floods(now);
            const double there = both ? pair_.there_both : pair_.there;
            const double back = both ? pair_.back_both : pair_.back;
            if (asker.floods(now)) asked.take_flood(bytes(there), now);
            if (asked.floods(now)) asker.take_flood(bytes(back), now);
        }
    }

    PairProbe asker{2, 5, 7, ProbeTimes()};
    PairProbe asked{5, 2, 7, ProbeTimes()};
    Time now = 1s;

  private:
    static std::size_t bytes(double count) { return static_cast<std::size_t>(count); }
    void exchange_words() {
        if (const auto word = asker.next_word(now)) asked.take(*word, now);
        if (const auto word = asked.next_word(now)) asker.take(*word, now);
    }
    const Pair pair_;
};

TEST_CASE("each figure is that of its way, with the other in use or not") {
    Turn turn({.there = 100, .back = 200, .there_both = 30, .back_both = 60});
    turn.play();
    REQUIRE(turn.asker.over());
    REQUIRE(turn.asked.over());
    const PairFigures& figures = turn.asker.figures();
    CHECK(figures.asker == 2);
    CHECK(figures.asked == 5);
    CHECK(figures.there == doctest::Approx(100e3).epsilon(0.01));
    CHECK(figures.back == doctest::Approx(200e3).epsilon(0.01));
    CHECK(figures.there_both == doctest::Approx(30e3).epsilon(0.01));
    CHECK(figures.back_both == doctest::Approx(60e3).epsilon(0.01));
}

TEST_CASE("the shortest round trip counts, by the clock of who asks") {
    PairProbe asker(0, 1, 1, ProbeTimes());
    Time now = 1s;
    asker.begin();
    for (int ping = 0; ping < PairProbe::pings; ++ping) {
        REQUIRE(asker.next_word(now)->kind == ProbeKind::ping);
        now += ping == 3 ? 2ms : 9ms;
        asker.take({.kind = ProbeKind::pong}, now);
        asker.take({.kind = ProbeKind::pong}, now);  // which nobody asked for
    }
    CHECK(asker.figures().round_trip == 2ms);
    CHECK(asker.next_word(now)->kind == ProbeKind::begin);
    CHECK(asker.floods(now));
}

TEST_CASE("words out of place change nothing, and few are answered") {
    PairProbe asker(0, 1, 1, ProbeTimes());
    asker.begin();
    const auto answers = [&](const Probe& word) {
        while (asker.next_word(1s)) {
        }
        asker.take(word, 1s);
        return asker.has_word(1s);
    };
    CHECK_FALSE(answers({.kind = ProbeKind::taken, .bytes_per_s = 1}));
    CHECK_FALSE(answers({.kind = ProbeKind::sent}));
    CHECK_FALSE(answers({.kind = ProbeKind::begin}));
    CHECK_FALSE(answers({.kind = ProbeKind::ping}));

    PairProbe asked(1, 0, 1, ProbeTimes());
    int pongs = 0;
    for (int ping = 0; ping < 1000; ++ping) asked.take({.kind = ProbeKind::ping}, 1s);
    while (asked.next_word(1s)) ++pongs;
    CHECK(pongs == PairProbe::pings);
    asked.take({.kind = ProbeKind::begin, .part = ProbePart::back}, 1s);
    CHECK(asked.floods(1s));
    // Said before the flood is over, and of another part.
    asked.take({.kind = ProbeKind::taken, .part = ProbePart::back, .bytes_per_s = 1}, 1s);
    asked.take({.kind = ProbeKind::sent, .part = ProbePart::both}, 1s);
    asked.take({.kind = ProbeKind::begin, .part = ProbePart::there}, 1s);
    CHECK(asked.floods(1s));
    CHECK_FALSE(asked.next_word(1s).has_value());
}

}  // namespace ako::pair_probe_test
