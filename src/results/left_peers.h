// Peers that left on purpose, while the others went on: who, when, and what of their data nobody
// has trained on. Values; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ako/farewell.h"

namespace ako {

struct LeftPeer {
    std::string peer;
    std::uint64_t rounds = 0;  ///< that it made
    double at = 0;             ///< of the sample budget of all, 0 .. 1, when it went
    /// In its data shard, where nobody else trains on that (`data.sharding: disjoint`); else 0.
    std::uint64_t samples = 0;
    std::uint64_t seen = 0;  ///< then: samples that it had trained on; passes add up
    Farewell farewell = {};  ///< how it ended

    /// Samples of the shard that the training never saw.
    std::uint64_t unseen() const { return seen < samples ? samples - seen : 0; }
};

/// "b left at 31 % of the budget, after 812 rounds: 7,288 of the 15,000 samples in its data shard
/// were never seen"; "b ended at round 31: its numbers are not to be trusted (..); what it gave up
/// to round 30 stays".
std::string left_peer_text(const LeftPeer& left);

/// Takes in what another peer knows of those that left: of one that both name, the later word.
void merge_left_peers(std::vector<LeftPeer>& known, const std::vector<LeftPeer>& heard);

/// [{"peer": "b", "rounds": 812, "at": 0.31, "samples": 15000, "seen": 7712, "unseen": 7288,
/// "cause": "left", "since": 0, "why": ""}, ..]; null for three of one without a shard of its own.
/// And back; throws what nlohmann throws.
nlohmann::ordered_json left_peers_json(const std::vector<LeftPeer>& left);
std::vector<LeftPeer> left_peers_from(const nlohmann::ordered_json& json);

}  // namespace ako
