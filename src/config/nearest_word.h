// Which word was meant: for keys, for words of few choices, and for commands. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ako {

/// Insertions, deletions, replacements and swaps of neighbours that make one text the other
/// (the distance of Damerau and Levenshtein, of optimal alignments).
std::size_t edit_distance(std::string_view from, std::string_view to);

/// The one of `words` that `text` was most likely to be, or "" if it is like none of them: a slip
/// of the pen in every three letters, other capitals, or the beginning or the end of a word.
std::string nearest_word(const std::string& text, const std::vector<std::string>& words);

/// "did you mean ring?", or "".
std::string did_you_mean(const std::string& text, const std::vector<std::string>& words);

}  // namespace ako
