// Batches whose portions somebody else chooses: every item of a portion, in an order that all peers
// share, and what was given out of it is said.
#include "models/elastic.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace ako::elastic_test {

namespace {

constexpr std::size_t items = 103;
constexpr std::size_t portions = 8;

Dataset numbered() {
    Images images{items, {1, 1, 1}, std::vector<std::uint8_t>(items), {}};
    for (std::size_t k = 0; k < items; ++k) images.bytes[k] = static_cast<std::uint8_t>(k);
    return Dataset(std::move(images), std::vector<std::uint8_t>(items));
}

/// Portions as they were written down, and what was said of them.
struct Script final : PortionSource {
    struct Said {
        Portion portion;
        std::size_t items = 0;
        bool all = false;
    };
    std::size_t portion_count() const override { return portions; }
    Taken take() override { return script.at(taken++); }
    void given(const Portion& portion, std::size_t count, bool all) override {
        said.push_back({portion, count, all});
    }

    std::vector<Taken> script;
    std::size_t taken = 0;
    std::vector<Said> said;
};

Script every_portion(std::uint32_t pass) {
    Script script;
    for (std::uint32_t place = 0; place < portions; ++place)
        script.script.push_back({{pass, place}, 0});
    return script;
}

std::vector<int> draw(BatchSource& source, std::size_t count) {
    std::vector<int> drawn;
    const Batch batch = source.next(count);
    REQUIRE(batch.images.size() == count);
    for (const float pixel : batch.images) drawn.push_back(static_cast<int>(pixel * 255.0F + 0.5F));
    return drawn;
}

TEST_CASE("elastic: the portions of a pass are all items once, in batches of any size") {
    const Dataset dataset = numbered();
    std::vector<int> first_order;
    for (const std::size_t batch : {std::size_t{1}, std::size_t{7}, items}) {
        Script script = every_portion(0);
        const auto source = make_elastic_source(dataset, script, 5);
        std::vector<int> order;
        while (order.size() < items) {
            for (const int item : draw(*source, std::min(batch, items - order.size())))
                order.push_back(item);
        }
        CHECK(std::set<int>(order.begin(), order.end()).size() == items);
        if (first_order.empty()) first_order = order;
        CHECK(order == first_order);  // the same for all peers
        CHECK(script.said.back().all);
        CHECK(std::count_if(script.said.begin(), script.said.end(),
                            [](const Script::Said& said) { return said.all; }) == portions);
    }
    Script next = every_portion(1);
    CHECK(draw(*make_elastic_source(dataset, next, 5), items) != first_order);
    Script other = every_portion(0);
    CHECK(draw(*make_elastic_source(dataset, other, 6), items) != first_order);
}

TEST_CASE("elastic: who goes on with a portion begins where the other stopped") {
    const Dataset dataset = numbered();
    Script whole;
    whole.script = {{{2, 3}, 0}};
    const std::size_t size = items * 4 / portions - items * 3 / portions;
    const std::vector<int> all = draw(*make_elastic_source(dataset, whole, 5), size);
    Script rest;
    rest.script = {{{2, 3}, 5}};
    const auto source = make_elastic_source(dataset, rest, 5);
    CHECK(draw(*source, 2) == std::vector<int>{all[5], all[6]});
    REQUIRE(rest.said.size() == 1);
    CHECK(rest.said[0].items == 7);
    CHECK(!rest.said[0].all);
    CHECK(draw(*source, size - 7) == std::vector<int>(all.begin() + 7, all.end()));
    CHECK(rest.said.back().all);
    CHECK(rest.said.back().items == size);
}

TEST_CASE("elastic: a portion of which nothing is left is said to be over, and another follows") {
    const Dataset dataset = numbered();
    Script script;
    const std::size_t size = items / portions;
    script.script = {{{0, 0}, size}, {{0, 1}, 0}};
    const auto source = make_elastic_source(dataset, script, 5);
    draw(*source, 3);
    REQUIRE(script.said.size() == 2);
    CHECK(script.said[0].all);
    CHECK(script.said[1].portion == Portion{0, 1});
    CHECK(script.said[1].items == 3);
}

}  // namespace
}  // namespace ako::elastic_test
