// The cluster file as plain structs, after every check of src/config has passed. Immutable once
// read; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ako/algorithm_settings.h"
#include "models/model_settings.h"
#include "src/config/key_places.h"

namespace ako {

/// The most samples of a data set.
inline constexpr std::uint64_t samples_max = 1'000'000'000'000;

struct PeerSettings {
    std::string name;
    std::string address;  ///< host:port that others dial
    std::string listen;   ///< host:port to bind; the same as address unless given
    Role role = Role::worker;
    std::uint64_t samples = 0;  ///< with `data.sharding: own`: of its training set; else 0

    bool operator==(const PeerSettings&) const = default;
};

/// Where browsers and Prometheus find how a peer stands.
struct ObserveSettings {
    /// host:port, where the first peer of the file is found; the next at the next port, and so on,
    /// so that peers on one machine do not meet. Empty: nobody is observed.
    std::string address;

    bool operator==(const ObserveSettings&) const = default;
};

struct Settings {
    std::string file;  ///< the cluster file, as given
    /// What the file says of keys of earlier versions, by path; nothing depends on it.
    std::map<std::string, std::string> retired;
    std::string run;
    std::uint64_t seed = 1;
    ModelSettings model;
    DataSettings data;
    TrainingSettings training;
    ExchangeSettings exchange;
    std::size_t memory_mb_max = 2048;  ///< per peer
    std::string output;  ///< folder; absolute after reading (relative to the working folder before)
    /// With the secret of the cluster; absolute after reading (relative to the cluster file
    /// before); empty: none. The secret itself is never in the settings, which are written and
    /// digested.
    std::string cluster_key_file;
    ObserveSettings observe;
    std::vector<PeerSettings> peers;
    /// The place of every key that was given; peers go by number, as "peers.0.address".
    KeyPlaces places;

    bool operator==(const Settings&) const = default;
};

}  // namespace ako
