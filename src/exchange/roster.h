// The presence, rounds and samples of every peer, and which peers *advance*. Presence comes from
// the transport; rounds and samples from Status and Partial. What a peer has done outlives its
// process: rounds and samples stay, while all that is of the process itself is forgotten when
// another one comes under its name. Compute thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "ako/frame.h"
#include "ako/presence.h"
#include "ako/types.h"
#include "src/exchange/clock_offset.h"
#include "src/exchange/incarnation.h"
#include "src/numbers/answer_time.h"

namespace ako {

struct LinkView;
struct EarlyLeave;

/// What is known of one peer.
struct PeerView {
    Presence presence = Presence::absent;
    bool ever_lost = false;
    Round announced = 0;  ///< newest round heard of, from itself
    /// The newest heard of, from itself, or from anyone if the peer cannot be reached: what it has
    /// done is done. Round and samples come together, so that they fit one another.
    Round relayed_round = 0;
    std::uint64_t samples = 0;
    Incarnation incarnation = 0;  ///< in which it makes its rounds, as it says itself; 0 = none yet
    std::optional<Status> status;  ///< the newest word of its present process, from itself
    bool heard = false;            ///< a Status, in the session that stands
    bool returned = false;         ///< as another process, of which no Status has come yet
    std::optional<Round> final_round;
    ClockOffset clock;
    AnswerTime answers;
    Round own_round_at_move = 0;  ///< own round when `announced` last moved
    double usual_gap = 0;         ///< own rounds between its moves, smoothed
    bool moved = false;           ///< in this presence
    /// It has said Bye before the end; then the samples of all, as known here at that moment.
    std::optional<std::uint64_t> left_at;
    Farewell farewell;  ///< then: how it ended

    /// The newest heard of, from anyone.
    Round known_round() const { return std::max(announced, relayed_round); }
    bool live() const { return presence == Presence::up || presence == Presence::down; }
    /// It is on its way into the run, or back: it takes in rows and makes no rounds yet.
    bool joins() const { return status ? status->start.joining : returned; }
    /// It is there, and goes before the end.
    bool leaving() const { return live() && status && status->standing.leaving; }
    /// The final version of its row, once it has ended.
    std::optional<Version> final_version() const {
        if (!final_round) return std::nullopt;
        return version_of(*final_round, incarnation);
    }
};

class Roster {
  public:
    /// A peer that has not moved for as many own rounds is loading, evaluating or hung.
    static constexpr double gap_min = 4;

    /// `answers_within`: what is taken for the time of every answer; nothing: what was seen.
    Roster(PeerIndex self, std::size_t peer_count, std::optional<Time> answers_within = {})
        : self_(self), answers_within_(answers_within), peers_(peer_count) {
        peers_[self].presence = Presence::up;
    }

    PeerIndex self() const { return self_; }
    std::size_t peer_count() const { return peers_.size(); }
    const PeerView& operator[](PeerIndex peer) const { return peers_[peer]; }

    void set_presence(PeerIndex peer, Presence presence);
    /// What the network side has seen, oldest first.
    void follow(const std::vector<PresenceChange>& changes) {
        for (const auto& [peer, presence] : changes) set_presence(peer, presence);
    }
    /// This peer's own progress. Before the first call, and after `forget_own`, it is what others
    /// say of it, for an earlier process made it.
    void set_own(Round round, std::uint64_t samples);
    void forget_own() { own_known_ = false; }
    /// What a checkpoint says of all peers, [peer_count]: as if others said it.
    void restore(const std::vector<Progress>& progress);
    /// A round of `peer` was heard of while this peer was at `own_round`.
    void heard_round(PeerIndex peer, Round round, Round own_round);
    /// The first frame of a session. `new_process`: that of another process than before.
    void begin_session(PeerIndex peer, bool new_process);
    /// The newest Status of `peer` itself, which also carries what it has heard of others.
    void heard_status(PeerIndex peer, const Status& status, Time arrived_at, Round own_round);
    void heard_bye(PeerIndex peer, const Bye& bye);

    /// Live, and its rounds move within max(gap_min, twice its usual gap) of own rounds.
    bool advancing(PeerIndex peer, Round own_round) const;

    /// This peer included.
    std::size_t live_count() const;
    /// The lowest of the peers that take part in the run and are not about to leave.
    PeerIndex lowest_live() const;
    /// Peers other than this one with a session.
    PeerSet reached() const;
    bool reachable(PeerIndex peer) const { return peers_[peer].presence == Presence::up; }
    /// Does this version of its row, or a newer one, come from itself? What earlier processes of
    /// its name made of the row does not until it has claimed that row, and never does where
    /// training ends first.
    bool streams(PeerIndex peer, Version version) const;

    /// For so long an answer of this peer is waited for.
    Time answer_time(PeerIndex peer) const {
        return answers_within_.value_or(peers_[peer].answers.time());
    }
    /// The same from what was seen alone: the time in which it shows what it has taken in.
    Time answer_seen(PeerIndex peer) const { return peers_[peer].answers.usual(); }
    /// The longest answer time of all peers that can be reached.
    Time answer_time() const;
    /// Before anything was seen: what limits are made of that must not grow with what is seen.
    Time answer_time_at_first() const { return answers_within_.value_or(AnswerTime::first); }

    /// Sum over all peers, as far as heard of.
    std::uint64_t samples() const;
    /// The most that anybody says of this peer, itself included: others also count the samples of
    /// an earlier process that a later one, which began apart, does not know.
    std::uint64_t samples_by_all(PeerIndex peer) const;
    std::vector<Progress> progress() const;
    /// Peers that left before the end, and are not back.
    std::vector<EarlyLeave> left_early(std::uint64_t sample_budget) const;
    /// For reports: the peer, its presence, whether it is live, and how far it is.
    LinkView link_view(PeerIndex peer) const;

  private:
    const PeerIndex self_;
    const std::optional<Time> answers_within_;
    std::vector<PeerView> peers_;
    bool own_known_ = false;
};

}  // namespace ako
