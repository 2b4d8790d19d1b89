// What a process of an elastic ring knows of the others: whose session stands, what each says in
// it, and how those went that are not there: which fell, which left, and where nobody listens.
// Network thread only. Lives as long as the traffic half.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ako/membership.h"
#include "ako/threads.h"
#include "ako/transport.h"
#include "src/agreement/epoch_vote.h"
#include "src/exchange/departures.h"
#include "src/exchange/mode_settings.h"

namespace ako {

/// Another name of the file, and the newest process of it that is known.
struct ElasticPeer {
    bool up = false;
    bool ever_up = false;
    std::uint64_t process = 0;  ///< of the newest session
    bool heard = false;         ///< `said`, in this session
    Membership said;
    bool left = false;
    bool lost = false;                 ///< silent for the life time-out
    bool nobody_listens = false;       ///< where it was, says the newest dial
    std::optional<Time> absent_since;  ///< nobody listens; of one that was never met
    std::optional<Time> broke_at;      ///< its session, and not by silence
    std::uint64_t fell = 0;            ///< the newest process that did: see EpochVote
};

class ElasticPeers {
  public:
    /// All references outlive this.
    ElasticPeers(const ModeSettings& settings, const EpochVote& vote, const Transport& transport);

    std::size_t count() const { return peers_.size(); }
    /// The entry of this peer is not used.
    const ElasticPeer& operator[](PeerIndex peer) const AKO_NETWORK_THREAD { return peers_[peer]; }

    // ---- what happens
    void session_up(PeerIndex peer, std::uint64_t process, Time now) AKO_NETWORK_THREAD;
    void session_down(PeerIndex peer, bool left, Time silence, Time now) AKO_NETWORK_THREAD;
    void lose(PeerIndex peer) AKO_NETWORK_THREAD { peers_[peer].lost = true; }
    void hear(PeerIndex peer, const Membership& said) AKO_NETWORK_THREAD;
    void epoch_changed() AKO_NETWORK_THREAD;
    /// Called all the time.
    void poll(Time now) AKO_NETWORK_THREAD;
    /// Asks what became of the dials.
    void look_for_the_gone(Time now) AKO_NETWORK_THREAD;

    // ---- what is so
    Time first_poll() const AKO_NETWORK_THREAD { return *first_poll_; }
    /// All that this peer has a session with.
    PeerSet up() const AKO_NETWORK_THREAD;
    /// Is the process that is there the one that is in the epoch?
    bool is_member(PeerIndex peer) const AKO_NETWORK_THREAD {
        return vote_.is(peer, peers_[peer].process);
    }
    /// Has it said something about this epoch in this session?
    bool speaks_of_epoch(PeerIndex peer) const AKO_NETWORK_THREAD {
        return peers_[peer].heard && peers_[peer].said.epoch.number == vote_.epoch().number;
    }
    bool hear_each_other(PeerIndex one, PeerIndex other) const AKO_NETWORK_THREAD;
    /// The process that is in does not come back, as far as its sessions and dials show.
    bool stays_away(PeerIndex peer) const AKO_NETWORK_THREAD;
    EpochVote::Reach reach(Time now) const AKO_NETWORK_THREAD;

  private:
    /// This process has run all along, so that nobody can have put it out.
    bool has_run(Time now) const AKO_NETWORK_THREAD {
        const bool stood = stood_until_ && now - *stood_until_ <= life_timeout_;
        return now - polled_at_ <= life_timeout_ / 2 && !stood;
    }
    /// Its process is over, says what was just seen.
    void is_over(PeerIndex peer, Time now) AKO_NETWORK_THREAD;
    void fell(PeerIndex peer) AKO_NETWORK_THREAD;

    const ModeSettings& settings_;
    const EpochVote& vote_;
    const Transport& transport_;
    const Time life_timeout_;

    std::vector<ElasticPeer> peers_;  ///< [peer_count]
    Departures departures_;
    PeerSet fell_ = 0;  ///< of the members of the epoch
    std::optional<Time> first_poll_;
    Time polled_at_{};
    std::optional<Time> stood_until_;  ///< this process had not run for a while
    Time looked_at_{};
};

}  // namespace ako
