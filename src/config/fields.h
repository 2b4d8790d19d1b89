// The table of keys: all that is said of a key of the cluster file stands in its row, from which
// the file is read, written as resolved, digested, explained (`ako keys`) and shown. The rows are
// in the *_keys.cpp; how to add one says key_rows.h. Made once; any thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ako/mode_table.h"
#include "src/config/cluster_settings.h"
#include "src/config/config_value.h"

namespace ako {

/// Does a field belong to the training that all peers must share, or to one peer alone? `lockstep`:
/// shared in the modes in which all wait for each other and go on from one checkpoint. How a run
/// goes on from earlier checkpoints it may change, for nothing that was learned depends on it.
enum class Scope { shared, lockstep, own };

/// One row.
struct Field {
    std::string path;  ///< "training.epochs"
    Scope scope;
    std::string expected;  ///< "a number above 0", for complaints and for the documentation
    /// Checks the value and puts it into the settings.
    std::function<void(const ConfigValue&, Settings&)> read;
    /// The value as YAML; a list of maps begins with a line break.
    std::function<std::string(const Settings&)> write;
    /// Has this field a meaning with the settings read before it? Empty: always.
    std::function<bool(const Settings&)> applies = {};
    std::string applies_with = "";        ///< for people: "model.name: synthetic"
    std::string meaning = "";             ///< some words, or some sentences
    std::string standard = "";            ///< instead of the value of Settings{}: "required"
    std::string example = "";             ///< the value in the example; empty: the default
    std::vector<std::string> modes = {};  ///< words or names that heed it; empty: all do
    bool is_told = false;                 ///< it tells one run from another at a glance
    bool is_retired = false;              ///< still read and digested, and otherwise unknown

    // How a row is completed.
    Field means(std::string text, std::string default_text = "") &&;
    Field only_with(std::string text, std::function<bool(const Settings&)> holds) &&;
    Field of_modes(std::vector<std::string> names) &&;
    Field shown_as(std::string value) &&;
    Field told() &&;

    bool heeded_by(const ModeEntry& mode) const;
};

/// All rows, in the order in which they are read and written.
const std::vector<Field>& all_fields();
/// REQUIRES: there is one of this path.
const Field& field_at(const std::string& path);

/// The value of the key of this path, as YAML.
std::string written_value(const Settings& settings, const std::string& path);
/// Does the mode of these settings heed the key of this path?
bool heeds(const Settings& settings, const std::string& path);

/// Every key that the reader knows, with "*" for the number of a list element.
const std::vector<std::string>& known_keys();

/// Does the field of this path know the keys below it, and refuse others, itself?
bool reads_keys_below(const std::string& path);

inline bool is_synthetic(const Settings& settings) {
    return settings.model.kind == ModelKind::synthetic;
}

}  // namespace ako
