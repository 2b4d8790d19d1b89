// A peer in a container: where what it reads and writes lies there, and by which name others find
// it. For Compose files and for the engines of containers. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "src/config/cluster_settings.h"

namespace ako {

/// The port of every peer whose address is not the file's; each has a host of its own.
inline constexpr unsigned container_port = 7701;
inline constexpr const char* cluster_file_there = "/ako/cluster.yaml";
/// deploy/Dockerfile makes it, for its user.
inline constexpr const char* results_there = "/results";
/// The user of that image.
inline constexpr const char* container_user = "10001";
/// Where engines put a secret.
inline constexpr const char* secret_there = "/run/secrets/cluster.key";
/// A peer that is asked to go brings the others what it learned: exchange.leave_timeout_s, and what
/// it writes.
inline constexpr unsigned container_grace_s = 60;
/// How often an engine starts a container again whose peer has died: more than accidents of one
/// run, and few enough for one that dies at its start each time.
inline constexpr unsigned container_restarts_max = 5;

/// A file or folder that the cluster file names, and where it lies in a container.
struct Mount {
    const char* key;
    std::string here;
    const char* there;
};

/// One for every key that names a path, but for `output`.
std::vector<Mount> mounts_of(const Settings& settings);

/// Can a peer that died come back? In the other modes the run is over, or the others refuse it; and
/// one that is alone has nobody to take its row, or the state of a ring, from.
bool may_come_back(const Settings& settings);

/// The name of the host of the peer with this name.
std::string host_of(const std::string& peer);

/// A text of a Compose or stack file: quoted, and safe from the substitution of variables.
std::string safe_text(const std::string& text);

/// `name` as all engines take it: small letters, digits and '-', a letter first, not too long.
std::string engine_name(const std::string& name);

/// The settings as a peer in a container reads them, with the hosts of the peers in their order.
Settings settings_in_containers(const Settings& settings, const std::vector<std::string>& hosts);

}  // namespace ako
