// The gradient noise scale from norms of gradients whose noise is known.
#include "src/training/gradient_noise.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

namespace ako::gradient_noise_test {

namespace {

/// The norms of one round: the gradient of each part is the true one plus noise of a variance per
/// sample.
GradientNorms norms_of(std::mt19937& random, double gradient, double variance, std::size_t parts,
                       double samples_of_part) {
    constexpr std::size_t dimensions = 200;
    std::normal_distribution<double> noise(0, std::sqrt(variance / samples_of_part));
    std::vector<double> whole(dimensions);
    GradientNorms norms{0, samples_of_part, 0, static_cast<double>(parts) * samples_of_part};
    for (std::size_t part = 0; part < parts; ++part) {
        for (double& sum : whole) {
            const double value = gradient + noise(random);
            norms.of_part += value * value / static_cast<double>(parts);
            sum += value / static_cast<double>(parts);
        }
    }
    for (const double value : whole) norms.of_whole += value * value;
    return norms;
}

}  // namespace

TEST_CASE("the noise scale is the variance of one sample over the square of the gradient") {
    std::mt19937 random(1);
    for (const double variance : {0.5, 40.0}) {
        GradientNoise noise;
        CHECK(!noise.scale());
        for (int round = 0; round < 400; ++round) noise.add(norms_of(random, 0.5, variance, 4, 16));
        REQUIRE(noise.scale());
        CHECK(*noise.scale() == doctest::Approx(variance / 0.25).epsilon(0.15));
    }
}

TEST_CASE("it follows a gradient that becomes smaller, and is none where that is lost in noise") {
    std::mt19937 random(2);
    GradientNoise noise;
    for (int round = 0; round < 300; ++round) noise.add(norms_of(random, 1, 4, 2, 32));
    CHECK(*noise.scale() == doctest::Approx(4).epsilon(0.15));
    for (int round = 0; round < 600; ++round) noise.add(norms_of(random, 0.25, 4, 2, 32));
    CHECK(*noise.scale() == doctest::Approx(64).epsilon(0.3));

    GradientNoise lost;
    lost.add({1, 8, 0.1, 16});  // the whole has less than half of what its parts have
    CHECK(!lost.scale());
    GradientNoise quiet;
    quiet.add({1, 8, 1, 16});
    CHECK(*quiet.scale() == 0);
}

}  // namespace ako::gradient_noise_test
