// The part of a plan that says which modes are compared, in which variants. Any thread.
#pragma once

#include <string>
#include <vector>

#include "src/compare/contender.h"
#include "src/config/config_value.h"

namespace ako {

/// `modes: {ako: {exchange.rule: [anchored, plain]}, ring: {}, parameter-server: best}`: each value
/// of each key with each of the others. `mode: ako` beneath a name of one's own says which mode it
/// is. Throws StartupError.
std::vector<Contender> read_modes(const ConfigValue& value);

/// Keys of the cluster file with one value each; groups may be nested or written with dots.
Variant read_assignments(const ConfigValue& value, const std::string& path);

/// A value as YAML in one line.
std::string yaml_text(const ConfigValue& value);

}  // namespace ako
