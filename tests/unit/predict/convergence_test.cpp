// How many rounds it takes with larger batches and with rows that are old.
#include "src/predict/convergence.h"

#include <doctest/doctest.h>

namespace ako::convergence_test {

TEST_CASE("a batch far below the noise scale saves as many rounds as it has samples more") {
    const Convergence known{.rounds = 1'000, .batch = 10, .noise_scale = 100'000};
    CHECK(rounds_to_target(known, 10) == doctest::Approx(1'000).scale(0));
    CHECK(rounds_to_target(known, 40) == doctest::Approx(250).scale(0).epsilon(0.01));
}

TEST_CASE("a batch far above the noise scale saves nothing") {
    const Convergence known{.rounds = 1'000, .batch = 1'000, .noise_scale = 10};
    CHECK(rounds_to_target(known, 64'000) == doctest::Approx(990).scale(0).epsilon(0.01));
}

TEST_CASE("old rows take more rounds") {
    CHECK(staleness_factor(0) == 1);
    CHECK(staleness_factor(10) == doctest::Approx(1.15).scale(0));
}

}  // namespace ako::convergence_test
