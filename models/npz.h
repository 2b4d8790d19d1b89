// Reads .npz archives, as numpy.savez and numpy.savez_compressed write them: ZIP files (PKWARE's
// APPNOTE 6.3, sections 4.3 and 4.5.3) of .npy members, each stored or deflated.
//
// Nothing that an archive says is believed before it is checked against what is there: places
// against the file's size, sizes against what deflate can make of so many bytes, contents against
// the checksum. Functions and values; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/byte_source.h"

namespace ako {

/// An array of an archive.
struct NpzMember {
    std::string name;                ///< without ".npy"
    bool deflated = false;           ///< else as it is
    std::uint32_t checksum = 0;      ///< CRC-32 of what it holds
    std::uint64_t stored_bytes = 0;  ///< in the archive
    std::uint64_t bytes = 0;         ///< once inflated
    std::uint64_t header_at = 0;     ///< in the file
};

/// The arrays of an archive, in its order. Throws StartupError: not there, no archive, damaged,
/// encrypted, compressed otherwise.
std::vector<NpzMember> read_npz_directory(const std::string& path);

/// The member, from its beginning on. Its checksum is looked at where its last byte is read.
std::unique_ptr<ByteSource> open_npz_member(const std::string& path, const NpzMember& member);

}  // namespace ako
