// The measurement of all links of a cluster, as one peer takes part in it: a host of the transport
// beside which no run is. Peers measure in pairs (pair_probe.h) by turns (turns.h), pairs of one
// turn at the same time, as the links of a run are in use; each tells all others what it has found,
// so that in the end all have the figures of all pairs. Thread: network thread, but for `outcome`.
// Lifetime: transport and clock outlive it, and it outlives the transport's stop().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ako/threads.h"
#include "ako/transport.h"
#include "src/probe/pair_probe.h"

namespace ako {

struct ProbeOutcome {
    bool over = false;
    std::vector<PairFigures> pairs;  ///< of all pairs, where it went well
    std::string failure;             ///< why it did not; empty: it did, or is not over
    std::vector<PeerIndex> missing;  ///< that have not come yet; empty once all were there
};

class LinkProbe final : public TransportHost {
  public:
    /// `changed` is called when the outcome has changed, on the network thread.
    LinkProbe(PeerIndex self, std::vector<std::string> names, Transport& transport,
              const Clock& clock, const ProbeTimes& times, std::function<void()> changed);

    /// Any thread.
    ProbeOutcome outcome() const;

    std::optional<OutFrame> next(PeerIndex peer, std::size_t payload_bytes_max) override;
    /// Of a flood there is always more.
    double unsent_payloads() const override { return 2; }
    std::optional<std::string> refuse(PeerIndex peer, const Header& header,
                                      std::size_t bytes) override;
    std::optional<Destination> reserve(PeerIndex peer, const Header& header,
                                       std::size_t bytes) override;
    void arrived(PeerIndex peer, Header header, Destination destination, Time arrived_at) override;
    void abandoned(PeerIndex, Destination) override {}
    std::optional<Reject> admit(PeerIndex peer, const Hello& hello) override;
    void session_up(PeerIndex peer, const Hello& hello) override;
    void session_down(PeerIndex peer, const std::string& why, Time silence) override;
    void peer_lost(PeerIndex, const std::string&) override {}
    void poll(Time now) override;

  private:
    struct PeerState {
        bool up = false;
        std::uint64_t process = 0;  ///< of the session
        std::uint32_t turn = 0;     ///< as it said; likewise the next
        bool knows_all = false;
        bool standing_due = false;
        bool pairs_due = false;       ///< with the standing
        Time standing_at{};           ///< when it was told last
        std::optional<Time> gone_at;  ///< the session, since all had met
        std::string why_gone;
        std::vector<std::byte> sink;  ///< for what it floods
    };

    std::size_t count() const { return names_.size(); }
    bool knows_all() const { return pairs_.size() == count() * (count() - 1) / 2; }
    void meet(Time now);
    void next_turn();
    void heard(PeerIndex peer, const Probe& probe);
    void learn(const PairFigures& figures);
    void look_on(Time now);
    bool others_know_all() const;
    Probe standing(bool with_pairs) const;
    void tell_all();
    /// Both are in this turn, so that it is the pair itself that moves, or does not.
    bool pair_meets() const { return pair_ && peers_[pair_->partner()].turn == turn_; }
    void look_for_losses(Time now);
    void wake_links(Time now);
    void fail(const std::string& why);
    void fail_without(PeerIndex peer);
    void change(const std::function<void(ProbeOutcome&)>& change);

    const PeerIndex self_;
    const std::vector<std::string> names_;
    Transport& transport_;
    const Clock& clock_;
    const ProbeTimes times_;
    const std::function<void()> changed_;

    std::vector<PeerState> peers_;  ///< [peer]; that of this peer is not used
    std::uint32_t turn_ = 0;        ///< from 1; 0: not all have met
    std::optional<PairProbe> pair_;
    std::vector<PairFigures> pairs_;
    std::vector<std::byte> flood_;
    std::optional<Time> began_;
    Time moved_at_{};
    std::optional<Time> knew_at_;
    bool over_ = false;

    mutable Mutex mutex_;
    ProbeOutcome outcome_ AKO_GUARDED_BY(mutex_);
};

}  // namespace ako
