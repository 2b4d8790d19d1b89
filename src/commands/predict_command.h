// `ako predict`: what machines would make of the network of a cluster file, without starting one.
#pragma once

#include "ako/ending.h"
#include "src/commands/prediction_inputs.h"

namespace ako {

/// Prints it. Throws StartupError.
ExitStatus predict(const PredictOptions& options);

}  // namespace ako
