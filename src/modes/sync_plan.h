// The sync plan: which messages one sync of one bucket takes in a mode whose peers wait for each
// other, who sends them and after what. The same that the protocols of src/buckets do, said before
// anything is made, as `costs` (costs.h) say the bytes: a test holds both against each other.
// Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ako/types.h"
#include "src/exchange/mode_settings.h"

namespace ako {

struct SyncMessage {
    PeerIndex from = 0;
    PeerIndex to = 0;
    std::size_t bytes = 0;          ///< of values
    bool of_own = false;            ///< it can go only once `from` has given its own values
    std::uint32_t after_first = 0;  ///< `after_count` of SyncPlan::after from here on
    std::uint32_t after_count = 0;
};

/// A bucket is whole at a peer when all messages to it have come and it has given its own values;
/// at one that only serves, when all have come.
struct SyncPlan {
    std::vector<SyncMessage> messages;
    std::vector<std::uint32_t> after;  ///< indices of messages that must have come to `from` before

    void add(SyncMessage message, const std::vector<std::uint32_t>& waits_for);
};

/// Is there a plan: does every round, or every so many, end with a sync that all wait for? Not
/// where workers of a server may be some rounds ahead of each other.
bool has_sync_plan(const ExchangeSettings& exchange);

/// What one peer does where all are alike and do the same at the same time: all its messages go to
/// itself, for what it sends at some moment is what comes to it then. Nothing where some peers do
/// more than others, or something else: with fewer servers than peers, and in a butterfly.
std::optional<SyncPlan> sync_plan_of_one(const ModeSettings& settings, Range bucket);

/// Of `settings.exchange.mode`, which has a plan. `peer_count` 1: no messages.
SyncPlan sync_plan(const ModeSettings& settings, Range bucket);

}  // namespace ako
