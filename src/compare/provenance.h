// Where figures come from: the machine, the versions, the commit. Any thread.
#pragma once

#include <string>
#include <vector>

namespace ako {

struct ProvenanceLine {
    std::string what;
    std::string value;
};

/// The commit of the repository that the program lies in, with "+ changes" if files differ from it;
/// "unknown" without git.
std::string commit_of(const std::string& program);

/// Processor, cores, memory, kernel, system, versions, commit, the time now.
std::vector<ProvenanceLine> provenance(const std::string& commit);

}  // namespace ako
