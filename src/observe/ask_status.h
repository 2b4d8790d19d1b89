// Asks peers that are observed how they stand. Any thread.
#pragma once

#include <string>

#include "ako/error.h"
#include "src/observe/observed.h"

namespace ako {

/// The newest status of the peer that is observed there, within 3 s. Error::Kind::io: nobody
/// answers there, or what answers is no peer.
Result<Observed> ask_status(const std::string& host, unsigned port);

}  // namespace ako
