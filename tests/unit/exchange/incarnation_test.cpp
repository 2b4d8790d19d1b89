// Lives are counted, and no two processes ever come to the same incarnation.
#include "src/exchange/incarnation.h"

#include <doctest/doctest.h>

namespace ako::incarnation_test {

namespace {

constexpr std::uint64_t a = 0xabcd'1111'2222'3333, b = 0x0123'1111'2222'4444;

}  // namespace

TEST_CASE("an incarnation says which life it is and whose") {
    const Incarnation first = first_incarnation(a);
    CHECK(first == 0x1111'2222'3333);
    CHECK(lives_before(first) == 0);
    CHECK(next_incarnation(0, a) == first);  // there was none
    const Incarnation second = next_incarnation(first, b).value();
    CHECK(second == 0x0001'1111'2222'4444);
    CHECK(lives_before(second) == 1);
    CHECK(process_of(second) == process_of(b));
    CHECK(Version{second, 1} > Version{first, 99});
    CHECK(lives_before(next_incarnation(second, a).value()) == 2);
}

TEST_CASE("two processes that go on with the same row, or begin one at once, are told apart") {
    const Incarnation first = first_incarnation(a);
    CHECK(next_incarnation(first, a) != next_incarnation(first, b));
    CHECK(first_incarnation(a) != first_incarnation(b));
    CHECK(next_incarnation(first, a) != first);  // one that goes on twice, too
}

TEST_CASE("lives that can not be counted any more are none") {
    const Incarnation last = lives_max << process_bits | 7;
    CHECK(!next_incarnation(last, a));
    CHECK(next_incarnation(last - (Incarnation{1} << process_bits), a) > last - 7);
}

TEST_CASE("nothing is of a life before its first round") {
    CHECK(version_of(0, a) == Version{});
    CHECK(version_of(3, 7) == Version{7, 3});
}

}  // namespace ako::incarnation_test
