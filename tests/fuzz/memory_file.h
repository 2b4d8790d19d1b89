// A file in memory for what reads files by their path: a fuzz target writes its input there and has
// no disk to wait for. One thread.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "ako/assert.h"

namespace ako::test {

class MemoryFile {
  public:
    MemoryFile() : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
        AKO_ASSERT(descriptor_ >= 0, "no memory file");
    }
    ~MemoryFile() { close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    /// The path of the file, which now holds these bytes and no others.
    std::string holding(const std::uint8_t* data, std::size_t size) {
        const bool written = ftruncate(descriptor_, 0) == 0 &&
                             pwrite(descriptor_, data, size, 0) == static_cast<ssize_t>(size);
        AKO_ASSERT(written, "a memory file takes few bytes");
        return "/proc/self/fd/" + std::to_string(descriptor_);
    }

  private:
    const int descriptor_;
};

}  // namespace ako::test
