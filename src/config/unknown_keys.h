// Unknown keys: refused, with the known key that is nearest to what was written.
#pragma once

#include <string>
#include <vector>

#include "src/config/config_value.h"

namespace ako {

/// Refuses the first key of `tree` that is not in known_keys(), and a value where keys belong.
void refuse_unknown_keys(const ConfigValue& tree);

/// Does a plan of `ako compare` have this key, and no cluster file?
bool is_key_of_plan(const std::string& key);

/// What the key that was once called `path` is called now, or "".
std::string renamed_key(const std::string& path);

/// The one of `keys` that is most like `path`, or "" if none is near.
std::string nearest_key(const std::string& path, const std::vector<std::string>& keys);
/// The known key most like `path`, or "" if none is near.
std::string nearest_key(const std::string& path);

}  // namespace ako
