// Threads beneath the compute thread: they fork and join within a pass through a layer, as those of
// a matrix product do, and sleep in between. Each takes a share of the batch's samples; which ones
// depends on the number of threads alone, so that a run can be repeated bit for bit. For the whole
// process; to be called by one thread at a time.
#pragma once

#include <cstddef>
#include <functional>

namespace ako {

/// How many threads a layer uses, matrix products included; at least 1.
void set_threads(std::size_t count);
std::size_t thread_count();

/// Visits the shares [first, end) of `count` things, at most one for each thread, all at the same
/// time; the first on this thread. `share` counts them. What is thrown ends the process.
using VisitShare = std::function<void(std::size_t share, std::size_t first, std::size_t end)>;
void share_out(std::size_t count, const VisitShare& visit);

}  // namespace ako
