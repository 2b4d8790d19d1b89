// Text in lines that fit on a terminal. A pure function.
#pragma once

#include <string>

namespace ako {

/// `text` broken between words, each line behind `prefix` and ended; a word that is longer than a
/// line stands alone.
std::string wrapped(const std::string& text, const std::string& prefix);

}  // namespace ako
