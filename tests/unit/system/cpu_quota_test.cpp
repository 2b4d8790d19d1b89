// The quota of a control group, as the kernel's files have it.
#include "src/system/cpu_quota.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.h"

namespace ako::cpu_quota_test {

namespace {

void write(const std::string& folder, const std::string& name, const std::string& text) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/" + name) << text << "\n";
}

}  // namespace

TEST_CASE("the least quota of a group and those around it") {
    const test::TemporaryFolder top;
    const std::string outer = top.file("outer"), inner = top.file("outer/inner");
    write(outer, "cpu.max", "50000 100000");
    write(inner, "cpu.max", "max 100000");
    CHECK(cpu_quota_of({inner, outer}) == CpuQuota{0.5, 0.1});
    write(inner, "cpu.max", "2000 10000");
    CHECK(cpu_quota_of({inner, outer}) == CpuQuota{0.2, 0.01});
}

TEST_CASE("version 1 of control groups has two files") {
    const test::TemporaryFolder top;
    write(top.path(), "cpu.cfs_quota_us", "2500");
    write(top.path(), "cpu.cfs_period_us", "10000");
    CHECK(cpu_quota_of({top.path()}) == CpuQuota{0.25, 0.01});
    write(top.path(), "cpu.cfs_quota_us", "-1");
    CHECK(cpu_quota_of({top.path()}) == CpuQuota{});
}

TEST_CASE("without such files there is no quota") {
    CHECK(cpu_quota_of({"/nowhere"}) == CpuQuota{});
}

}  // namespace ako::cpu_quota_test
