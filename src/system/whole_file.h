// Files as a whole: who reads one that is being written sees the old text or the new one. Any
// thread.
#pragma once

#include <string>

namespace ako {

/// Replaces `path` by `text`, at once. Throws StartupError.
void write_whole_file(const std::string& path, const std::string& text);

/// All that is in it; empty if it cannot be read.
std::string whole_text(const std::string& path);

}  // namespace ako
