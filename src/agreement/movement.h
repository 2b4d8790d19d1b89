// When each peer last moved in the final exchange: whoever waits there waits for as long as
// somebody moves. A sign of movement is what takes bytes or brings the agreement on; that a peer
// only lives, as its heartbeats say, is none; nor is it that two processes of one name take turns
// to be heard. Compute thread only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "ako/frame.h"
#include "ako/types.h"

namespace ako {

class Movement {
  public:
    explicit Movement(std::size_t peer_count) : peers_(peer_count) {}

    /// The newest Status of `peer`.
    void heard(PeerIndex peer, const Status& status, Time now) {
        Cut cut{status.vote.accepted, status.vote.decided, status.standing.digest.has_value(),
                status.vote.cut_blocks};
        Rows rows{status.standing.final_round.has_value(), {}};
        for (const RowHeld& row : status.rows) rows.checksums.push_back(row.map_checksum);
        Peer& moved = peers_[peer];
        Process& known = moved.process(status.heartbeat.process_id);
        if (known.cut != cut) moved.moved_at = moved.pulled_at = now;
        if (known.rows != rows) moved.moved_at = now;
        known.cut = cut;
        known.rows = std::move(rows);
    }
    /// This peer itself moved: it took a block, or the agreement went on.
    void here(Time now) { here_ = std::max(here_, now); }
    /// The agreement went on at this peer, or a block of a cut came.
    void agreement(Time now) { agreement_at_ = now; }

    Time of(PeerIndex peer) const { return peers_[peer].moved_at; }
    /// When anybody moved last, this peer included.
    Time newest() const {
        Time newest = here_;
        for (const Peer& peer : peers_) newest = std::max(newest, peer.moved_at);
        return newest;
    }
    Time agreement_at() const { return agreement_at_; }
    /// How long neither the agreement has gone on, nor anybody come nearer to holding a cut.
    Time quiet(Time now) const {
        Time newest = agreement_at_;
        for (const Peer& peer : peers_) newest = std::max(newest, peer.pulled_at);
        return now - newest;
    }

  private:
    struct Cut {
        CutId accepted;
        CutId decided;
        bool adopted = false;
        std::uint32_t blocks = 0;

        bool operator==(const Cut&) const = default;
    };
    struct Rows {
        bool final = false;
        std::vector<std::uint32_t> checksums;

        bool operator==(const Rows&) const = default;
    };
    /// What one process last said.
    struct Process {
        std::uint64_t id = 0;
        Cut cut;
        Rows rows;
    };
    struct Peer {
        Process& process(std::uint64_t id) {
            if (processes[0].id != id) std::swap(processes[0], processes[1]);
            if (processes[0].id != id) processes[0] = {id, {}, {}};
            return processes[0];
        }

        std::array<Process, 2> processes;  ///< the newest heard of first
        Time moved_at{};
        Time pulled_at{};
    };

    std::vector<Peer> peers_;  ///< [peer_count]
    Time here_{};
    Time agreement_at_{};
};

}  // namespace ako
