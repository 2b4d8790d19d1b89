// Files that are written as a whole: who reads them sees the old text or the new one. Any thread.
#pragma once

#include <string>

namespace ako {

/// Replaces `path` by `text`, at once. Throws StartupError.
void write_whole_file(const std::string& path, const std::string& text);

}  // namespace ako
