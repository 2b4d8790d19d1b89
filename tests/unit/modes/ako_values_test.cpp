// Values that a peer of the mode `ako` takes and those that it refuses: its own and what came.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "src/rows/coded_blocks.h"
#include "tests/unit/modes/ako_compute_bench.h"

namespace ako::ako_values_test {

using namespace ako::compute_bench;

TEST_CASE("of a gradient that is not finite nothing is published") {
    Bench bench(2);
    bench.come(1);
    REQUIRE(bench.round().has_value());
    bench.outbox.take();
    const std::vector<float> before(bench.peer->replica().begin(), bench.peer->replica().end());
    const Result<void> ended = bench.round(std::numeric_limits<float>::infinity());
    REQUIRE(!ended.has_value());
    CHECK(ended.error().kind == Error::Kind::numbers);
    CHECK(ended.error().what.find("round 2") != std::string::npos);
    CHECK(bench.peer->round() == 1);
    CHECK(!bench.outbox.take().snapshot);
    CHECK(std::equal(before.begin(), before.end(), bench.peer->replica().begin()));
}

TEST_CASE("a coded payload is taken as what it decodes to, and one that is no payload is refused") {
    Bench bench(2);
    bench.come(1);
    bench.round();
    const std::vector<float> values{0.5F, -1, 1.5F, 2};
    std::vector<std::byte> coded;
    encode_block(values, coded);
    end_blocks(coded);
    const auto send = [&](Round round) {
        Partial partial{1, {1, round}, {0, 1}, bench.now, false, {}};
        partial.coded = true;
        partial.checksums = {crc32c(std::span<const float>(values))};
        PooledBuffer payload = std::move(*bench.pool.take(coded.size()));
        std::ranges::copy(coded, payload.bytes().begin());
        bench.mailbox.push({1, partial, std::move(payload), bench.now});
        bench.begin();
    };
    send(1);
    CHECK(std::ranges::equal(bench.peer->rows().ledger().block(1, 0), values));
    CHECK(bench.outbox.take().damaged == 0);
    coded[0] = std::byte{2};  // of two bytes each, which do not lie there
    send(2);
    CHECK(bench.peer->rows().ledger().version(1, 0) == Version{1, 1});
    CHECK(bench.outbox.take().damaged == peer_bit(1));
    CHECK(bench.peer->arrivals().blocks_refused() == 1);
}

TEST_CASE("of an update that is not finite, or leads beyond a row, nothing is published") {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), 2 * row_magnitude_max}) {
        Bench bench(2);
        bench.come(1);
        REQUIRE(bench.round().has_value());
        bench.outbox.take();
        bench.begin();
        std::vector<float> update(element_count, 0.5F);
        update.back() = bad;
        const Result<void> ended = bench.peer->end_round(Update{update}, {1, 0.5F}, bench.now);
        REQUIRE(!ended.has_value());
        CHECK(ended.error().kind == Error::Kind::numbers);
        CHECK(ended.error().what.find("round 2") != std::string::npos);
        CHECK(bench.peer->round() == 1);
        CHECK(!bench.outbox.take().snapshot);
    }
}

}  // namespace ako::ako_values_test
