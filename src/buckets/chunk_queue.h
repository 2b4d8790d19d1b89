// The queue of one link in a mode that exchanges buckets, and the line that decides what is sent
// next there: the oldest sync first, and within it the bucket that lies nearest to the input,
// because the next forward pass needs that first (Jayarajan et al., "Priority-based Parameter
// Propagation for Distributed DNN Training", 2019). Within a bucket what came first: what has gone
// far round a ring must not wait for what begins. Network thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>

#include "ako/frame.h"

namespace ako {

/// Elements that wait to be sent: the header of the first, how many, and where they lie.
struct QueuedChunk {
    Chunk header;
    std::size_t bucket = 0;
    std::size_t count = 0;
    const float* values = nullptr;
};

class ChunkQueue {
  public:
    void push(const QueuedChunk& chunk) {
        if (chunk.count > 0) chunks_[{chunk.header.sync, chunk.bucket, next_++}] = chunk;
    }

    /// What is sent next, at most so many elements of it; nothing if nothing waits.
    std::optional<QueuedChunk> pop(std::size_t count_max) {
        if (chunks_.empty()) return std::nullopt;
        const auto first = chunks_.begin();
        QueuedChunk chunk = first->second;
        const std::size_t count = std::min(chunk.count, std::max(count_max, count_min));
        if (count == chunk.count) {
            chunks_.erase(first);
        } else {  // the rest keeps its place
            first->second.header.first += count;
            first->second.count -= count;
            first->second.values += count;
        }
        chunk.count = count;
        return chunk;
    }

    bool empty() const { return chunks_.empty(); }
    void clear() { chunks_.clear(); }

  private:
    /// A frame of less is mostly header.
    static constexpr std::size_t count_min = 256;

    using Place = std::tuple<std::uint64_t, std::size_t, std::uint64_t>;
    std::map<Place, QueuedChunk> chunks_;  ///< by sync, bucket and order of arrival
    std::uint64_t next_ = 0;
};

}  // namespace ako
