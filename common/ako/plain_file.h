// What is at the path of a file that is to be read. A pipe would keep its reader waiting for a
// writer who never comes, and a device may have no end: so whoever opens a file that a user names
// asks here before. Any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "ako/error.h"

namespace ako {

/// What is there instead of a file, with its article. Returns nothing for a file, for a folder, and
/// where nothing can be found: the caller that opens it has more to say about these.
inline std::optional<std::string> what_is_no_file(const std::string& path) {
    using Type = std::filesystem::file_type;
    std::error_code error;
    switch (std::filesystem::status(path, error).type()) {
        case Type::fifo:
            return "a pipe";
        case Type::character:
        case Type::block:
            return "a device";
        case Type::socket:
            return "a socket";
        default:
            return std::nullopt;
    }
}

/// Throws a StartupError if there is a pipe, a device or a socket at the path.
inline void refuse_what_is_no_file(const std::string& path) {
    if (const auto found = what_is_no_file(path))
        throw StartupError(path + ": this is " + *found + ", not a file",
                           "write what it gives into a file first, and name that");
}

}  // namespace ako
