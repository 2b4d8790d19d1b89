// Augmentation: what becomes of an image, that it follows from seed, peer and place alone, and that
// a resumed order goes on with it.
#include "models/augmentation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "models/elastic.h"
#include "models/shard.h"

namespace ako::augmentation_test {

namespace {

constexpr Shape shape{4, 5, 2};

/// Values from 1, so that none is like the zeros of the frame.
std::vector<float> image() {
    std::vector<float> values(shape.element_count());
    std::iota(values.begin(), values.end(), 1.0f);
    return values;
}

/// The image moved and mirrored, pixel by pixel.
std::vector<float> moved(int down, int right, bool mirrored) {
    const std::vector<float> from = image();
    std::vector<float> to(from.size());
    for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 5; ++x) {
            const int source_y = y + down, source_x = (mirrored ? 4 - x : x) + right;
            if (source_y < 0 || source_y >= 4 || source_x < 0 || source_x >= 5) continue;
            for (int c = 0; c < 2; ++c)
                to[static_cast<std::size_t>((y * 5 + x) * 2 + c)] =
                    from[static_cast<std::size_t>((source_y * 5 + source_x) * 2 + c)];
        }
    return to;
}

std::vector<float> drawn(const AugmentationSettings& settings, std::uint64_t number) {
    std::vector<float> out(shape.element_count(), 1e30f);
    Augmentation(settings, 7).apply(shape, image(), number, out);
    return out;
}

TEST_CASE("augmentation: every cut out of the frame, mirrored or not, about equally often") {
    for (const AugmentationSettings& settings :
         {AugmentationSettings{2, true}, AugmentationSettings{3, false}, {0, true}, {0, false}}) {
        const int frame = static_cast<int>(settings.crop);
        std::map<std::vector<float>, int> seen;
        for (int down = -frame; down <= frame; ++down)
            for (int right = -frame; right <= frame; ++right) {
                seen[moved(down, right, false)] = 0;
                if (settings.flip) seen[moved(down, right, true)] = 0;
            }
        const int ways = (2 * frame + 1) * (2 * frame + 1) * (settings.flip ? 2 : 1);
        REQUIRE(seen.size() == static_cast<std::size_t>(ways));
        for (int number = 0; number < 100 * ways; ++number) {
            const auto found = seen.find(drawn(settings, static_cast<std::uint64_t>(number)));
            REQUIRE(found != seen.end());
            ++found->second;
        }
        for (const auto& [values, count] : seen) {
            CHECK(count > 50);
            CHECK(count < 160);
        }
    }
}

/// Images of one size that are told apart by a number added to all pixels.
Dataset numbered(std::size_t count) {
    Images images{count, shape, {}, {}};
    for (std::size_t k = 0; k < count; ++k)
        for (const float value : image())
            images.numbers.push_back(value + 100 * static_cast<float>(k));
    return Dataset(std::move(images), Labels(count));
}

std::vector<float> draw(BatchSource& source, std::size_t count, std::size_t batch_count) {
    std::vector<float> pixels;
    for (std::size_t left = count; left > 0;) {
        const Batch batch = source.next(std::min(left, batch_count));
        pixels.insert(pixels.end(), batch.images.begin(), batch.images.end());
        left -= batch.count;
    }
    return pixels;
}

constexpr AugmentationSettings both{2, true};

TEST_CASE("augmentation: of a shard it follows from seed and peer, whatever the batch") {
    const Dataset dataset = numbered(20);
    for (const Sharding sharding : {Sharding::disjoint, Sharding::shuffled}) {
        const auto pixels = [&](PeerIndex peer, std::uint64_t seed, std::size_t batch_count) {
            return draw(*make_shard(dataset, sharding, peer, 2, seed, both), 50, batch_count);
        };
        CHECK(pixels(0, 7, 3) == pixels(0, 7, 16));
        CHECK(pixels(0, 7, 3) != pixels(0, 8, 3));
        CHECK(pixels(0, 7, 3) != pixels(1, 7, 3));
    }
}

TEST_CASE("augmentation: who skips draws what it would have drawn from there on") {
    const Dataset dataset = numbered(20);
    const std::size_t elements = shape.element_count();
    const auto whole = draw(*make_shard(dataset, Sharding::disjoint, 1, 2, 7, both), 60, 8);
    for (const std::size_t place : {0u, 1u, 9u, 10u, 35u}) {
        const auto later = make_shard(dataset, Sharding::disjoint, 1, 2, 7, both);
        later->skip(place);
        const auto first = whole.begin() + static_cast<std::ptrdiff_t>(place * elements);
        CHECK(draw(*later, 20, 8) ==
              std::vector<float>(first, first + static_cast<std::ptrdiff_t>(20 * elements)));
    }
}

TEST_CASE("augmentation: an image is another one in the next pass, and its label stays") {
    const Dataset dataset(Images{1, shape, {}, image()}, Labels{3});
    const auto source = make_shard(dataset, Sharding::disjoint, 0, 1, 7, both);
    int others = 0;
    std::vector<float> before;
    for (int pass = 0; pass < 20; ++pass) {
        const Batch batch = source->next(1);
        CHECK(batch.labels[0] == 3);
        std::vector<float> now(batch.images.begin(), batch.images.end());
        if (now != before) ++others;
        before = std::move(now);
    }
    CHECK(others > 15);
}

struct OnePortion final : PortionSource {
    explicit OnePortion(Taken first) : next(first) {}
    std::size_t portion_count() const override { return 2; }
    Taken take() override { return next; }
    void given(const Portion&, std::size_t, bool) override {}
    Taken next;
};

TEST_CASE("augmentation: with portions it follows from the pass and the image, whoever has it") {
    const Dataset dataset = numbered(20);
    const std::size_t elements = shape.element_count();
    const auto pixels = [&](PortionSource::Taken from, std::size_t count) {
        OnePortion portions(from);
        return draw(*make_elastic_source(dataset, portions, 7, both), count, 4);
    };
    const auto whole = pixels({{3, 1}, 0}, 10);
    CHECK(
        pixels({{3, 1}, 4}, 6) ==
        std::vector<float>(whole.begin() + static_cast<std::ptrdiff_t>(4 * elements), whole.end()));
    CHECK(pixels({{4, 1}, 0}, 10) != whole);
}

}  // namespace
}  // namespace ako::augmentation_test
