// The threads of learners: std::thread, so this is compiled for ThreadSanitizer too.
#include "src/training/learner_threads.h"

#include <doctest/doctest.h>

#include <atomic>
#include <numeric>
#include <vector>

namespace ako::learner_threads_test {

TEST_CASE("learner threads: every number once for each task, and what was written is seen") {
    for (const std::size_t count : {1U, 2U, 5U}) {
        LearnerThreads threads(count);
        CHECK(threads.count() == count);
        std::vector<int> calls(count), before(count);
        for (int task = 1; task <= 200; ++task) {
            threads.run([&](std::size_t number) {
                before[number] = std::accumulate(calls.begin(), calls.end(), 0);
            });
            for (const int seen : before) REQUIRE(seen == (task - 1) * static_cast<int>(count));
            threads.run([&](std::size_t number) { ++calls[number]; });
        }
        CHECK(calls == std::vector<int>(count, 200));
    }
}

TEST_CASE("learner threads: all are at their task at the same time") {
    constexpr std::size_t count = 3;
    LearnerThreads threads(count);
    std::atomic<std::size_t> there = 0;
    threads.run([&](std::size_t) {
        // Nobody goes on before all have come: one after another they would wait for ever.
        const std::size_t now = ++there;
        there.notify_all();
        for (std::size_t seen = now; seen < count; seen = there.load()) there.wait(seen);
    });
    CHECK(there == count);
}

TEST_CASE("learner threads: they end without ever having had a task") {
    for (int time = 0; time < 50; ++time) const LearnerThreads threads(4);
}

}  // namespace ako::learner_threads_test
