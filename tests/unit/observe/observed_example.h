// A peer of a run of three, as it is published.
#pragma once

#include "src/observe/observed.h"

namespace ako {

inline Observed observed_example() {
    Observed observed;
    observed.run = {"three",
                    "a",
                    "ako",
                    "lenet",
                    "0.1",
                    "0123456789ab",
                    {{"a", "10.0.0.1", 9470}, {"b", "10.0.0.2", 9471}, {"c", "::1", 9472}}};
    observed.run.memory = {{"replica", 4'000}, {"rows of the others", 8'000}};
    MetricsLine& line = observed.line;
    line.time = 12.5;
    line.phase = "training";
    line.round = 321;
    line.samples = 20'544;
    line.samples_per_s = 1'640;
    line.loss = 0.25;
    line.losses_not_finite = 2;
    line.progress = 0.43;
    line.egress_mbit = 16;
    line.links.resize(2);
    line.links[0].peer = "b";
    line.links[0].presence = Presence::up;
    line.links[0].live = line.links[0].advancing = true;
    line.links[0].partitions = 6.5;
    line.links[0].staleness_rounds = 5;
    line.links[0].staleness_ms = 210;
    line.links[0].egress_bytes = 123'456'789;
    line.links[0].round = 319;
    line.links[0].rejects = {{"run_name", 2}};
    line.links[0].damaged_blocks = 3;
    line.links[0].loss = 0.26;
    line.links[1].peer = "c";
    line.links[1].presence = Presence::lost;
    line.links[1].since = 9.5;
    line.links[1].why = "no byte for 2000 ms";
    return observed;
}

}  // namespace ako
