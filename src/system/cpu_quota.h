// The processor time that the control group of this process may have, as the kernel says it. Linux.
// Any thread.
#pragma once

#include <string>
#include <vector>

namespace ako {

struct CpuQuota {
    double cores = 0;     ///< 0: no limit
    double period_s = 0;  ///< after which the time that was spent is there again

    bool operator==(const CpuQuota&) const = default;
};

/// Of this process: the least of its group and of those around it.
CpuQuota cpu_quota();

/// The same below these folders of groups, of which each may have cpu.max (v2), or
/// cpu.cfs_quota_us and cpu.cfs_period_us (v1).
CpuQuota cpu_quota_of(const std::vector<std::string>& folders);

}  // namespace ako
