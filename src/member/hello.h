// What a peer says of itself when it connects: what must match between all peers, and which process
// it is. Functions; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ako/frame.h"
#include "ako/network.h"
#include "src/config/settings.h"

namespace ako {

/// Fit to be part of an incarnation; never 0, which stands for no process.
std::uint64_t random_process_id();

/// `initial` is [parameter_count].
Hello make_hello(const Settings& settings, PeerIndex self, std::uint64_t process_id,
                 const std::vector<Tensor>& tensors, std::span<const float> initial);

}  // namespace ako
