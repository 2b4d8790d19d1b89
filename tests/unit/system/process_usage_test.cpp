// What the kernel says of this process.
#include "src/system/process_usage.h"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace ako::process_usage_test {

namespace {

/// Until this thread has had a processor for so long; fails where a kernel does not count that.
void compute(double seconds) {
    const double until = process_usage().this_thread.running + seconds;
    const auto give_up_at = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (process_usage().this_thread.running < until &&
           std::chrono::steady_clock::now() < give_up_at) {
    }
    CHECK(process_usage().this_thread.running >= until);
}

}  // namespace

TEST_CASE("time of this thread and of the others, apart") {
    const ProcessUsage before = process_usage();
    CHECK(before.memory_bytes > 1'000'000);
    compute(0.05);
    const ProcessUsage after = process_usage();
    CHECK(after.this_thread.running >= before.this_thread.running + 0.05);
    CHECK(after.cpu_seconds > before.cpu_seconds);
    CHECK(process_cpu_seconds() >= after.cpu_seconds);

    std::mutex mutex;
    std::condition_variable changed;
    bool computed = false, ended = false;
    std::thread other([&] {
        compute(0.05);
        std::unique_lock lock(mutex);
        computed = true;
        changed.notify_all();
        changed.wait(lock, [&] { return ended; });
    });
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return computed; });
        const ProcessUsage both = process_usage();
        CHECK(both.other_threads.running >= after.other_threads.running + 0.05);
        ended = true;
    }
    changed.notify_all();
    other.join();
}

TEST_CASE("the files of a process's control groups") {
    const GroupFiles v2 = group_files("0::/user.slice/peer-1\n");
    using Paths = std::vector<std::string>;
    CHECK(v2.cpu_stat ==
          Paths{"/sys/fs/cgroup/user.slice/peer-1/cpu.stat", "/sys/fs/cgroup/cpu.stat"});
    CHECK(v2.memory_limit ==
          Paths{"/sys/fs/cgroup/user.slice/peer-1/memory.max", "/sys/fs/cgroup/memory.max"});

    const GroupFiles v1 = group_files("9:name=systemd:/\n4:memory:/small\n3:cpuset:/\n"
                                      "1:cpu,cpuacct:/quarter\n0::/\n");
    CHECK(v1.cpu_stat == Paths{"/sys/fs/cgroup/cpu,cpuacct/quarter/cpu.stat",
                               "/sys/fs/cgroup/cpu,cpuacct/cpu.stat"});
    CHECK(v1.memory_limit == Paths{"/sys/fs/cgroup/memory/small/memory.limit_in_bytes",
                                   "/sys/fs/cgroup/memory/memory.limit_in_bytes"});

    CHECK(group_files("").cpu_stat.empty());
    CHECK(group_files("none of this").memory_limit.empty());
}

}  // namespace ako::process_usage_test
