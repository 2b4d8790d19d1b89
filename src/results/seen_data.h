// How much of the data was seen, and how often, where data shards follow the live peers
// (`data.sharding: elastic`). Values; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "ako/exchange.h"

namespace ako {

/// Samples that all peers together saw, each counted once per pass.
std::uint64_t seen_once(const Seen& seen);
/// Those of `samples`, trained on by all peers, that another had trained on in the same pass.
std::uint64_t seen_again(const Seen& seen, std::uint64_t samples);

/// "all 60,000 samples were seen 2 times, 59,874 of them once more; 126 of the 180,000 trained on
/// were a repetition".
std::string seen_text(const Seen& seen, std::uint64_t samples);

/// {"samples": 60000, "passes": 2, "of_next": 59874, "of_after": 0, "repeated": 126}; null for
/// nothing. And back; throws what nlohmann throws.
nlohmann::ordered_json seen_json(const std::optional<Seen>& seen, std::uint64_t samples);
std::optional<Seen> seen_from(const nlohmann::ordered_json& json);

}  // namespace ako
