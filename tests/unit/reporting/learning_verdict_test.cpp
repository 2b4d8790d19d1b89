// Which ends are said to have learned nothing, and which ones are not.
#include "src/reporting/learning_verdict.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/contains.h"

namespace ako::learning_verdict_test {

namespace {

using test::contains;

TEST_CASE("chance is the share of the most common class, and what a small test set adds to it") {
    const std::vector<std::size_t> even(10, 1000);
    REQUIRE(chance_accuracy(even).has_value());
    CHECK(*chance_accuracy(even) == doctest::Approx(0.106));
    const std::vector<std::size_t> few(10, 10);
    CHECK(*chance_accuracy(few) == doctest::Approx(0.16));
    CHECK_FALSE(chance_accuracy(std::vector<std::size_t>{0, 50}).has_value());
    CHECK_FALSE(chance_accuracy({}).has_value());
}

TEST_CASE("of a test set that is nearly all of one class chance says nothing") {
    CHECK_FALSE(chance_accuracy(std::vector<std::size_t>{980, 20}).has_value());
    CHECK(chance_accuracy(std::vector<std::size_t>{520, 480}).has_value());
}

TEST_CASE("an accuracy of chance is no learning, whatever the losses were; a better one is") {
    CHECK(contains(why_not_learned(0.1135, 0.1195, {}), "11.35 % is no better than chance"));
    CHECK(contains(why_not_learned(0.1, 0.106, LossTrend::Ends{2.3, 99, 100}), "from 2.3"));
    CHECK(why_not_learned(0.13, 0.106, {}).empty());
    CHECK(why_not_learned(0.97, 0.106, LossTrend::Ends{2e-4, 2e-4, 0.02}).empty());
}

TEST_CASE("where only losses tell, one far above the first ones is no learning") {
    CHECK(contains(why_not_learned({}, {}, LossTrend::Ends{2.3, 2.4, 24.1}), "from 2.3"));
    CHECK(why_not_learned({}, {}, LossTrend::Ends{2.3, 2.4, 23.9}).empty());
    CHECK(contains(why_not_learned(0.5, {}, LossTrend::Ends{2.3, 2.4, 24.1}), "from 2.3"));
    CHECK(why_not_learned({}, {}, LossTrend::Ends{2e-4, 0.5, 0.02}).empty());
}

TEST_CASE("of what is not known nothing is said") {
    CHECK(why_not_learned({}, 0.106, {}).empty());
    CHECK(why_not_learned(0.0, {}, {}).empty());
    CHECK(why_not_learned({}, {}, LossTrend::Ends{-2, -1, 30}).empty());
}

}  // namespace
}  // namespace ako::learning_verdict_test
