// An output file, as it is opened: where others may write into a folder too, a link that one of
// them placed there must not have a file of this user overwritten. Functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "ako/error.h"

namespace ako {

/// A file to write to, which is made if it is not there; `flags` are those of open(2) beside that,
/// such as O_TRUNC. A link is followed if this user or root made it, as /dev/full in a test; of
/// another user's the error says whose it is.
Result<int> open_output(const std::string& path, int flags);

/// Waits until all is written. 0, or the errno with which the text, all or the rest, was refused.
int write_all(int fd, std::string_view text);

}  // namespace ako
