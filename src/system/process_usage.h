// What this process has used of the machine, as the kernel counts it, since it began. What a kernel
// does not tell stays 0. Linux. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ako {

/// For how long one thread or several ran, and for how long they could have run and had no
/// processor, since other programs had it or the group's quota was spent.
struct ThreadSeconds {
    double running = 0;
    double runnable = 0;
};

struct ProcessUsage {
    double cpu_seconds = 0;           ///< of all threads, in user and in system mode
    std::uint64_t memory_bytes = 0;   ///< resident
    std::uint64_t memory_limit = 0;   ///< of its control group; 0: none
    std::uint64_t major_faults = 0;   ///< pages that had to be read from a disk
    ThreadSeconds this_thread;        ///< who asks
    ThreadSeconds other_threads;      ///< all the others together
    double throttled_seconds = 0;     ///< for so long its control group's quota was spent
};

ProcessUsage process_usage();

/// The first of these alone, one call of the system.
double process_cpu_seconds();

/// The files of control groups, v2 or v1, that tell of the process whose /proc/PID/cgroup reads
/// `groups`; of each the first that is there. With v1 a container is told the path of its group on
/// the machine, and sees that group itself where the machine has all of them: that comes second.
/// Empty: none is named there.
struct GroupFiles {
    std::vector<std::string> cpu_stat;
    std::vector<std::string> memory_limit;
};
GroupFiles group_files(const std::string& groups);

}  // namespace ako
