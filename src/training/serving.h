// What a peer with `role: server` does instead of training: it starts with the others, serves them
// until the last has ended, and leaves. The counterpart of the trainer. Compute thread only.
#pragma once

#include <atomic>

#include "ako/exchange.h"
#include "src/training/trainer.h"

namespace ako {

/// Serves until all workers have ended. An outcome without parameters: a server holds only its
/// part of them, and a digest that the workers agreed on.
TrainingOutcome serve(Exchange& exchange, const std::atomic<int>& interrupts,
                      TrainingObserver& observer);

}  // namespace ako
