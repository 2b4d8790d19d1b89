// Three peers with rounds of 0.1 ms made 520 of them where the budget was 313: what each had made
// travelled every 50 ms, and the budget was spent before the first word of it came. Since then a
// peer says at once what others do not know of if that may spend half of what is left, and the
// outcome says what was made beyond the budget.
#include <doctest/doctest.h>

#include <cstdint>

#include "tests/unit/modes/ako_compute_bench.h"

namespace ako::budget_between_news_test {

namespace {

constexpr std::uint64_t budget = 1000;
constexpr std::size_t peers = 3;

/// Rounds of one sample each until `known` of all are known here; the others are told nothing but
/// what goes out at once. Gives how often that was.
std::size_t run_until(compute_bench::Bench& bench, std::uint64_t others, std::uint64_t& made,
                      std::uint64_t known) {
    std::size_t words = 0;
    std::uint64_t told = made;
    while (made + others < known) {
        const std::uint64_t left = budget - made - others;
        // If all keep as much to themselves, half of what is left stays unspent.
        REQUIRE((made - told) * 2 * peers <= left + 2 * peers);
        REQUIRE(bench.round());
        ++made;
        if (!bench.mailbox.take_posted().urgent) continue;
        told = made;
        ++words;
    }
    return words;
}

}  // namespace

TEST_CASE("issue: what may spend the budget is said at once, and hardly anything else is") {
    compute_bench::Bench bench(peers);
    bench.settings.sample_budget = budget;
    bench.come(1);
    bench.come(2);
    REQUIRE(bench.begin());
    bench.mailbox.take_posted();
    std::uint64_t made = 0;
    CHECK(run_until(bench, 0, made, 500) < 10);
    // The others have made most of the rest: every round counts.
    Status status;
    status.standing.progress = {{0, 0}, {490, 490}, {0, 0}};
    status.rows.resize(peers);
    bench.mailbox.push({1, status, {}, bench.now});
    const std::uint64_t before = made;
    const std::size_t words = run_until(bench, 490, made, budget);
    CHECK(words == made - before);
    const auto next = bench.begin();
    REQUIRE(next);
    CHECK(next->kind == Next::Kind::finish);
}

}  // namespace ako::budget_between_news_test
