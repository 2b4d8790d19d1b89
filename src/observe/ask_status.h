// Asks peers that are observed how they stand. Any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ako/error.h"
#include "src/observe/observed.h"
#include "src/results/bottleneck.h"

namespace ako {

/// The newest status of the peer that is observed there, within 3 s. Error::Kind::io: nobody
/// answers there, or what answers is no peer.
Result<Observed> ask_status(const std::string& host, unsigned port);

struct StatusAnswer {
    std::optional<Observed> observed;
    std::string why_not;
};
/// All at once, so within 3 s too, or 6 if they are reached by two ways; in the order of the peers.
/// `through`: a host by which all may be reached, tried before their own; empty: by these alone.
std::vector<StatusAnswer> ask_all(const std::vector<ObservedPeer>& peers,
                                  const std::string& through = "");

/// What limits the cluster by these answers of its peers.
Bottleneck bottleneck_of(const ObservedRun& run, const std::vector<StatusAnswer>& answers);

/// What a peer that is well says of itself (health.h), within 3 s. Error::Kind::io: nobody answers
/// there, or the peer says what it lacks.
Result<std::string> ask_health(const std::string& host, unsigned port);

}  // namespace ako
