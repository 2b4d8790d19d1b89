// What a peer may say in this mode: the checks of a header against the run, before any memory is
// given to its payload. Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "ako/blocks.h"
#include "ako/frame.h"
#include "src/exchange/run_bounds.h"

namespace ako {

/// The complaint about a header that came from `from` with `payload_bytes` of payload, or nothing.
std::optional<std::string> refusal(const Header& header, std::size_t payload_bytes, PeerIndex from,
                                   std::size_t peer_count, const Blocks& blocks,
                                   const RunBounds& bounds);

}  // namespace ako
