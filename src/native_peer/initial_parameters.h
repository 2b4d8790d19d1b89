// Where training starts: from the seed, or from a saved model. Functions; any thread.
#pragma once

#include <vector>

#include "ako/network.h"
#include "src/config/cluster_settings.h"

namespace ako {

/// The parameters of `model.initial` if the file names one, else those of the seed. Throws
/// StartupError: the saved model cannot be read, is of another network (every tensor that does not
/// fit is named), or has numbers that are not finite.
std::vector<float> initial_parameters(const Settings& settings, const Network& network);

}  // namespace ako
