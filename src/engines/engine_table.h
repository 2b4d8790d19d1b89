// All engines, by the word that --engine has for each. Any thread.
#pragma once

#include <string>
#include <vector>

#include "src/engines/engine.h"

namespace ako {

/// In the order in which they are told of.
const std::vector<const Engine*>& engines();

/// Throws StartupError naming those that there are.
const Engine& engine_named(const std::string& word);

}  // namespace ako
