#include "src/compare/provenance.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <thread>

#include "src/system/child_process.h"

namespace ako {

namespace {

constexpr double version_seconds_max = 20;

/// What follows the mark in the first line of a file that begins with `key`.
std::string value_in(const std::string& file, const std::string& key, char mark) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(key)) continue;
        std::string value = line.substr(line.find(mark) + 1);
        value.erase(0, value.find_first_not_of(" \t\""));
        value.erase(value.find_last_not_of(" \t\"") + 1);
        return value;
    }
    return "unknown";
}

std::string first_line(const CommandOutput& output) {
    return output.exit == 0 ? output.text.substr(0, output.text.find('\n')) : "";
}

std::string kernel() {
    utsname names{};
    uname(&names);
    return fmt::format("{} {}, {}", names.sysname, names.release, names.machine);
}

std::string memory() {
    const double bytes =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    return fmt::format("{:.1f} GiB", bytes / (1024.0 * 1024 * 1024));
}

}  // namespace

std::string this_machine() {
    return fmt::format("{}, {} cores, {}, {}", value_in("/proc/cpuinfo", "model name", ':'),
                       std::thread::hardware_concurrency(), memory(), kernel());
}

std::vector<ProvenanceLine> provenance(const std::string& commit) {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    return {{"system", value_in("/etc/os-release", "PRETTY_NAME", '=')},
            {"ako", AKO_VERSION},
            {"commit", commit},
            {"compiler", "g++ " __VERSION__},
            {"plots by", first_line(run_command({"gnuplot", "--version"}, version_seconds_max))},
            {"report written", fmt::format("{:%Y-%m-%d %H:%M:%S %Z}", fmt::localtime(now))}};
}

}  // namespace ako
