// How long a peer that has adopted the cut stays for others, judged by what really became of them:
// for one that has not adopted yet; for one that vanished with its machine as long as it lingers;
// and for one whose process is over, where a dial finds that nobody listens, no longer than it
// takes to notice that. Asked for where the network stands, no compute thread hangs and nobody
// begins anew, for whom all would be different.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "src/exchange/departures.h"
#include "tests/sim/ako_peer.h"
#include "tests/sim/scenario.h"
#include "tests/sim/sim_times.h"
#include "tests/sim/violation.h"

namespace ako::sim {

class StaysCheck {
  public:
    /// Both outlive this.
    StaysCheck(const Scenario& scenario, const SimCluster& cluster)
        : scenario_(scenario),
          cluster_(cluster),
          peers_(cluster),
          adopted_at_(scenario.peers.size()),
          died_at_(scenario.peers.size()) {}

    void died(PeerIndex peer, bool silently) {
        died_at_[peer] = cluster_.world().now();
        if (silently) died_silently_ |= peer_bit(peer);
    }
    void adopted(PeerIndex peer) {
        adopted_at_[peer] = adopted_at_[peer].value_or(cluster_.world().now());
    }
    /// All have ended or died.
    void ended() const {
        if (!scenario_.network_stands() || scenario_.begins_anew()) return;
        if (scenario_.has(FaultKind::hang)) return;
        for (PeerIndex peer = 0; peer < peers_.size(); ++peer) {
            const bool survived = peers_[peer]->state == SimPeer::State::ended;
            if (!survived || !adopted_at_[peer]) continue;
            const std::optional<Time> until = stays_until(peer);
            const Time left = peers_[peer]->ended_at - goodbye;
            if (!until || left <= *until + noticed()) continue;
            const double late = std::chrono::duration<double>(left - *until).count();
            throw Violation("peer " + std::to_string(peer) + " stays " + std::to_string(late) +
                            " s longer than anybody can need it");
        }
    }

  private:
    /// Nothing where that is not known.
    std::optional<Time> stays_until(PeerIndex peer) const {
        Time until = *adopted_at_[peer];
        for (PeerIndex other = 0; other < peers_.size(); ++other) {
            if (other == peer) continue;
            const bool met = (*peers_[peer]->half.peers())[other].presence != Presence::absent;
            if (!met) return std::nullopt;
            if (died_at_[other] && (died_silently_ & peer_bit(other))) {
                until = std::max(until, *adopted_at_[peer] + from_seconds(scenario_.linger_s));
            } else if (died_at_[other]) {
                until = std::max(until, *died_at_[other] + gone_after_crash());
            } else if (adopted_at_[other]) {
                until = std::max(until, *adopted_at_[other]);
                // Its last words may not have come through before its process ended.
                if (scenario_.narrow())
                    until = std::max(until, peers_[other]->ended_at + gone_after_crash());
            } else {
                return std::nullopt;
            }
        }
        return until;
    }

    /// As Departures says it.
    Time gone_after_crash() const {
        return std::min(2 * life_timeout + Departures::redial, from_seconds(scenario_.linger_s));
    }

    /// A Status behind two frames, sessions that come up again before it, and two looks for who is
    /// gone, with what lies between them.
    Time noticed() const {
        constexpr Time session_again = ms(50);
        constexpr Time looks_for_the_gone = ms(100);
        return scenario_.delay + 3 * scenario_.frame_time() + session_again +
               2 * (looks_for_the_gone + poll_interval + wait_step);
    }

    const Scenario& scenario_;
    const SimCluster& cluster_;
    const AkoPeers peers_;
    std::vector<std::optional<Time>> adopted_at_;  ///< [peer]
    std::vector<std::optional<Time>> died_at_;     ///< [peer]
    PeerSet died_silently_ = 0;
};

}  // namespace ako::sim
