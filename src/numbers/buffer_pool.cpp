// Lending is by exact size: partials come in few sizes, so nearly every loan is a reuse.
#include "src/numbers/buffer_pool.h"

#include <new>

#include "ako/assert.h"

namespace ako {
namespace {

constexpr std::align_val_t alignment{64};  // a cache line, and what vector loads like best

}  // namespace

PooledBuffer::~PooledBuffer() {
    if (memory_ != nullptr) pool_->give_back(memory_, bytes_);
}

BufferPool::~BufferPool() {
    const MutexLock lock(mutex_);
    AKO_ASSERT(lent_ == 0, std::to_string(lent_) + " bytes of a pool outlive it");
    drop_idle();
}

std::optional<PooledBuffer> BufferPool::take(std::size_t bytes) {
    const MutexLock lock(mutex_);
    if (lent_ > 0 && lent_ + bytes > bytes_max_) return std::nullopt;
    std::vector<std::byte*>& same_size = free_[bytes];
    std::byte* memory = nullptr;
    if (!same_size.empty()) {
        memory = same_size.back();
        same_size.pop_back();
        idle_ -= bytes;
    } else {
        if (lent_ + idle_ + bytes > bytes_max_) drop_idle();
        memory = static_cast<std::byte*>(::operator new(bytes, alignment));
    }
    lent_ += bytes;
    return PooledBuffer(this, memory, bytes);
}

std::size_t BufferPool::bytes_lent() const {
    const MutexLock lock(mutex_);
    return lent_;
}

void BufferPool::give_back(std::byte* memory, std::size_t bytes) {
    const MutexLock lock(mutex_);
    free_[bytes].push_back(memory);
    lent_ -= bytes;
    idle_ += bytes;
}

void BufferPool::drop_idle() {
    for (const auto& [bytes, buffers] : free_) {
        for (std::byte* memory : buffers) ::operator delete(memory, alignment);
    }
    free_.clear();
    idle_ = 0;
}

}  // namespace ako
