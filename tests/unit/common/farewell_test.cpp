// How a peer ended, in words.
#include "ako/farewell.h"

#include <doctest/doctest.h>

namespace ako::farewell_test {

TEST_CASE("a farewell says the cause, since when, and why") {
    const Farewell numbers{EndCause::numbers, 31, "the loss of round 31 is not finite"};
    CHECK(ended_text(numbers, 30) ==
          "ended at round 31: its numbers are not to be trusted (the loss of round 31 is not "
          "finite)");
    CHECK(ended_and_stays_text(numbers, 30) ==
          ended_text(numbers, 30) + "; what it gave up to round 30 stays");
    // What it had noticed late had been given.
    CHECK(ended_text({EndCause::numbers, 40, "20 losses in a row are not finite"}, 58) ==
          "ended after round 58: its numbers are not to be trusted from round 40 on (20 losses in "
          "a row are not finite)");
    CHECK(ended_text({EndCause::program, 0, "ValueError: no such column"}, 12) ==
          "ended after round 12: its program ended (ValueError: no such column)");
    CHECK(ended_and_stays_text({EndCause::program, 0, ""}, 0) == "ended: its program ended");
    CHECK(ended_text({EndCause::broken, 0, ""}, 12) == "ended after round 12: it could not go on");
}

TEST_CASE("each cause has a word, and is found by it") {
    for (std::size_t k = 0; k < end_cause_words.size(); ++k) {
        const auto cause = static_cast<EndCause>(k);
        CHECK(end_cause_of(word(cause)) == cause);
        CHECK(Farewell{cause, 0, ""}.failed() == (cause >= EndCause::broken));
    }
    CHECK(end_cause_of("a word of a later version") == EndCause::left);
}

}  // namespace ako::farewell_test
