// The command line: words to calls of the commands.
#pragma once

namespace ako {

/// Runs what the words ask for and returns the exit status. Throws StartupError.
int run_command_line(int count, char** words);

}  // namespace ako
