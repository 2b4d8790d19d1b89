// SHA-256 for the proofs that replicas are identical and that peers train the same thing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ako/frame.h"

namespace ako {

/// A SHA-256 in the making. Any thread, one at a time.
class Sha256 {
  public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;

    void add(std::span<const std::byte> bytes);
    /// Little-endian IEEE 754, which is how the values lie in memory on every supported machine.
    void add(std::span<const float> values) { add(std::as_bytes(values)); }
    /// Ends it; nothing may be added after.
    Digest finish();

  private:
    struct Context;
    std::unique_ptr<Context> context_;
};

Digest sha256(std::span<const std::byte> bytes);
Digest sha256(const std::string& text);

/// Its first eight bytes, for an id that no two texts share.
std::uint64_t first_word(const Digest& digest);

/// 64 hexadecimal digits.
std::string hex(const Digest& digest);

}  // namespace ako
