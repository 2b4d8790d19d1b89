// See cpu_quota.h.
#include "src/system/cpu_quota.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "src/system/process_usage.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

constexpr double us_per_s = 1e6;

/// The first words of these files, as one text; empty if one is not there.
std::optional<CpuQuota> quota_in(const std::string& text) {
    std::istringstream words(text);
    double quota = 0, period = 0;
    if (!(words >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
    return CpuQuota{quota / period, period / us_per_s};
}

std::string content(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

CpuQuota cpu_quota_of(const std::vector<std::string>& folders) {
    CpuQuota least;
    for (const fs::path folder : folders) {
        for (const std::string& text :
             {content(folder / "cpu.max"),
              content(folder / "cpu.cfs_quota_us") + content(folder / "cpu.cfs_period_us")}) {
            const auto found = quota_in(text);  // "max 100000" and "-1" are no limit
            if (found && (least.cores == 0 || found->cores < least.cores)) least = *found;
        }
    }
    return least;
}

CpuQuota cpu_quota() {
    std::vector<std::string> folders;
    for (fs::path file : group_files(content("/proc/self/cgroup")).cpu_stat)
        for (fs::path folder = file.parent_path(); folder.has_relative_path();
             folder = folder.parent_path())
            folders.push_back(folder.string());
    return cpu_quota_of(folders);
}

}  // namespace ako
