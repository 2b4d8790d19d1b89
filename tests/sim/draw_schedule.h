// The schedule of faults that a seed draws, for a cluster that it has drawn before.
#pragma once

#include "tests/sim/fault.h"
#include "tests/sim/world.h"

namespace ako::sim {

struct Scenario;

Schedule draw_schedule(const Scenario& scenario, Random& random);

}  // namespace ako::sim
