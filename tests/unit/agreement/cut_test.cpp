// A cut's version map there and back, and the blocks kept beside the ledger.
#include "src/agreement/cut.h"

#include <doctest/doctest.h>

#include <random>

namespace ako::cut_test {

TEST_CASE("the runs of a row give the same versions again") {
    std::mt19937_64 random(4);
    const BlockIndex block_count = 200;
    for (int repeat = 0; repeat < 50; ++repeat) {
        CutMap map(1, block_count);
        std::vector<VersionRun> runs;
        std::vector<Version> versions;
        while (versions.size() < block_count) {
            const auto count = static_cast<BlockIndex>(
                std::min<std::size_t>(1 + random() % 40, block_count - versions.size()));
            const Version version{static_cast<std::uint32_t>(random() % 2), random() % 3};
            runs.push_back({count, version});
            versions.insert(versions.end(), count, version);
        }
        REQUIRE(map.set_row(0, runs));
        for (BlockIndex block = 0; block < block_count; ++block) {
            REQUIRE(map.version(0, block) == versions[block]);
        }
        // Written again, neighbours of one version are one run.
        const std::vector<VersionRun> written = map.runs(0);
        for (std::size_t k = 1; k < written.size(); ++k) {
            REQUIRE(written[k].version != written[k - 1].version);
        }
        CutMap again(1, block_count);
        REQUIRE(again.set_row(0, written));
        CHECK(again.runs(0) == written);
        for (BlockIndex block = 0; block < block_count; ++block) {
            REQUIRE(again.version(0, block) == versions[block]);
        }
    }
}

TEST_CASE("a row that does not cover the vector exactly is refused and changes nothing") {
    CutMap map(2, 5);
    REQUIRE(map.set_row(0, {{5, {1, 3}}}));
    CHECK(!map.set_row(0, {{4, {1, 9}}}));
    CHECK(!map.set_row(0, {{4, {1, 9}}, {2, {1, 9}}}));
    CHECK(!map.set_row(0, {}));
    CHECK(map.version(0, 4) == Version{1, 3});
    CHECK(!map.complete());
    REQUIRE(map.set_row(1, {{2, {1, 1}}, {3, {}}}));
    CHECK(map.complete());
}

TEST_CASE("the cut of a ledger is what it holds") {
    const Blocks blocks(10, 4);
    Snapshot own;
    own.values.assign(10, 1);
    own.checksums.assign(3, 0);
    own.version = {1, 12};
    Ledger ledger(1, 2, blocks);
    ledger.set_own(own);
    ledger.replace(0, 2, {1, 5}, std::vector<float>{1, 2}, 0);
    const CutMap map = CutMap::of(ledger);
    CHECK(map.complete());
    CHECK(map.runs(0) == std::vector<VersionRun>{{2, {}}, {1, {1, 5}}});
    CHECK(map.runs(1) == std::vector<VersionRun>{{3, {1, 12}}});
}

TEST_CASE(
    "beside the ledger a block is found by its exact version, whatever else is kept of its place") {
    CutStore store;
    const std::vector<float> values{1, 2, 3};
    store.put(1, 7, {1, 4}, values, 42);
    REQUIRE(store.find(1, 7, {1, 4}) != nullptr);
    CHECK(store.find(1, 7, {1, 4})->values == values);
    CHECK(store.find(1, 7, {1, 4})->checksum == 42);
    CHECK(store.find(1, 7, {1, 5}) == nullptr);
    CHECK(store.find(1, 6, {1, 4}) == nullptr);
    CHECK(store.find(7, 1, {1, 4}) == nullptr);
    store.put(1, 7, {1, 3}, values, 43);
    CHECK(store.find(1, 7, {1, 4})->checksum == 42);
    CHECK(store.find(1, 7, {1, 3})->checksum == 43);
    store.clear();
    CHECK(store.find(1, 7, {1, 3}) == nullptr);
}

}  // namespace ako::cut_test
