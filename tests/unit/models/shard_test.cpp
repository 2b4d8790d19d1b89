// Data shards: who trains on what, and in which order.
#include "models/shard.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "ako/error.h"

namespace ako::shard_test {

namespace {

/// Items can be told apart by their one pixel (the lower byte of their index) and their label.
Dataset numbered(std::size_t count) {
    Images images{count, {1, 1, 1}, std::vector<std::uint8_t>(count), {}};
    std::vector<std::uint8_t> labels(count);
    for (std::size_t k = 0; k < count; ++k) {
        images.bytes[k] = static_cast<std::uint8_t>(k);
        labels[k] = static_cast<std::uint8_t>(k / 256);
    }
    return Dataset(std::move(images), std::move(labels));
}

/// The indices of the next `count` items, drawn in batches of `batch_count`.
std::vector<int> draw(BatchSource& source, std::size_t count, std::size_t batch_count) {
    std::vector<int> items;
    while (items.size() < count) {
        const Batch batch = source.next(std::min(batch_count, count - items.size()));
        REQUIRE(batch.images.size() == batch.count);
        REQUIRE(batch.labels.size() == batch.count);
        for (std::size_t k = 0; k < batch.count; ++k) {
            const float pixel = batch.images[k] * 255.0f;
            items.push_back(static_cast<int>(pixel + 0.5f) + 256 * batch.labels[k]);
        }
    }
    return items;
}

TEST_CASE(
    "shard: disjoint shards cover the data, each item once per pass, for any number of peers") {
    const Dataset dataset = numbered(1003);
    for (const std::size_t peer_count : {1u, 2u, 3u, 5u, 8u, 64u}) {
        std::multiset<int> all;
        for (PeerIndex self = 0; self < peer_count; ++self) {
            const std::size_t size = 1003 * (self + 1) / peer_count - 1003 * self / peer_count;
            CHECK(size - 1003 / peer_count <= 1);
            const auto source = make_shard(dataset, Sharding::disjoint, self, peer_count, 7);
            auto first = draw(*source, size, 16);
            auto second = draw(*source, size, 5);
            if (size > 5) CHECK(first != second);
            all.insert(first.begin(), first.end());
            std::sort(first.begin(), first.end());
            std::sort(second.begin(), second.end());
            CHECK(first == second);
        }
        CHECK(all.size() == 1003);
        CHECK(std::set<int>(all.begin(), all.end()).size() == 1003);
    }
}

TEST_CASE("shard: shuffled gives each peer all items per pass, in an order of its own") {
    const Dataset dataset = numbered(300);
    const auto source_a = make_shard(dataset, Sharding::shuffled, 0, 2, 7);
    const auto source_b = make_shard(dataset, Sharding::shuffled, 1, 2, 7);
    const auto a = draw(*source_a, 300, 64), b = draw(*source_b, 300, 64);
    CHECK(a != b);
    CHECK(std::set<int>(a.begin(), a.end()).size() == 300);
    CHECK(std::set<int>(b.begin(), b.end()).size() == 300);
    CHECK(draw(*source_a, 300, 64) != a);
}

TEST_CASE("shard: the seed fixes all orders, the batch size none") {
    const Dataset dataset = numbered(200);
    for (const Sharding sharding : {Sharding::disjoint, Sharding::shuffled}) {
        const auto items = [&](std::uint64_t seed, std::size_t batch_count) {
            return draw(*make_shard(dataset, sharding, 1, 3, seed), 500, batch_count);
        };
        CHECK(items(1, 10) == items(1, 64));
        CHECK(items(1, 10) != items(2, 10));
    }
}

TEST_CASE("shard: an order for ever") {
    const Dataset dataset = numbered(20);
    CHECK(draw(*make_shard(dataset, Sharding::disjoint, 1, 2, 1), 10, 4) ==
          std::vector<int>{9, 18, 5, 12, 16, 10, 1, 6, 17, 14});
}

TEST_CASE("shard: what was skipped comes as little as what was drawn") {
    const Dataset dataset = numbered(200);
    for (const Sharding sharding : {Sharding::disjoint, Sharding::shuffled}) {
        const auto all = draw(*make_shard(dataset, sharding, 1, 3, 1), 1000, 64);
        for (const std::uint64_t skipped : {0u, 1u, 66u, 67u, 200u, 201u, 700u}) {
            CAPTURE(skipped);
            const auto source = make_shard(dataset, sharding, 1, 3, 1);
            source->skip(skipped);
            const auto rest = draw(*source, 100, 7);
            CHECK(std::equal(rest.begin(), rest.end(),
                             all.begin() + static_cast<std::ptrdiff_t>(skipped)));
            source->skip(50);  // in mid-pass
            CHECK(draw(*source, 1, 1)[0] == all[skipped + 150]);
        }
    }
}

TEST_CASE("shard: a batch may be larger than the shard") {
    const Dataset dataset = numbered(6);
    const auto source = make_shard(dataset, Sharding::disjoint, 1, 2, 1);
    CHECK(source->next(10).count == 10);
}

TEST_CASE("shard: more peers than items are refused") {
    const Dataset dataset = numbered(3);
    CHECK_THROWS_AS(make_shard(dataset, Sharding::disjoint, 0, 4, 1), StartupError);
    CHECK(make_shard(dataset, Sharding::disjoint, 2, 3, 1)->next(1).count == 1);
}

TEST_CASE("shard: without data there are counts only") {
    const Batch batch = make_countless_source()->next(64);
    CHECK(batch.count == 64);
    CHECK(batch.images.empty());
    CHECK(batch.labels.empty());
}

TEST_CASE("shard: who skips draws what it would have drawn from there on") {
    const Dataset dataset = numbered(103);
    for (const Sharding sharding : {Sharding::disjoint, Sharding::shuffled}) {
        const auto whole = make_shard(dataset, sharding, 1, 3, 7);
        const std::vector<int> items = draw(*whole, 500, 8);
        for (const std::size_t place : {0u, 1u, 34u, 35u, 103u, 104u, 311u}) {
            CAPTURE(place);
            const auto later = make_shard(dataset, sharding, 1, 3, 7);
            later->skip(place);
            const auto first = items.begin() + static_cast<std::ptrdiff_t>(place);
            CHECK(draw(*later, 100, 8) == std::vector<int>(first, first + 100));
            later->skip(40);
            CHECK(draw(*later, 10, 5) == std::vector<int>(first + 140, first + 150));
        }
    }
}

}  // namespace
}  // namespace ako::shard_test
