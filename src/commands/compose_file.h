// The text of a Compose file: the peers of a cluster file as services, and what may be started
// beside or instead of them, each with its profile. docker-compose from 1.28 on and Compose v2 read
// it. Pure but for the working folder, from which paths are taken; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "src/commands/compose_command.h"
#include "src/commands/compose_services.h"

namespace ako {

/// The folder, beside the Compose file, that Prometheus has its configuration from.
inline constexpr const char* scrape_folder = "observe";

/// The folder of the Compose file; absolute.
std::filesystem::path compose_folder(const ComposeOptions& options);

/// `groups`: those of the peers, the one as written first. `no_baseline`: why the profile baseline
/// is not among them; empty if it is.
std::string compose_text(const Settings& settings, const ComposeOptions& options,
                         const std::vector<PeerGroup>& groups, const std::string& no_baseline);

/// What `--set` says for the parameter server of the profile baseline: the keys that make one of
/// any cluster file.
std::vector<std::string> baseline_overrides(const Settings& settings);

}  // namespace ako
