// Where figures come from: the machine, the versions, the commit. Any thread.
#pragma once

#include <string>
#include <vector>

namespace ako {

struct ProvenanceLine {
    std::string what;
    std::string value;
};

/// "AMD EPYC 7B13, 2 cores, 7.8 GiB, Linux 5.10.0, x86_64": what a cell's times depend on.
std::string this_machine();

/// What wrote the report, maybe on another machine than the cells ran on: system, versions, commit,
/// the time now.
std::vector<ProvenanceLine> provenance(const std::string& commit);

}  // namespace ako
