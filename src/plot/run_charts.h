// The charts of a run: which plots there are of its record. Each peer has the same style in all of
// them, by its place. Pure functions; any thread.
//
//   loss        training loss of each peer; logarithmic where all values are above zero
//   accuracy    test accuracy of the run: of curve.json, where the clock begins with the first
//               round; before there is one, as the peers' lines heard of it
//   samples     samples/s of each peer while it trains
//   partitions  its P: the mean over its links
//   staleness   the largest staleness of its links
//
// A long run has more lines than a chart can show. Then a point stands for a stretch of time, by
// the mean of its values, or the largest for staleness.
#pragma once

#include <array>
#include <vector>

#include "src/plot/chart.h"
#include "src/plot/run_record.h"

namespace ako {

/// A chart that there can be, and what it shows in words.
struct RunChart {
    const char* name;
    const char* words;
};

inline constexpr std::array<RunChart, 5> known_run_charts = {{{"loss", "loss"},
                                                              {"accuracy", "test accuracy"},
                                                              {"samples", "samples/s"},
                                                              {"partitions", "P"},
                                                              {"staleness", "staleness"}}};

/// Those with a point.
std::vector<Chart> run_charts(const RunRecord& run);

/// Seconds that a point of these charts stands for; 0: each is one line.
double seconds_of_point(const RunRecord& run);

}  // namespace ako
