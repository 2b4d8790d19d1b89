// Completion of the command line by a shell, and which word was meant where one was misspelt: both
// from the table of commands and options that reads the line. Pure functions.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ako {

/// A script for bash that completes commands, options and the keys of `--set`.
std::string bash_completion(const CLI::App& app);

/// Refuses a first word that is no command and no option, with the command that is nearest.
void check_command_word(const CLI::App& app, const std::string& word);

/// "did you mean --plain?" for the first option among `words` that the command does not have; "".
std::string option_meant(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace ako
