// What a mode is told at the start: this peer, the others, and how to exchange. Constant after
// construction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ako/algorithm_settings.h"
#include "ako/blocks.h"
#include "ako/checkpoint.h"
#include "ako/exchange_times.h"
#include "ako/types.h"

namespace ako {

/// What to do next, for people, about a checkpoint that cannot be gone on from.
inline constexpr const char* without_this_checkpoint =
    "it was changed meanwhile, or made by another version of ako: remove it, and the peer goes on "
    "from the one before, or in the mode ako from what the others have";

class Coverage;

struct ModeSettings {
    PeerIndex self = 0;
    std::uint64_t process_id = 1;         ///< that of the Hello: random, one per process life
    std::vector<std::string> peer_names;  ///< [peer_count], for the log
    ExchangeSettings exchange;
    /// Instead of those that `exchange` says: of a simulation, whose rounds take milliseconds.
    std::optional<ExchangeTimes> times_instead = {};
    TrainingSettings training;
    std::uint64_t sample_budget = 0;  ///< samples of all peers together
    /// Of them those after which this start of the run ends (training.until); at most the budget.
    std::uint64_t samples_until = UINT64_MAX;
    std::vector<Role> roles = {};    ///< [peer_count]; empty: workers only
    std::vector<Range> layers = {};  ///< runs of the flat vector, in order; empty: one
    /// all_reduce: ring: buckets of at most so many bytes go straight and not round. A few
    /// milliseconds of a slow link.
    std::size_t straight_bytes_max = std::size_t{128} * 1024;
    std::size_t block_elements = block_elements_default;
    std::function<void(const std::string&)> log;  ///< any thread; one line for people

    /// Compute thread, may be empty: called at least every ModeExchange::wait_step while it waits,
    /// at the start with the peers that are missing, later (staleness, final exchange) with none.
    std::function<void(const std::vector<PeerIndex>& missing)> waits;

    /// This peer's checkpoints to go on from, newest first; none: it begins anew. Compute thread:
    /// `read_checkpoint` reads one of them.
    std::vector<CheckpointId> checkpoints = {};
    /// It is to go on with an earlier run; in the mode ako perhaps without a checkpoint of its own,
    /// which its disk has lost: then it has its row from the others.
    bool resumes = false;
    /// It is to do so if anybody does: without a checkpoint it begins anew with others who have
    /// none, and goes on with those who have.
    bool resumes_if_any = false;
    std::function<Result<Checkpoint>(const CheckpointId&)> read_checkpoint = {};

    /// The initial parameters are those that the lowest peer of the file brings, and everybody else
    /// takes them over; else all bring the same. Only ako looks at it.
    bool initial_of_lowest = false;

    /// The processor may idle while gradients are made: on another device, or by waiting.
    bool computes_elsewhere = false;

    /// Compute thread, may be empty: asked once there is an interrupt: is it this peer alone that
    /// is to end, while the others go on?
    std::function<bool()> leaves;

    /// Compute thread; null unless with `data.sharding: elastic`. Outlives the mode.
    Coverage* coverage = nullptr;

    std::uint64_t sample_end() const { return std::min(sample_budget, samples_until); }
    ExchangeTimes times() const { return times_instead ? *times_instead : times_of(exchange); }
    std::size_t peer_count() const { return peer_names.size(); }
    /// "a, b", for people.
    std::string names(PeerSet peers) const {
        std::string text;
        for (PeerIndex peer = 0; peer < peer_count(); ++peer)
            if (peers & peer_bit(peer)) text += (text.empty() ? "" : ", ") + peer_names[peer];
        return text;
    }
    std::size_t majority() const { return peer_count() / 2 + 1; }
    /// So many are to be there to begin, and in an elastic ring to go on.
    std::size_t start_peers_min() const {
        return exchange.start_peers_min != 0 ? exchange.start_peers_min : majority();
    }
    Role role(PeerIndex peer) const { return roles.empty() ? Role::worker : roles[peer]; }
    /// Peers that train, lowest first.
    std::vector<PeerIndex> workers() const {
        std::vector<PeerIndex> found;
        for (PeerIndex peer = 0; peer < peer_count(); ++peer)
            if (role(peer) == Role::worker) found.push_back(peer);
        return found;
    }
    /// Peers that keep parameters in the mode parameter-server, lowest first.
    std::vector<PeerIndex> servers() const {
        std::vector<PeerIndex> found;
        const bool dedicated = exchange.server.placement == Placement::dedicated;
        for (PeerIndex peer = 0; peer < peer_count(); ++peer)
            if (dedicated ? role(peer) == Role::server : found.size() < exchange.server.count)
                found.push_back(peer);
        return found;
    }
};

}  // namespace ako
