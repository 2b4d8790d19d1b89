// Pooled memory for payloads that are on their way between the two threads. Any thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ako/threads.h"

namespace ako {

class BufferPool;

/// A buffer on loan, 64-byte aligned; goes back when it dies. Move-only. The pool outlives it.
class PooledBuffer {
  public:
    PooledBuffer() = default;
    PooledBuffer(PooledBuffer&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)),
          memory_(std::exchange(other.memory_, nullptr)),
          bytes_(other.bytes_) {}
    PooledBuffer& operator=(PooledBuffer&& other) noexcept {
        std::swap(pool_, other.pool_);
        std::swap(memory_, other.memory_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~PooledBuffer();

    std::span<std::byte> bytes() const { return {memory_, bytes_}; }
    /// The elements of a payload, as ako/payload.h has them.
    std::span<float> floats() const {
        return {reinterpret_cast<float*>(memory_), bytes_ / sizeof(float)};
    }

  private:
    friend class BufferPool;
    PooledBuffer(BufferPool* pool, std::byte* memory, std::size_t bytes)
        : pool_(pool), memory_(memory), bytes_(bytes) {}

    BufferPool* pool_ = nullptr;
    std::byte* memory_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Lends buffers up to a total; never more. Idle buffers are kept for the next of the same size,
/// within the same total.
class BufferPool {
  public:
    explicit BufferPool(std::size_t bytes_max) : bytes_max_(bytes_max) {}
    ~BufferPool();
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;

    /// Nothing if the total would be passed. One buffer of any size is lent while nothing else is.
    std::optional<PooledBuffer> take(std::size_t bytes);

    std::size_t bytes_lent() const;

  private:
    friend class PooledBuffer;
    void give_back(std::byte* memory, std::size_t capacity);
    void drop_idle() AKO_REQUIRES(mutex_);

    mutable Mutex mutex_;
    const std::size_t bytes_max_;
    std::size_t lent_ AKO_GUARDED_BY(mutex_) = 0;
    std::size_t idle_ AKO_GUARDED_BY(mutex_) = 0;
    std::map<std::size_t, std::vector<std::byte*>> free_ AKO_GUARDED_BY(mutex_);  // by size
};

}  // namespace ako
