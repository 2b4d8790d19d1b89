// `ako evaluate`: what a saved model makes of a cluster file's test set.
#pragma once

#include <string>
#include <vector>

#include "ako/ending.h"

namespace ako {

struct EvaluateOptions {
    std::string model;   ///< a safetensors file
    std::string config;  ///< a cluster file; empty: config.yaml in the model's folder
    std::vector<std::string> overrides;  ///< of --set
};

/// Prints accuracy, loss and confusion matrix. Throws StartupError for a model that is damaged or
/// of another network.
ExitStatus evaluate(const EvaluateOptions& options);

}  // namespace ako
