// What is known to have gone wrong with elastic rings elsewhere, one by one, in virtual time.
#pragma once

#include <span>

#include "tests/sim/elastic_run.h"

namespace ako::sim {

struct ElasticCase {
    const char* name;
    /// With at most so many seeds. Throws Violation.
    void (*run)(std::uint64_t tries_max);
};

std::span<const ElasticCase> elastic_cases();

/// Three layers of 190 elements in all, 1 MB/s and 1 ms, and no fault: to be changed.
ElasticScenario small_ring(std::size_t peers, std::uint64_t rounds, std::uint64_t seed = 1);

}  // namespace ako::sim
