// What peers are told of a model's tensors.
#include "src/library/layout_text.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/contains.h"

namespace ako::layout_text_test {

using ako::test::contains;

namespace {

std::vector<Tensor> named(const std::vector<std::string>& names) {
    std::vector<Tensor> tensors;
    for (const std::string& name : names) tensors.push_back({name, {2, 3}, 0});
    return tensors;
}

std::vector<Tensor> letters(const std::string& names) {
    std::vector<std::string> each;
    for (const char letter : names) each.emplace_back(1, letter);
    return named(each);
}

}  // namespace

TEST_CASE("layout text: a line for each tensor where they fit, else parts") {
    CHECK(layout_text({{"w", {2, 3}, 0}, {"b", {}, 6}}, 100) == "tensors:\n  w: 2 3\n  b: 1\n");
    const std::string parts = layout_text(letters("abcdefghijklmn"), 100);
    CHECK(contains(parts, "model part 1: "));
    CHECK(contains(parts, "model part 2: "));
    CHECK(parts.size() <= 100);
    CHECK(contains(layout_text(named({"a:b"}), 100), "model part 1: "));
    CHECK(layout_text(letters("ab"), 10).empty());
}

TEST_CASE("layout text: parts show where two models differ first") {
    const auto one = layout_parts(letters("abcdefghijklmn"));
    REQUIRE(one.size() == 4);
    const char* const names[] = {" a", " b to c", " d to i", " j to n"};
    for (std::size_t k = 0; k < one.size(); ++k) CHECK(one[k].substr(22) == names[k]);
    const auto other = layout_parts(letters("abcdXefghijklmn"));
    REQUIRE(other.size() == 4);
    CHECK(one[0] == other[0]);
    CHECK(one[1] == other[1]);
    CHECK(one[2] != other[2]);
    CHECK(one[3] != other[3]);
}

TEST_CASE("layout text: parts are few and short, and one line each") {
    std::vector<std::string> names;
    for (int k = 0; k < 10'000; ++k) {
        std::string name;
        for (int times = 0; times < 20; ++times) name += "layer\n" + std::to_string(k) + "\xc3\xa9";
        names.push_back(name);
    }
    const auto parts = layout_parts(named(names));
    CHECK(parts.size() == 10);
    for (const std::string& part : parts) {
        CHECK(part.size() <= std::string("model part 10: ").size() + 60);
        const auto is_shown = [](char letter) { return letter >= ' ' && letter <= '~'; };
        CHECK(std::all_of(part.begin(), part.end(), is_shown));
    }
}

TEST_CASE("layout text: a number is not a vector of one") {
    CHECK(layout_parts({{"a", {1}, 0}}) != layout_parts({{"a", {}, 0}}));
    CHECK(layout_parts({{"a", {2}, 0}}) != layout_parts({{"a", {}, 0}}));
}

}  // namespace ako::layout_text_test
