// The part of a plan that says which modes are compared, in which variants. Any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/compare/contender.h"
#include "src/config/config_value.h"

namespace ako {

/// `modes: {ako: {exchange.rule: [anchored, plain]}, ring: {}, parameter-server: best}`: each value
/// of each key with each of the others. `mode: ako` beneath a name of one's own says which mode it
/// is. Throws StartupError.
std::vector<Contender> read_modes(const ConfigValue& value);

/// `alone: true`, or `{training.momentum: [0, 0.9]}` for variants of it: the contender of one
/// machine that trains by itself; with `false`, none. Left out (nullptr): as `true`, at `where`.
/// Throws StartupError.
std::optional<Contender> read_alone(const ConfigValue* value, const std::string& where);

/// Keys of the cluster file with one value each; groups may be nested or written with dots.
Variant read_assignments(const ConfigValue& value, const std::string& path);

/// A value as YAML in one line.
std::string yaml_text(const ConfigValue& value);

}  // namespace ako
