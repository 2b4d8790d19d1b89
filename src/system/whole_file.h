// Files as a whole: who reads one that is being written sees the old text or the new one. Any
// thread.
#pragma once

#include <string>

namespace ako {

/// Replaces `path` by `text`, at once. Throws StartupError.
void write_whole_file(const std::string& path, const std::string& text);

/// The folder, and those above it, where they are not there. Throws StartupError that advises to
/// name another with `option`.
void make_folder_for(const std::string& folder, const std::string& option);

/// All that is in it; empty if it cannot be read.
std::string whole_text(const std::string& path);

}  // namespace ako
