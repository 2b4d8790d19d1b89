// Overrides: what `--set key=value` changes in the tree of a cluster file before it is read.
#pragma once

#include <string>
#include <vector>

#include "src/config/config_value.h"

namespace ako {

/// Puts every "key=value" of `overrides` into `tree`, later ones last. Keys are written with dots,
/// list elements by their number from 0 ("peers.0.address"); values are YAML. Whether the key is
/// known is checked when the tree is read: its place is then "--set key=value".
void apply_overrides(ConfigValue& tree, const std::vector<std::string>& overrides);

/// `model: lenet` is short for `model: {name: lenet}`, and `schedule: cosine` for
/// `schedule: {kind: cosine}`: writes both out.
void expand_shorthands(ConfigValue& tree);

}  // namespace ako
