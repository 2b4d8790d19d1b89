// Variables of the environment in the paths of a cluster file or plan. Any thread, as long as no
// other changes the environment.
#pragma once

#include <string>

#include "src/config/config_value.h"

namespace ako {

/// The path that `value`, a scalar, says: `${NAME}` and `$NAME` are what the variable holds here,
/// `~/` at the beginning is the home folder, `$$` is a dollar. Refuses, for the key `key`, with the
/// place: a variable that is not set or empty, any other use of `$` and `~`, a result beyond what a
/// path may be.
std::string expand_variables(const ConfigValue& value, const std::string& key);

/// The path as expand_variables would read it back.
std::string keep_dollars(const std::string& path);

}  // namespace ako
