// Which chunk a link sends next.
#include "src/modes/chunk_queue.h"

#include <doctest/doctest.h>

#include <vector>

using namespace ako;

namespace {

QueuedChunk chunk(std::uint64_t exchange, std::uint64_t first, std::size_t count,
                  const float* values) {
    Chunk header;
    header.exchange = exchange;
    header.first = first;
    return {header, count, values};
}

}  // namespace

TEST_CASE("the older exchange goes first, and in it what lies nearest to the input") {
    const std::vector<float> memory(4000);
    ChunkQueue queue;
    queue.push(chunk(2, 0, 10, memory.data()));
    queue.push(chunk(1, 900, 10, memory.data()));
    queue.push(chunk(1, 100, 10, memory.data()));
    CHECK(queue.pop(1000)->header.first == 100);
    CHECK(queue.pop(1000)->header.first == 900);
    CHECK(queue.pop(1000)->header.exchange == 2);
    CHECK(!queue.pop(1000));
    CHECK(queue.empty());
}

TEST_CASE("a long chunk is cut, and a nearer one overtakes its rest") {
    const std::vector<float> memory(4000);
    ChunkQueue queue;
    queue.push(chunk(1, 1000, 1000, memory.data()));
    const auto head = queue.pop(400);
    REQUIRE(head);
    CHECK(head->count == 400);
    queue.push(chunk(1, 0, 300, memory.data()));
    CHECK(queue.pop(400)->header.first == 0);
    const auto rest = queue.pop(10'000);
    REQUIRE(rest);
    CHECK(rest->header.first == 1400);
    CHECK(rest->count == 600);
    CHECK(rest->values == memory.data() + 400);
}

TEST_CASE("a frame is never mostly header, and nothing is never queued") {
    const std::vector<float> memory(4000);
    ChunkQueue queue;
    queue.push(chunk(1, 0, 0, memory.data()));
    CHECK(queue.empty());
    queue.push(chunk(1, 0, 1000, memory.data()));
    CHECK(queue.pop(1)->count == 256);
}
