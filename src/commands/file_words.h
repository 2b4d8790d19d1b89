// The words of the command line that say a cluster file and change it, which many commands have.
// One thread.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ako {

/// --set.
void add_overrides(CLI::App& command, std::vector<std::string>& overrides);

/// FILE and --set.
void add_cluster_file(CLI::App& command, std::string& file, std::vector<std::string>& overrides);

}  // namespace ako
