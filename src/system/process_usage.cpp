// See process_usage.h. Sources: proc_pid_schedstat and cgroups(7) in the kernel's documentation.
#include "src/system/process_usage.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "src/system/whole_file.h"

namespace ako {
namespace {

constexpr double nanosecond = 1e-9;
constexpr double microsecond = 1e-6;
/// A limit of v1 that is none is about the largest number that there is.
constexpr std::uint64_t limit_max = std::numeric_limits<std::uint64_t>::max() / 4;

std::uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t size = 0, resident = 0;
    file >> size >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

rusage counted_usage() {
    rusage counted{};
    getrusage(RUSAGE_SELF, &counted);
    return counted;
}

double cpu_seconds_of(const rusage& counted) {
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * microsecond;
    };
    return seconds(counted.ru_utime) + seconds(counted.ru_stime);
}

ThreadSeconds thread_seconds(const std::string& folder) {
    std::ifstream file(folder + "/schedstat");
    double running = 0, runnable = 0;
    file >> running >> runnable;
    return {running * nanosecond, runnable * nanosecond};
}

/// A thread that has ended is not in it any more.
ThreadSeconds all_threads() {
    ThreadSeconds sum;
    std::error_code error;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
        const ThreadSeconds one = thread_seconds(thread.path().string());
        sum.running += one.running;
        sum.runnable += one.runnable;
    }
    return sum;
}

/// v2 has throttled_usec, v1 throttled_time in ns.
double throttled_seconds(const std::string& path) {
    std::ifstream file(path);
    std::string word;
    double number = 0;
    while (file >> word >> number) {
        if (word == "throttled_usec") return number * microsecond;
        if (word == "throttled_time") return number * nanosecond;
    }
    return 0;
}

std::string first_there(const std::vector<std::string>& paths) {
    std::error_code error;
    for (const std::string& path : paths)
        if (std::filesystem::exists(path, error)) return path;
    return "";
}

std::uint64_t limit_in(const std::string& path) {
    std::ifstream file(path);
    std::uint64_t limit = 0;
    file >> limit;  // not of "max", which is none
    return limit < limit_max ? limit : 0;
}

}  // namespace

GroupFiles group_files(const std::string& groups) {
    GroupFiles files;
    std::istringstream lines(groups);
    for (std::string line; std::getline(lines, line);) {  // 4:cpu,cpuacct:/path, and v2: 0::/path
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string kinds = line.substr(first + 1, second - first - 1);
        const std::string path = line.substr(second + 1);
        const std::string listed = "," + kinds + ",";
        const auto both = [&path](const std::string& root, const std::string& name) {
            return std::vector{fmt::format("{}{}/{}", root, path, name),
                               fmt::format("{}/{}", root, name)};
        };
        if (kinds.empty() && files.cpu_stat.empty()) {
            files.cpu_stat = both("/sys/fs/cgroup", "cpu.stat");
            files.memory_limit = both("/sys/fs/cgroup", "memory.max");
        }
        if (listed.find(",cpu,") != std::string::npos)
            files.cpu_stat = both("/sys/fs/cgroup/" + kinds, "cpu.stat");
        if (listed.find(",memory,") != std::string::npos)
            files.memory_limit = both("/sys/fs/cgroup/" + kinds, "memory.limit_in_bytes");
    }
    return files;
}

double process_cpu_seconds() { return cpu_seconds_of(counted_usage()); }

ProcessUsage process_usage() {
    static const GroupFiles files = group_files(whole_text("/proc/self/cgroup"));
    static const std::string cpu_stat = first_there(files.cpu_stat);
    static const std::string memory_limit = first_there(files.memory_limit);
    ProcessUsage usage;
    const rusage counted = counted_usage();
    usage.cpu_seconds = cpu_seconds_of(counted);
    usage.major_faults = static_cast<std::uint64_t>(counted.ru_majflt);
    usage.memory_bytes = resident_bytes();
    usage.memory_limit = limit_in(memory_limit);
    usage.this_thread = thread_seconds("/proc/thread-self");
    const ThreadSeconds all = all_threads();
    usage.other_threads = {all.running - usage.this_thread.running,
                           all.runnable - usage.this_thread.runnable};
    usage.throttled_seconds = throttled_seconds(cpu_stat);
    return usage;
}

}  // namespace ako
