// A mode, behind the one Exchange and the one Links: two small halves, one for each thread. What it
// computes with decides when a round may begin, what becomes of a gradient and when training is
// over; what it sends decides which frame is next for a peer and what is made of those that come.
// Neither knows a socket or a clock, neither waits, and they speak to each other only through the
// Mailbox and what they share besides, so the simulator runs the very same code.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ako/exchange.h"
#include "ako/threads.h"
#include "ako/transport.h"
#include "src/exchange/roster.h"
#include "src/numbers/buffer_pool.h"

namespace ako {

/// What a mode computes with. Compute thread only; told the time. What is named step_ returns at
/// once, and true when it is done; else it is called again after the next event.
class ComputeHalf {
  public:
    virtual ~ComputeHalf() = default;

    /// Takes in what has arrived and says what is next; nothing: ask again after the next event.
    virtual std::optional<Next> begin_round(Time now) AKO_COMPUTE_THREAD = 0;
    /// It does not wait for the start any more.
    virtual bool started() const AKO_COMPUTE_THREAD = 0;
    /// Peers that it waits for, before the start.
    virtual std::vector<PeerIndex> missing() const AKO_COMPUTE_THREAD = 0;

    /// As Exchange::replica.
    virtual std::span<const float> replica() const AKO_COMPUTE_THREAD = 0;
    /// As Exchange::await, for Use::read: makes what has come of this range current. True also if
    /// it never will be (then the next begin_round says so).
    virtual bool step_await(Range) AKO_COMPUTE_THREAD { return true; }
    /// The same of all that this peer has given, also where no round waits for it: Use::keep.
    virtual bool step_settle() AKO_COMPUTE_THREAD { return true; }
    /// The same of what this range of the next gradient takes the place of: Use::give.
    virtual bool step_make_way(Range) AKO_COMPUTE_THREAD { return true; }
    /// Is a part of a gradient of use before all of it is there?
    virtual bool gives_by_layers() const AKO_COMPUTE_THREAD { return waits_for_others(); }
    /// As Exchange::gradient_ready. True: something of it may be sent now.
    virtual bool gradient_ready(Range, std::span<const float>, Time) AKO_COMPUTE_THREAD {
        return false;
    }
    /// As Exchange::end_round.
    virtual Result<void> end_round(const Learned& learned, const RoundResult& result,
                                   Time now) AKO_COMPUTE_THREAD = 0;

    virtual void announce(const Verdict& verdict) AKO_COMPUTE_THREAD = 0;
    virtual void request_stop(StopReason reason) AKO_COMPUTE_THREAD = 0;
    /// This peer is to end soon, and the others are to go on. A mode, or a peer of it, that the
    /// others cannot do without stops for all. May be asked again.
    virtual void request_leave() AKO_COMPUTE_THREAD { request_stop(StopReason::requested); }

    /// It goes at the end of this training while the others go on.
    virtual bool leaves() const AKO_COMPUTE_THREAD { return false; }

    /// This peer makes no more rounds, and the others go on: brings them what they lack of what it
    /// had made. True once they have it, or there is nobody, or a mode that cannot.
    virtual bool step_hand_over(Time) AKO_COMPUTE_THREAD { return true; }

    /// The parameters to evaluate and to save, once all of them are settled.
    virtual void copy_parameters(std::span<float> out) const AKO_COMPUTE_THREAD = 0;
    virtual Standing standing() const AKO_COMPUTE_THREAD = 0;
    virtual LinkView link(PeerIndex peer, Time now) const AKO_COMPUTE_THREAD = 0;
    /// What is known of the others; null for a mode that sends nothing.
    virtual const Roster* peers() const AKO_COMPUTE_THREAD { return nullptr; }

    /// As Exchange::save, once all parameters are settled.
    virtual bool save(Checkpoint&) AKO_COMPUTE_THREAD { return false; }
    virtual void tell_checkpoints(const CheckpointNews&) AKO_COMPUTE_THREAD {}
    /// The checkpoint that it has gone on from, once it has, and one time; else null.
    std::shared_ptr<const Checkpoint> take_restored() AKO_COMPUTE_THREAD {
        return std::exchange(restored_, nullptr);
    }

    /// Does a round wait for what others send (ring, parameter server, local SGD)? Then it has to
    /// be settled, and `newest_sign_at` is when this peer last saw that the others get on; 0 before
    /// the first time.
    virtual bool waits_for_others() const AKO_COMPUTE_THREAD { return false; }
    virtual Time newest_sign_at() const AKO_COMPUTE_THREAD { return Time{0}; }

    /// Goes on with the final exchange; true when it is over. `hurried`: somebody waits for this
    /// process to end.
    virtual bool step_finish(Time now, bool hurried) AKO_COMPUTE_THREAD = 0;
    /// After that. `out` [parameter_count] gets the parameters; empty for a peer that only serves.
    virtual FinishReport report(std::span<float> out, Time now) AKO_COMPUTE_THREAD = 0;

  protected:
    std::shared_ptr<const Checkpoint> restored_;  ///< until it is taken
};

/// What a mode sends. Network thread only, but for what says otherwise. Called by Links, which does
/// what all modes share.
class TrafficHalf {
  public:
    virtual ~TrafficHalf() = default;

    // Sending.
    /// What goes before a Status.
    virtual std::optional<OutFrame> next_control(PeerIndex) AKO_NETWORK_THREAD {
        return std::nullopt;
    }
    /// As TransportHost::next.
    virtual std::optional<OutFrame> next(PeerIndex peer,
                                         std::size_t payload_bytes_max) AKO_NETWORK_THREAD = 0;
    /// As TransportHost::unsent_payloads.
    virtual double unsent_payloads() const AKO_NETWORK_THREAD { return 0.5; }
    /// A Status whose content is news goes out at most so often, and without news with the
    /// heartbeat; the longest time: news wait for the heartbeat as well.
    virtual Time news_interval() const AKO_NETWORK_THREAD { return Time::max(); }
    /// Only the newest Status of a peer counts: what was not taken in yet may be replaced.
    virtual bool newest_status_counts() const AKO_NETWORK_THREAD { return true; }
    /// The peer to blame for this peer's leaving, if any: this peer's Bye names it.
    virtual std::optional<PeerIndex> because_of() const AKO_NETWORK_THREAD { return std::nullopt; }

    // Receiving.
    /// As TransportHost::refuse.
    virtual std::optional<std::string> refuse(PeerIndex peer, const Header& header,
                                              std::size_t bytes) AKO_NETWORK_THREAD = 0;
    /// As TransportHost::reserve, for frames with a payload only.
    virtual std::optional<Destination> reserve(PeerIndex peer, const Header& header,
                                               std::size_t bytes) AKO_NETWORK_THREAD = 0;
    /// Returns what goes to the compute half with the header.
    virtual PooledBuffer arrived(PeerIndex peer, const Header& header, Destination destination,
                                 Time arrived_at) AKO_NETWORK_THREAD = 0;
    virtual void abandoned(PeerIndex, Destination) AKO_NETWORK_THREAD {}

    // Sessions. As in TransportHost; `left`: it had said Bye.
    virtual std::optional<Reject> admit(PeerIndex peer, const Hello& hello) AKO_NETWORK_THREAD = 0;
    virtual void session_up(PeerIndex, const Hello&) AKO_NETWORK_THREAD {}
    virtual void session_down(PeerIndex peer, const std::string& why, Time silence,
                              bool left) AKO_NETWORK_THREAD = 0;
    virtual void peer_lost(PeerIndex, const std::string&) AKO_NETWORK_THREAD {}

    /// What the compute half has said since: `own` is this peer's newest Status.
    struct Word {
        const Status& own;
        bool started = false;  ///< the first round has begun here
        bool broken = false;   ///< the exchange cannot go on
        bool closing = false;  ///< nothing but goodbye any more
    };
    virtual void poll(const Word& word, Time now) AKO_NETWORK_THREAD = 0;

    /// Any thread. See LinkSchedule; 0: not known.
    virtual double observed_partitions(PeerIndex) const { return 0; }
};

/// The two, with what they share.
class Halves {
  public:
    virtual ~Halves() = default;
    virtual ComputeHalf& compute() = 0;
    /// Null for a mode that sends nothing.
    virtual TrafficHalf* traffic() = 0;
};

}  // namespace ako
