// Initial parameters are compared between peers by their bits, so these tests fix them for ever.
#include "models/initial.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "models/catalog.h"
#include "models/random.h"
#include "models/synthetic.h"

namespace ako::initial_test {

namespace {

/// FNV-1a over the bits, little-endian.
std::uint64_t fingerprint(const std::vector<float>& values) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const float value : values)
        for (unsigned shift = 0; shift < 32; shift += 8) {
            hash ^= (std::bit_cast<std::uint32_t>(value) >> shift) & 0xff;
            hash *= 0x100000001b3u;
        }
    return hash;
}

std::vector<float> initial(ModelKind kind, std::uint64_t seed) {
    ModelSettings settings;
    settings.kind = kind;
    settings.parameters = 1000;
    const auto network = make_network(settings);
    std::vector<float> parameters(network->parameter_count(), 1e30f);
    network->initialize(seed, parameters);
    return parameters;
}

TEST_CASE("random: SplitMix64's published sequence") {
    RandomStream random(1234567);
    CHECK(random.next() == 6457827717110365317u);
    CHECK(random.next() == 3203168211198807973u);
    CHECK(random.next() == 9817491932198370423u);
}

TEST_CASE("random: symmetric_unit is odd multiples of 2^-24 in (-1, 1)") {
    CHECK(symmetric_unit(0) == -1.0f + 0x1p-24f);
    CHECK(symmetric_unit(UINT64_MAX) == 1.0f - 0x1p-24f);
    CHECK(symmetric_unit(std::uint64_t{1} << 63) == 0x1p-24f);
}

TEST_CASE("random: below is even and bounded, shuffle keeps every value") {
    RandomStream random(5);
    std::vector<int> seen(7);
    for (int draw = 0; draw < 7000; ++draw) {
        const std::uint64_t value = random.below(7);
        REQUIRE(value < 7);
        ++seen[value];
    }
    for (const int count : seen) CHECK(std::abs(count - 1000) < 150);
    CHECK(random.below(1) == 0);
    std::vector<std::uint32_t> values{0, 1, 2, 3, 4, 5, 6, 7};
    shuffle(values, random);
    std::uint32_t set = 0;
    for (const std::uint32_t value : values) set |= 1u << value;
    CHECK(set == 0xff);
}

TEST_CASE("initial parameters: the same bits for ever") {
    CHECK(fingerprint(initial(ModelKind::mlp, 1)) == 4252749280706021502u);
    CHECK(fingerprint(initial(ModelKind::lenet, 1)) == 18119110740385097346u);
    CHECK(fingerprint(initial(ModelKind::synthetic, 1)) == 13372137158828359159u);
    CHECK(fingerprint(synthetic_optimum(1000)) == 14212760782691070290u);
    const auto lenet = initial(ModelKind::lenet, 1);
    CHECK(std::bit_cast<std::uint32_t>(lenet[0]) == 3190016576u);
    CHECK(std::bit_cast<std::uint32_t>(lenet[520]) == 1009111446u);
}

TEST_CASE("initial parameters: another seed gives others") {
    for (const ModelKind kind : {ModelKind::mlp, ModelKind::lenet, ModelKind::synthetic})
        CHECK(fingerprint(initial(kind, 1)) != fingerprint(initial(kind, 2)));
}

TEST_CASE("initial parameters: biases are 0, weights have mean 0 and variance 1 / inputs") {
    const std::vector<Tensor> tensors{
        {"w", {50, 400}, 0}, {"b", {50}, 20'000}, {"v", {5, 8, 50, 10}, 20'050}};
    std::vector<float> parameters(40'050, 1e30f);
    initialize_parameters(tensors, 3, parameters);
    for (std::size_t k = 20'000; k < 20'050; ++k) REQUIRE(parameters[k] == 0.0f);
    const auto check = [&](std::size_t first, double inputs) {
        double sum = 0, squares = 0;
        for (std::size_t k = first; k < first + 20'000; ++k) {
            REQUIRE(std::fabs(parameters[k]) <= std::sqrt(3 / inputs));
            sum += parameters[k];
            squares += static_cast<double>(parameters[k]) * parameters[k];
        }
        CHECK(std::fabs(sum / 20'000) < 0.03 / std::sqrt(inputs));
        CHECK(squares / 20'000 * inputs == doctest::Approx(1).epsilon(0.03));
    };
    check(0, 400);
    check(20'050, 4000);
    CHECK(parameters[0] != parameters[20'050]);
}

}  // namespace
}  // namespace ako::initial_test
