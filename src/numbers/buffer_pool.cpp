// Memory comes in few sizes, an eighth apart, so that nearly every loan is a reuse.
#include "src/numbers/buffer_pool.h"

#include <algorithm>
#include <bit>
#include <new>

#include "ako/assert.h"

namespace ako {
namespace {

constexpr std::align_val_t alignment{64};  // a cache line, and what vector loads like best

/// The memory that so many bytes are lent: at most an eighth more.
std::size_t capacity_of(std::size_t bytes) {
    const std::size_t step = std::max<std::size_t>(1, std::bit_floor(bytes) / 8);
    return (bytes + step - 1) / step * step;
}

}  // namespace

PooledBuffer::~PooledBuffer() {
    if (memory_ != nullptr) pool_->give_back(memory_, capacity_of(bytes_));
}

BufferPool::~BufferPool() {
    const MutexLock lock(mutex_);
    AKO_ASSERT(lent_ == 0, std::to_string(lent_) + " bytes of a pool outlive it");
    drop_idle();
}

std::optional<PooledBuffer> BufferPool::take(std::size_t bytes) {
    const MutexLock lock(mutex_);
    const std::size_t capacity = capacity_of(bytes);
    if (lent_ > 0 && lent_ + capacity > bytes_max_) return std::nullopt;
    std::vector<std::byte*>& same_size = free_[capacity];
    std::byte* memory = nullptr;
    if (!same_size.empty()) {
        memory = same_size.back();
        same_size.pop_back();
        idle_ -= capacity;
    } else {
        if (lent_ + idle_ + capacity > bytes_max_) drop_idle();
        memory = static_cast<std::byte*>(::operator new(capacity, alignment));
    }
    lent_ += capacity;
    return PooledBuffer(this, memory, bytes);
}

std::size_t BufferPool::bytes_lent() const {
    const MutexLock lock(mutex_);
    return lent_;
}

void BufferPool::give_back(std::byte* memory, std::size_t capacity) {
    const MutexLock lock(mutex_);
    free_[capacity].push_back(memory);
    lent_ -= capacity;
    idle_ += capacity;
}

void BufferPool::drop_idle() {
    for (const auto& [bytes, buffers] : free_) {
        for (std::byte* memory : buffers) ::operator delete(memory, alignment);
    }
    free_.clear();
    idle_ = 0;
}

}  // namespace ako
