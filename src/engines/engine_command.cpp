// See engine_command.h.
#include "src/engines/engine_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ako/error.h"
#include "src/system/child_process.h"

namespace ako {
namespace {

/// A controller that is busy, or an engine that pulls an image's list, answers within this.
constexpr double patience_s = 60;

std::string quoted_word(const std::string& word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') ||
               std::string_view("-_./:=,+@%").find(letter) != std::string_view::npos;
    });
    if (plain) return word;
    std::string text = "'";
    for (const char letter : word) text += letter == '\'' ? "'\\''" : std::string(1, letter);
    return text + "'";
}

}  // namespace

std::string engine_says(const std::vector<std::string>& words, const std::string& hint) {
    const CommandOutput output = run_command_apart(words, patience_s);
    if (output.exit == 0) return output.text;
    if (output.exit == ChildProcess::exit_not_found)
        throw StartupError(fmt::format("{} is not installed here", words.front()),
                           "submit where the engine's own commands are");
    const std::string command = fmt::format("`{}`", fmt::join(words, " "));
    const std::string said = trimmed(output.errors + output.text);
    if (output.exit < 0)
        throw NoAnswer(
            fmt::format("{} gave no answer within {:g} s: {}", command, patience_s, said), hint);
    throw StartupError(fmt::format("{} failed (exit {}): {}", command, output.exit, said), hint);
}

void refuse_options(const std::string& engine,
                    const std::vector<std::pair<std::string, bool>>& given) {
    for (const auto& [option, is_given] : given)
        if (is_given) throw StartupError(option + ": " + engine + " has no such thing");
}

std::string trimmed(const std::string& text) {
    const char* const blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

std::string quoted_words(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + quoted_word(word);
    return text;
}

}  // namespace ako
