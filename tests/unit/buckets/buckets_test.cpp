// The flat vector in buckets, parts and slices.
#include "src/buckets/buckets.h"

#include <doctest/doctest.h>

#include "ako/network.h"
#include "src/buckets/slices.h"

namespace ako::buckets_test {

TEST_CASE("layers are put together until they are worth a frame") {
    const Buckets buckets({{0, 5}, {5, 10}, {15, 85}, {100, 500}, {600, 20}}, 620,
                          80 * sizeof(float));
    REQUIRE(buckets.count() == 3);
    CHECK(buckets[0] == Range{0, 5});  // the first is alone
    CHECK(buckets[1] == Range{5, 95});
    CHECK(buckets[2] == Range{100, 520});  // the small last one is not
    CHECK(buckets.parameter_count() == 620);
    CHECK(buckets.at(0) == 0);
    CHECK(buckets.at(99) == 1);
    CHECK(buckets.at(100) == 2);
    CHECK(buckets.at(619) == 2);
    const Buckets::Span across = buckets.overlapping({99, 2});
    CHECK((across.first == 1 && across.end == 3));
    const Buckets::Span none = buckets.overlapping({99, 0});
    CHECK(none.first == none.end);
}

TEST_CASE("a large layer is several buckets, of equal size") {
    const Buckets buckets({{0, 5}, {5, 395}, {400, 199}, {599, 3}}, 602, 80 * sizeof(float),
                          100 * sizeof(float));
    REQUIRE(buckets.count() == 6);
    CHECK(buckets[1] == Range{5, 131});
    CHECK(buckets[2] == Range{136, 132});
    CHECK(buckets[3] == Range{268, 132});
    CHECK(buckets[4] == Range{400, 101});  // with the small last layer
    CHECK(buckets[5] == Range{501, 101});
    CHECK(buckets.parameter_count() == 602);
}

TEST_CASE("a vector without layers is one bucket, and so is a small one") {
    CHECK(Buckets({}, 7).count() == 1);
    CHECK(Buckets({}, 7)[0] == Range{0, 7});
    CHECK(Buckets({{0, 7}}, 7).count() == 1);
}

TEST_CASE("equal parts cover a range without gaps, and each element is found again") {
    for (const Range range : {Range{0, 1}, Range{5, 7}, Range{100, 64}, Range{3, 1000}}) {
        for (std::size_t count = 1; count <= 9; ++count) {
            std::size_t end = range.first;
            for (std::size_t part = 0; part < count; ++part) {
                const Range own = part_of(range, part, count);
                CHECK(own.first == end);
                CHECK(own.count <= range.count / count + 1);
                end += own.count;
                for (std::size_t k = own.first; k < own.first + own.count; ++k)
                    REQUIRE(part_at(range, k, count) == part);
            }
            CHECK(end == range.first + range.count);
        }
    }
}

TEST_CASE("servers share every bucket by bytes, a large layer too") {
    const Buckets buckets({{0, 100'000}, {100'000, 400'000}}, 500'000);
    const Slices slices(buckets, 3);
    std::size_t end = 0;
    std::vector<std::size_t> of_server(3);
    for (std::size_t slice = 0; slice < slices.count(); ++slice) {
        CHECK(slices[slice].range.first == end);
        CHECK(slices[slice].range.count <= Slices::elements_max);
        CHECK(slices.at(end) == slice);
        end += slices[slice].range.count;
        CHECK(slices.at(end - 1) == slice);
        of_server[slices[slice].server] += slices[slice].range.count;
        CHECK(slice >= slices.first_of(slices[slice].bucket));
        CHECK(slice < slices.first_of(slices[slice].bucket + 1));
    }
    CHECK(end == 500'000);
    for (const std::size_t elements : of_server)
        CHECK(elements == doctest::Approx(166'667).epsilon(1e-4));
}

TEST_CASE("tensors of one layer are one range") {
    const std::vector<Tensor> tensors = {{"conv1.weight", {4, 2}, 0},
                                         {"conv1.bias", {4}, 8},
                                         {"fc.weight", {10}, 12},
                                         {"free", {3}, 22}};
    CHECK(layer_ranges(tensors) == std::vector<Range>{{0, 12}, {12, 10}, {22, 3}});
}

}  // namespace ako::buckets_test
