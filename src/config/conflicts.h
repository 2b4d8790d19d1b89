// What no key can check by itself: values that exclude one another. Most are rows of a table, here
// or of the mode (common/ako/mode_table.h): how to add one. Pure; any thread.
#pragma once

#include <string>

#include "src/config/cluster_settings.h"
#include "src/config/config_value.h"

namespace ako {

/// Where a complaint about the key `path` of the file points to: its value, or the file's start.
std::string place_in(const ConfigValue& tree, const std::string& path);

/// Throws a StartupError that names the first conflict, its place in `tree`, from which `settings`
/// were read, and the reason.
void refuse_conflicts(const ConfigValue& tree, const Settings& settings);

}  // namespace ako
