// Which chunk a link sends next.
#include "src/buckets/chunk_queue.h"

#include <doctest/doctest.h>

#include <vector>

namespace ako::chunk_queue_test {

namespace {

QueuedChunk chunk(std::uint64_t sync, std::size_t bucket, std::uint64_t first, std::size_t count,
                  const float* values) {
    Chunk header;
    header.sync = sync;
    header.first = first;
    return {header, bucket, count, values};
}

}  // namespace

TEST_CASE("the older sync goes first, in it the nearer bucket, and there who came first") {
    const std::vector<float> memory(4000);
    ChunkQueue queue;
    queue.push(chunk(2, 0, 0, 10, memory.data()));
    queue.push(chunk(1, 1, 950, 10, memory.data()));
    queue.push(chunk(1, 1, 900, 10, memory.data()));
    queue.push(chunk(1, 0, 100, 10, memory.data()));
    CHECK(queue.pop(1000)->header.first == 100);
    CHECK(queue.pop(1000)->header.first == 950);
    CHECK(queue.pop(1000)->header.first == 900);
    CHECK(queue.pop(1000)->header.sync == 2);
    CHECK(!queue.pop(1000));
    CHECK(queue.empty());
}

TEST_CASE("a long chunk is cut, a nearer one overtakes its rest, and its rest keeps its place") {
    const std::vector<float> memory(4000);
    ChunkQueue queue;
    queue.push(chunk(1, 1, 1000, 1000, memory.data()));
    const auto head = queue.pop(400);
    REQUIRE(head);
    CHECK(head->count == 400);
    queue.push(chunk(1, 1, 900, 100, memory.data()));
    queue.push(chunk(1, 0, 0, 300, memory.data()));
    CHECK(queue.pop(400)->header.first == 0);
    const auto rest = queue.pop(10'000);
    REQUIRE(rest);
    CHECK(rest->header.first == 1400);
    CHECK(rest->count == 600);
    CHECK(rest->values == memory.data() + 400);
    CHECK(queue.pop(400)->header.first == 900);
}

TEST_CASE("a frame is never mostly header, and nothing is never queued") {
    const std::vector<float> memory(4000);
    ChunkQueue queue;
    queue.push(chunk(1, 0, 0, 0, memory.data()));
    CHECK(queue.empty());
    queue.push(chunk(1, 0, 0, 1000, memory.data()));
    CHECK(queue.pop(1)->count == 256);
}

}  // namespace ako::chunk_queue_test
