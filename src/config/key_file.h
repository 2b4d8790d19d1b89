// The file with the secret of the cluster. Any thread.
#pragma once

#include <cstddef>
#include <string>

namespace ako {

/// Less can be guessed: 16 bytes are 128 bits if they are random.
inline constexpr std::size_t key_bytes_min = 16;
/// More is not a key but some other file.
inline constexpr std::size_t key_bytes_max = 4096;

/// The secret in a key file: its bytes without the line ends and blanks at their end, which editors
/// add. Throws a StartupError with the remedy if there is no such file, if it is shorter or longer
/// than a key, or if users who are neither its owner nor in its group may do anything with it. (The
/// group may: that is how a service's user, or one in a container, is let read it.)
std::string read_key_file(const std::string& path);

}  // namespace ako
