// Lending within the limit, and reuse.
#include "src/numbers/buffer_pool.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <thread>

namespace ako::buffer_pool_test {

TEST_CASE("lends up to the total and no more") {
    BufferPool pool(1024);
    auto first = pool.take(640);
    REQUIRE(first);
    CHECK(first->bytes().size() == 640);
    CHECK(first->floats().size() == 160);
    CHECK(reinterpret_cast<std::uintptr_t>(first->bytes().data()) % 64 == 0);
    CHECK(!pool.take(385));
    {
        const auto second = pool.take(384);
        REQUIRE(second);
        CHECK(pool.bytes_lent() == 1024);
        CHECK(!pool.take(1));
    }
    CHECK(pool.bytes_lent() == 640);
    first.reset();
    CHECK(pool.bytes_lent() == 0);
}

TEST_CASE("while nothing is lent, one buffer of any size is: else that frame could never come") {
    BufferPool pool(100);
    const auto large = pool.take(5000);
    REQUIRE(large);
    CHECK(!pool.take(1));
}

TEST_CASE("a buffer is reused for the next of its size") {
    BufferPool pool(1000);
    std::byte* memory = pool.take(512)->bytes().data();
    for (int k = 0; k < 10; ++k) CHECK(pool.take(512)->bytes().data() == memory);
}

TEST_CASE("memory comes in sizes an eighth apart, of which a buffer is as long as was asked") {
    BufferPool pool(10'000);
    std::byte* memory = pool.take(1100)->bytes().data();
    const auto again = pool.take(1150);
    REQUIRE(again);
    CHECK(again->bytes().data() == memory);
    CHECK(again->bytes().size() == 1150);
    CHECK(pool.bytes_lent() == 1152);
    const auto other = pool.take(1153);
    CHECK(pool.bytes_lent() == 1152 + 1280);
}

TEST_CASE("idle buffers give way to another size, within the total") {
    BufferPool pool(1000);
    { const auto idle = pool.take(800); }
    auto other = pool.take(960);
    REQUIRE(other);
    CHECK(other->bytes().size() == 960);
    CHECK(pool.bytes_lent() == 960);
    std::memset(other->bytes().data(), 7, 960);
}

TEST_CASE("a loan goes back once, whoever it was moved to") {
    BufferPool pool(1000);
    {
        PooledBuffer a = std::move(*pool.take(104));
        PooledBuffer b = std::move(a);
        PooledBuffer c;
        c = std::move(b);
        CHECK(pool.bytes_lent() == 104);
        CHECK(c.bytes().size() == 104);
    }
    CHECK(pool.bytes_lent() == 0);
}

TEST_CASE("loans go back from another thread") {
    BufferPool pool(1 << 20);
    for (int repeat = 0; repeat < 50; ++repeat) {
        std::vector<PooledBuffer> lent;
        for (std::size_t k = 1; k <= 40; ++k) lent.push_back(std::move(*pool.take(64 * k)));
        std::thread other([mine = std::move(lent)]() mutable { mine.clear(); });
        for (int k = 0; k < 100; ++k) {
            if (const auto buffer = pool.take(128)) buffer->bytes()[0] = std::byte{1};
        }
        other.join();
        REQUIRE(pool.bytes_lent() == 0);
    }
}

}  // namespace ako::buffer_pool_test
