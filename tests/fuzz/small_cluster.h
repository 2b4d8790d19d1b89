// A cluster in one process, without sockets, threads and time of its own: the real exchanges of a
// few peers, and between them wires that hand over every frame as net/session.h would: first its
// header is judged, then it is given a place, then its payload comes, and a complaint ends the
// session. One of the peers is a liar: what its own exchange says goes through somebody who changes
// it, and he may say more. One thread.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/exchange/coverage.h"
#include "src/exchange/mode_exchange.h"
#include "tests/fakes/hand_clock.h"
#include "tests/fuzz/lies.h"

namespace ako::test {

class SmallCluster;

/// What all of a cluster are told, and how one of them begins.
struct Plan {
    ModeSettings settings;  ///< of every peer, but for `self`
    std::size_t parameter_count = 0;
    bool same_initial = true;      ///< else every peer brings others
    std::size_t portions = 0;      ///< with `data.sharding: elastic`
    bool gives_updates = false;    ///< of learners, or an optimizer of its own
    std::size_t payload_max = 32;  ///< bytes of one frame
};

/// The transport of one member.
class Wires final : public Transport {
  public:
    Wires(SmallCluster& cluster, PeerIndex self) : cluster_(cluster), self_(self) {}

    void start(TransportHost& host) override;
    void notify() override { notified_ = true; }
    void wake(PeerIndex peer) override { woken_ |= peer_bit(peer); }
    void resume(PeerIndex peer) override { resumed_ |= peer_bit(peer); }
    void copy_aside(PeerIndex) override {}  // no frame stays in a buffer of the exchange
    std::vector<LinkCounters> counters() const override;
    void stop(Time) override;

  private:
    friend class SmallCluster;
    SmallCluster& cluster_;
    const PeerIndex self_;
    TransportHost* host_ = nullptr;
    bool notified_ = false;
    PeerSet woken_ = 0;    ///< the host may have something for them
    PeerSet resumed_ = 0;  ///< the host may have room for what comes of them
};

/// One peer: its exchange, taken step by step through its rounds and to its end.
class FuzzedMember {
  public:
    FuzzedMember(SmallCluster& cluster, const Plan& plan, PeerIndex self);

    /// The next step of its compute thread.
    void step();
    bool over() const { return state_ == State::over; }
    const std::optional<FinishReport>& report() const { return report_; }
    const std::string& why() const { return why_; }
    ModeExchange& exchange() { return exchange_; }
    const Halves& halves() const { return *halves_; }
    Halves& halves() { return *halves_; }
    PeerIndex self() const { return settings_.self; }

  private:
    enum class State { begins, awaits, gives, finishes, over };

    ModeSettings settings_of(const Plan& plan, PeerIndex self);
    void begin();
    void give();
    void finish();
    void make_gradient();

    SmallCluster& cluster_;
    const bool gives_updates_;
    const std::vector<float> initial_;
    std::unique_ptr<Coverage> coverage_;
    const ModeSettings settings_;
    Wires wires_;
    const std::atomic<int> interrupts_ = 0;
    Mailbox* mailbox_ = nullptr;  ///< of the exchange, as the halves
    Halves* halves_ = nullptr;
    ModeExchange exchange_;

    State state_ = State::begins;
    std::size_t samples_ = 0;
    std::vector<float> gradient_;
    std::vector<float> parameters_;
    std::optional<FinishReport> report_;
    std::string why_;

    friend class SmallCluster;
};

class SmallCluster {
  public:
    /// What becomes of a frame of the liar: nothing, itself, something else, or more.
    using Says = std::function<std::vector<Frame>(PeerIndex to, Frame honest)>;
    /// Everybody's frames before they are judged.
    using Hears = std::function<void(PeerIndex from, PeerIndex to, const Frame& frame)>;

    SmallCluster(const Plan& plan, PeerIndex liar, Says says, Hears hears);
    ~SmallCluster();

    /// All do what they have to, once, and then so much time passes.
    void tick(Time takes);
    std::size_t size() const { return members_.size(); }
    FuzzedMember& operator[](PeerIndex peer) { return *members_[peer]; }
    bool honest_are_over() const;

    // What the liar may do beside.
    void say(PeerIndex to, Frame frame);
    void reset(PeerIndex other);
    /// Its next session is one of another process.
    void take_another_process() { process_ids_[liar_] += members_.size(); }
    /// Its process dies.
    void go();

    // What may happen to anybody.
    /// The payload that comes next on this wire takes its time.
    void hold_payload(PeerIndex from, PeerIndex to) { link(from, to).holds = true; }
    /// The compute thread of a peer does nothing for so many ticks.
    void stand_still(PeerIndex peer, unsigned ticks) { stands_[peer] = ticks; }
    /// A peer takes nothing from another for so many ticks.
    void stop_reading(PeerIndex from, PeerIndex to, unsigned ticks) {
        link(from, to).unread = ticks;
    }

  private:
    friend class Wires;
    friend class FuzzedMember;

    /// A frame of which the payload is still coming.
    struct Reading {
        Frame frame;
        Destination destination;
    };
    /// One direction.
    struct Link {
        std::deque<Frame> waiting;  ///< for room at the receiver
        std::optional<Reading> reading;
        Time heard_at{0};
        bool holds = false;
        unsigned unread = 0;
        bool said_bye = false;
        bool told_lost = false;
        bool met = false;
    };

    Link& link(PeerIndex from, PeerIndex to) { return links_[from * members_.size() + to]; }
    bool& up(PeerIndex a, PeerIndex b) { return up_[std::min(a, b) * size() + std::max(a, b)]; }
    bool listens(PeerIndex peer) const { return wires(peer).host_ != nullptr; }
    Wires& wires(PeerIndex peer) { return members_[peer]->wires_; }
    const Wires& wires(PeerIndex peer) const { return members_[peer]->wires_; }

    void connect_all();
    void connect(PeerIndex a, PeerIndex b);
    void end_session(PeerIndex a, PeerIndex b, const std::string& why);
    void look_for_silence(PeerIndex from, PeerIndex to);
    /// Until nothing moves any more.
    void pump();
    bool pump(PeerIndex from, PeerIndex to);
    bool take(PeerIndex from, PeerIndex to);
    void receive(PeerIndex from, PeerIndex to, Frame frame);
    /// False if there is no room for it.
    bool place(PeerIndex from, PeerIndex to, Frame& frame);
    void arrive(PeerIndex from, PeerIndex to);
    /// A member waits within a call of its exchange.
    void pass_while_waiting(PeerIndex waits);
    void end(PeerIndex member);

    const PeerIndex liar_;
    const Says says_;
    const Hears hears_;
    const Time life_timeout_;
    const std::size_t payload_max_;
    HandClock clock_;
    std::vector<std::uint64_t> process_ids_;
    std::vector<std::unique_ptr<FuzzedMember>> members_;
    std::vector<Link> links_;
    std::deque<bool> up_;  ///< [lower * n + higher]: a session stands
    std::vector<unsigned> stands_;
    bool closed_ = false;  ///< all of it is over
};

}  // namespace ako::test
