// Lending within the limit, and reuse.
#include "src/numbers/buffer_pool.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <thread>

using namespace ako;

TEST_CASE("lends up to the total and no more") {
    BufferPool pool(1000);
    auto first = pool.take(600);
    REQUIRE(first);
    CHECK(first->bytes().size() == 600);
    CHECK(first->floats().size() == 150);
    CHECK(reinterpret_cast<std::uintptr_t>(first->bytes().data()) % 64 == 0);
    CHECK(!pool.take(401));
    {
        const auto second = pool.take(400);
        REQUIRE(second);
        CHECK(pool.bytes_lent() == 1000);
        CHECK(!pool.take(1));
    }
    CHECK(pool.bytes_lent() == 600);
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

TEST_CASE("idle buffers give way to another size, within the total") {
    BufferPool pool(1000);
    { const auto idle = pool.take(800); }
    auto other = pool.take(900);
    REQUIRE(other);
    CHECK(other->bytes().size() == 900);
    CHECK(pool.bytes_lent() == 900);
    std::memset(other->bytes().data(), 7, 900);
}

TEST_CASE("a loan goes back once, whoever it was moved to") {
    BufferPool pool(1000);
    {
        PooledBuffer a = std::move(*pool.take(100));
        PooledBuffer b = std::move(a);
        PooledBuffer c;
        c = std::move(b);
        CHECK(pool.bytes_lent() == 100);
        CHECK(c.bytes().size() == 100);
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
