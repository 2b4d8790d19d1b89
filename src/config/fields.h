// The fields of the cluster file: one table from which it is read, written as resolved, and
// digested, so that the three cannot drift apart. A new key is one more line in fields.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/config/config_value.h"
#include "src/config/settings.h"

namespace ako {

/// Does a field belong to the training that all peers must share, or to one peer alone? `lockstep`:
/// shared in the modes in which all wait for each other and go on from one checkpoint. How a run
/// goes on from earlier checkpoints it may change, for nothing that was learned depends on it.
enum class Scope { shared, lockstep, own };

/// One key of the file.
struct Field {
    std::string path;  ///< "training.epochs"
    Scope scope;
    std::string expected;  ///< "a number above 0", for complaints and for the documentation
    /// Checks the value and puts it into the settings.
    std::function<void(const ConfigValue&, Settings&)> read;
    /// The value as YAML; a list of maps begins with a line break.
    std::function<std::string(const Settings&)> write;
    /// Has this field a meaning with the settings read before it? Empty: always.
    std::function<bool(const Settings&)> applies;
    std::string applies_with;  ///< for people: "model.name: synthetic"
};

/// All fields, in the order in which they are read and written; made once.
const std::vector<Field>& all_fields();

/// The value of the key of this path, as YAML.
std::string written_value(const Settings& settings, const std::string& path);

/// Every key that the reader knows, with "*" for the number of a list element.
const std::vector<std::string>& known_keys();

/// Does the field of this path know the keys below it, and refuse others, itself?
bool reads_keys_below(const std::string& path);

}  // namespace ako
