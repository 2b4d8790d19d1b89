// The bytes of one input of a fuzz target, taken one by one as choices; once they are spent, every
// choice is 0. One thread; the input outlives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ako::test {

class FuzzBytes {
  public:
    FuzzBytes(const std::uint8_t* data, std::size_t size) : left_(data, size) {}

    bool spent() const { return left_.empty(); }
    std::uint8_t byte() {
        if (left_.empty()) return 0;
        const std::uint8_t next = left_.front();
        left_ = left_.subspan(1);
        return next;
    }
    /// 0 .. limit - 1, of at most 256.
    std::size_t below(std::size_t limit) { return byte() % limit; }
    std::uint64_t word() {
        std::uint64_t value = 0;
        for (std::size_t k = 0; k < sizeof value; ++k) value = value << 8 | byte();
        return value;
    }

  private:
    std::span<const std::uint8_t> left_;
};

}  // namespace ako::test
