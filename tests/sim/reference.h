// What the modes are held against: one process that makes the same steps of the same gradients, by
// the formulas, one peer after the other. Pure functions of a scenario; one thread.
#pragma once

#include <span>
#include <vector>

#include "tests/sim/mode_run.h"
#include "tests/sim/quadratic.h"

namespace ako::sim {

/// A quadratic, with noise that does not depend on timing.
class Task {
  public:
    Task(std::uint64_t seed, std::size_t elements, std::size_t peers)
        : random_(seed), quadratic_(random_, elements, peers) {}

    std::span<const float> initial() const { return quadratic_.initial(); }
    void gradient(PeerIndex peer, Round round, std::span<const float> at,
                  std::span<float> out) const {
        Random noise(peer * 7919 + round);
        quadratic_.gradient(peer, at, noise, out);
    }

  private:
    Random random_;
    const Quadratic quadratic_;
};

/// What one process makes of the mean gradient of all workers, computed at what it made of the
/// round before, or of the one before that where peers run ahead.
std::vector<float> one_process(const ModeScenario& scenario, const Task& task, Round rounds);
/// What local SGD makes of the same gradients.
std::vector<float> local_rounds_in_turn(const ModeScenario& scenario, const Task& task,
                                        Round rounds);
/// As all know it between two rounds of model averaging, once so many are made.
double averaging_progress(const ModeScenario& scenario, Round rounds);
/// What model averaging makes of them, with all learners in one process.
std::vector<float> averaged_in_turn(const ModeScenario& scenario, const Task& task, Round rounds);

}  // namespace ako::sim
