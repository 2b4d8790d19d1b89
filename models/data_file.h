// Whole files of data, plain or compressed with gzip, read into memory within a limit. Functions;
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ako {

/// The most a file may hold once decompressed: 40 times MNIST, and a bound on what a damaged or
/// malicious file can make us allocate.
inline constexpr std::size_t data_file_bytes_max = std::size_t{2} << 30;

/// Reads a file, and decompresses it if it begins as gzip does. Throws StartupError that names the
/// path: not there, no file, not readable, damaged compression, more than `data_file_bytes_max`.
std::vector<std::uint8_t> read_data_file(const std::string& path);

/// The size of a file that is not compressed, by which its reading can be planned; nothing for one
/// that is, or for what is no file. Throws StartupError if a file cannot be opened.
std::optional<std::size_t> plain_file_bytes(const std::string& path);

/// The first bytes that read_data_file would return, fewer where there are no more. A damaged
/// file gives what can be had, and what is no file nothing: reading it says what is wrong.
std::vector<std::uint8_t> data_file_head(const std::string& path, std::size_t bytes_max);

/// Throws StartupError "path: what" with the advice to get the file again.
[[noreturn]] void damaged_data_file(const std::string& path, const std::string& what);

}  // namespace ako
