// The bytes of a file, or of a member of an archive, from the beginning on and once. One thread at
// a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ako {

class ByteSource {
  public:
    virtual ~ByteSource() = default;

    /// How many there are in all, as the file system or the archive says.
    virtual std::uint64_t size() const = 0;
    /// Reads so many bytes, or those that are left. Throws StartupError: not readable, damaged.
    virtual std::size_t read(void* to, std::size_t bytes) = 0;
};

}  // namespace ako
