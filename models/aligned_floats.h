// Floats that begin where a cache line does: no vector that is read from there by whole vectors
// lies in two lines. A value.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace ako {

template <class Value>
struct CacheLineAllocator {
    using value_type = Value;
    static constexpr std::align_val_t alignment{64};

    CacheLineAllocator() = default;
    template <class Other>
    explicit CacheLineAllocator(const CacheLineAllocator<Other>& /*other*/) {}

    Value* allocate(std::size_t count) {
        return static_cast<Value*>(::operator new(count * sizeof(Value), alignment));
    }
    void deallocate(Value* memory, std::size_t /*count*/) { ::operator delete(memory, alignment); }

    bool operator==(const CacheLineAllocator&) const = default;
};

using AlignedFloats = std::vector<float, CacheLineAllocator<float>>;

}  // namespace ako
