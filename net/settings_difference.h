// Which settings of two peers differ, from the texts that their Hellos carry: lines of keys and
// values, indented by two spaces a level, of which the training digest is the SHA-256 (a stranger
// may have written one of them). Pure functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ako/frame.h"

namespace ako {

/// Is the text of this Hello what its training digest was made of? One that was changed on the way
/// is not, and is not believed.
bool settings_text_holds(const Hello& hello);

/// The keys, as "training.learning_rate", that have another value in one of these texts, or none.
std::vector<std::string> differing_settings(const std::string& ours, const std::string& theirs);

/// A Reject of the training digest that names the first keys that differ, and how many more do:
/// expected "training.learning_rate: 0.05; seed: 1; and 3 more", got the same keys with the
/// values of `theirs`. Nothing if the texts name the same.
std::optional<Reject> reject_for_settings(const std::string& ours, const std::string& theirs);

/// Such a Reject for people: "training.learning_rate: 0.05 here, 0.01 at b; seed: 1 here, 2 at b".
/// `other` is "at b". Nothing if it names no keys.
std::optional<std::string> settings_reject_text(const std::string& here, const std::string& there,
                                                const std::string& other);

}  // namespace ako
