// An engine's own command, run to its end. Functions; one thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ako/error.h"

namespace ako {

/// An engine that gave no answer in time: whether it has done what it was asked is not known.
struct NoAnswer : StartupError {
    using StartupError::StartupError;
};

/// What it printed, without warnings. Throws a StartupError with all its words, and `hint`, if it
/// fails or is not installed, and NoAnswer if it takes longer than engines do.
std::string engine_says(const std::vector<std::string>& words, const std::string& hint);

/// Throws a StartupError that names the first that was given, for an engine that has no such thing.
void refuse_options(const std::string& engine,
                    const std::vector<std::pair<std::string, bool>>& given);

/// `text` without blanks and line ends around it.
std::string trimmed(const std::string& text);

/// The words as a line of a shell script, quoted where they need it.
std::string quoted_words(const std::vector<std::string>& words);

}  // namespace ako
