// The configuration by which Prometheus scrapes the peers of a Compose file. Written once beside
// that file and then left to people, who add alerts to it. Any thread.
#pragma once

#include <string>
#include <vector>

#include "src/config/cluster_settings.h"

namespace ako {

/// "a:9470", of each peer; the cluster file has observe.address.
std::vector<std::string> scrape_targets(const Settings& settings);

/// As Prometheus reads it: the instance is the peer's name.
std::string scrape_text(const Settings& settings);

/// Writes it there, with the folder, unless the file is there; what to say of that, in a line.
/// Throws StartupError.
std::string provide_scrape_file(const std::string& path, const Settings& settings);

}  // namespace ako
