// What a mode costs one peer: its memory, and the bytes that it sends. By formula, before anything
// is made. Each mode says its own beside its halves; `mode_costs` (make_exchange.h) knows all.
// Values; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ako/blocks.h"

namespace ako {

/// A part of what one peer holds in memory.
struct MemoryTerm {
    std::string name;
    std::string formula;  ///< in M, the bytes of one parameter vector, and n, the peers
    std::size_t bytes = 0;
    /// Does a run without losses and latecomers touch it? What is not touched is not resident.
    bool usual = true;
};

/// What each peer of one kind sends: parameters and gradients, without headers and Status.
struct SentBytes {
    /// Which peers send it, and to whom.
    enum class Way {
        to_all,        ///< every peer, in equal parts to all others
        to_successor,  ///< every peer, to the next; small buckets to all, the same bytes
        to_partners,   ///< a peer of a butterfly but the next two kinds, most to the first partner
        of_surplus,    ///< whoever is folded into a butterfly, to its partner
        of_partner,    ///< that partner: as in `to_partners`, and the vector
        of_worker,     ///< whoever only trains, to the servers
        of_server,     ///< whoever only serves, to the workers
        of_both,       ///< whoever trains and serves
    };
    Way way = Way::to_all;
    double bytes = 0;       ///< in one round, or in one sync of several
    unsigned rounds = 1;    ///< from one sync to the next
    bool at_most = false;   ///< less where links take less
    double link_share = 1;  ///< in a butterfly: of the link to the partner that most goes to

    double per_round() const { return bytes / rounds; }
};

/// What a peer sends in one all-reduce: every part of the vector goes round once to be summed up,
/// and once as a sum.
inline double all_reduce_bytes(std::size_t peer_count, std::size_t vector_bytes) {
    const auto peers = static_cast<double>(peer_count);
    return 2 * (peers - 1) / peers * static_cast<double>(vector_bytes);
}

struct ModeCosts {
    std::vector<MemoryTerm> memory;  ///< of the peer with the most
    std::vector<SentBytes> sent;     ///< one for each kind of peers; none: nothing is sent
    MemoryTerm checkpoint;           ///< of the peer with the most, and as large on its disk
    /// Where peers hold each other's rows, and pull at the end what they lack: the blocks of a row.
    std::optional<Blocks> row;
};

}  // namespace ako
