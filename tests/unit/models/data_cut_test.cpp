// Which samples of a training set are used, and for what.
#include "models/data_cut.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace ako::data_cut_test {
namespace {

DataSettings cut(double validation, double subset) {
    DataSettings settings;
    settings.validation = validation;
    settings.subset = subset;
    return settings;
}

}  // namespace

TEST_CASE("what is kept back and what is trained on are apart, and together all") {
    for (const std::size_t count : {std::size_t{10}, std::size_t{997}}) {
        const auto kept = places_of(cut(0.3, 1), DataPart::test, count);
        const auto used = places_of(cut(0.3, 1), DataPart::train, count);
        std::vector<std::size_t> both(kept);
        both.insert(both.end(), used.begin(), used.end());
        std::sort(both.begin(), both.end());
        std::vector<std::size_t> all(count);
        std::iota(all.begin(), all.end(), std::size_t{0});
        CHECK(both == all);
        CHECK(static_cast<double>(kept.size()) / static_cast<double>(count) ==
              doctest::Approx(0.3).epsilon(0.4));
    }
}

TEST_CASE("a set is cut fairly in whatever order its classes stand") {
    std::vector<double> sorted(10), in_turn(10);
    for (const std::size_t place : places_of(cut(0.2, 0.5), DataPart::train, 10'000)) {
        ++sorted[place / 1000];
        ++in_turn[place % 10];
    }
    for (const auto& classes : {sorted, in_turn})
        for (const double samples : classes) CHECK(samples == doctest::Approx(400).epsilon(0.15));
}

TEST_CASE("a subset keeps the same samples back") {
    CHECK(places_of(cut(0.1, 0.25), DataPart::test, 500) ==
          places_of(cut(0.1, 1), DataPart::test, 500));
    CHECK(places_of(cut(0, 0.25), DataPart::train, 1000).size() < 400);
    CHECK(!is_cut(cut(0, 0.5), DataPart::test));
    CHECK(is_cut(cut(0, 0.5), DataPart::train));
    CHECK(is_cut(cut(0.1, 1), DataPart::test));
}

TEST_CASE("images and labels stay together") {
    Images images{4, {1, 2, 1}, {0, 1, 10, 11, 20, 21, 30, 31}, {}};
    Labels labels{5, 6, 7, 8};
    keep_places({1, 3}, images, labels);
    CHECK(images.count == 2);
    CHECK(images.bytes == std::vector<std::uint8_t>{10, 11, 30, 31});
    CHECK(labels == Labels{6, 8});
}

}  // namespace ako::data_cut_test
