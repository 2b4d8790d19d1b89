// See cpu_quota.h.
#include "src/system/cpu_quota.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

#include "src/system/process_usage.h"
#include "src/system/whole_file.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

constexpr double us_per_s = 1e6;

/// "200000 100000": quota and period, microseconds; nothing where there is no limit.
std::optional<CpuQuota> quota_in(const std::string& text) {
    std::istringstream words(text);
    double quota = 0, period = 0;
    if (!(words >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
    return CpuQuota{quota / period, period / us_per_s};
}

}  // namespace

CpuQuota cpu_quota_of(const std::vector<std::string>& folders) {
    CpuQuota least;
    for (const fs::path folder : folders) {
        for (const std::string& text :
             {whole_text(folder / "cpu.max"),
              whole_text(folder / "cpu.cfs_quota_us") + whole_text(folder / "cpu.cfs_period_us")}) {
            const auto found = quota_in(text);  // "max 100000" and "-1" are no limit
            if (found && (least.cores == 0 || found->cores < least.cores)) least = *found;
        }
    }
    return least;
}

CpuQuota cpu_quota() {
    std::vector<std::string> folders;
    for (fs::path file : group_files(whole_text("/proc/self/cgroup")).cpu_stat)
        for (fs::path folder = file.parent_path(); folder.has_relative_path();
             folder = folder.parent_path())
            folders.push_back(folder.string());
    return cpu_quota_of(folders);
}

}  // namespace ako
