// The network of the simulator: sessions between all pairs, with rate, delay, loss, reordering,
// damage, cuts, one-way silence and processes that stand still. A lost frame ends its session, as
// with TCP. Payloads are read from the sender's memory when the last byte leaves, so that a buffer
// reused too early shows as damaged data. Any byte is a sign of life, so a frame that is still on
// its way is one; a session without any for the life time-out ends.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ako/transport.h"
#include "tests/sim/coverage.h"
#include "tests/sim/world.h"

namespace ako::sim {

/// One direction of one pair.
struct LinkQuality {
    double bytes_per_second = 1e6;
    Time delay = ms(1);
    double loss = 0;     ///< probability that a frame is lost, which ends the session
    double reorder = 0;  ///< probability that a Partial is late or doubled (more than TCP would do)
    double flipped_bit = 0;     ///< probability that a Partial's payload comes with one bit changed
    double not_finite = 0;      ///< and that its owner's own values are infinite
    double damaged_header = 0;  ///< probability that a header does not match its checksum
};

class SimNetwork;

/// The transport of one peer; forwards to the network.
class SimTransport final : public Transport {
  public:
    SimTransport(SimNetwork& network, PeerIndex self, const Clock& clock,
                 std::uint64_t process_id = 0)
        : network_(network), self_(self), clock_(clock), process_id_(process_id) {}
    /// The process begins.
    void start(FrameSource& source, FrameSink& sink) override;
    void notify() override;
    void wake(PeerIndex peer) override;
    void resume(PeerIndex peer) override;
    void copy_aside(PeerIndex peer) override;
    std::vector<LinkCounters> counters() const override;
    /// What is left to say is said in virtual time; then the test ends the process.
    void stop(Time) override {}

  private:
    SimNetwork& network_;
    const PeerIndex self_;
    const Clock& clock_;
    const std::uint64_t process_id_;
};

class SimNetwork {
  public:
    SimNetwork(World& world, Random& random, std::size_t peer_count, Time life_timeout);

    /// What happens is counted there, and `arrived` sees every header that arrives. Whole blocks
    /// are so long, so that what is sent can be compared with its checksums.
    using Watcher = std::function<void(PeerIndex from, PeerIndex to, const Header&)>;
    void watch(Coverage& coverage, std::size_t block_bytes, Watcher arrived) {
        block_bytes_ = block_bytes;
        coverage_ = &coverage;
        watcher_ = std::move(arrived);
    }

    LinkQuality& quality(PeerIndex from, PeerIndex to) { return link(from, to).quality; }
    /// Bytes of the payloads given out are limited to so many blocks of so many bytes.
    void set_payload_max(std::size_t bytes) { payload_max_ = bytes; }
    /// Of every frame beside its payload; at first about what a Partial's header takes on the wire.
    void set_header_bytes(std::size_t bytes) { header_bytes_ = bytes; }

    /// A process begins; the second under a peer's name with a `process_id` of its own.
    void attach(PeerIndex peer, FrameSource& source, FrameSink& sink, const Clock& clock,
                std::uint64_t process_id = 0);
    /// Sessions with this peer can not stand until then (both directions).
    void cut(PeerIndex a, PeerIndex b, Time until);
    /// Nothing arrives from `from` at `to` until then, while the other direction works: what is
    /// sent comes after that if the session still stands.
    void silence(PeerIndex from, PeerIndex to, Time until);
    /// The whole process stands still until then, both halves of it; its sockets stay.
    void pause(PeerIndex peer, Time until);
    /// If the process stands still: does `what` once it runs again, and returns true.
    bool postpone(PeerIndex peer, std::function<void()> what);
    bool said_bye(PeerIndex from, PeerIndex to) const { return link(from, to).said_bye; }
    /// When the newest session of the two came up.
    Time session_began(PeerIndex a, PeerIndex b) const { return pair(a, b).up_at; }
    /// The process ends: at once visible to others (reset), or silent until the life time-out.
    void kill(PeerIndex peer, bool silent);

    /// Would a dial reach the machine, and find that nobody listens there?
    bool refuses(PeerIndex peer, PeerIndex dialler) const;

    /// Forgets all frames under way, which point into the peers.
    void drop_all() { links_.clear(); }

    void pump(PeerIndex from, PeerIndex to);
    void resume(PeerIndex at, PeerIndex from);
    void copy_aside(PeerIndex from, PeerIndex to);
    void poll(PeerIndex peer);

    std::uint64_t frames_delivered() const { return frames_delivered_; }
    /// Of payload, whole frames only.
    std::uint64_t bytes_delivered(PeerIndex from, PeerIndex to) const {
        return links_[from * ends_.size() + to].bytes_delivered;
    }
    /// Complaints of sinks: no peer of ours ever earns one.
    const std::vector<std::string>& refusals() const { return refusals_; }
    std::size_t peer_count() const { return ends_.size(); }

  private:
    struct Delivery {
        Header header;
        std::vector<std::byte> payload;
    };
    struct Link {
        LinkQuality quality;
        std::optional<OutFrame> sending;
        std::vector<std::byte> aside;
        Time last_arrival{0};
        std::deque<Delivery> stalled;   ///< at the receiver, which has no room or stands still
        std::deque<Delivery> silenced;  ///< on the way, until the silence is over
        Time silent_until{0};
        Time heard_at{0};      ///< by the receiver
        bool flipped = false;  ///< a bit was, ever
        bool said_bye = false;
        bool told_lost = false;
        bool ever_up = false;
        std::uint64_t bytes_delivered = 0;
    };
    struct Pair {
        bool up = false;
        bool refused = false;  ///< a frame was: what follows is not read
        std::uint64_t epoch = 0;
        Time cut_until{0};
        Time up_at{0};
    };
    struct End {
        FrameSource* source = nullptr;
        FrameSink* sink = nullptr;
        const Clock* clock = nullptr;
        std::uint64_t process_id = 0;
        bool alive = false;
        bool silent = false;
        bool vanished = false;  ///< its machine did: nobody is there who would refuse a dial
        bool paused = false;
        Time paused_at{0};
        std::vector<std::function<void()>> postponed;
    };

    Link& link(PeerIndex from, PeerIndex to) { return links_[from * ends_.size() + to]; }
    const Link& link(PeerIndex from, PeerIndex to) const {
        return links_[from * ends_.size() + to];
    }
    void count(Event event) {
        if (coverage_ != nullptr) coverage_->saw(event);
    }
    Pair& pair(PeerIndex a, PeerIndex b) {
        return pairs_[std::min(a, b) * ends_.size() + std::max(a, b)];
    }
    const Pair& pair(PeerIndex a, PeerIndex b) const {
        return pairs_[std::min(a, b) * ends_.size() + std::max(a, b)];
    }
    /// The process is there; it may stand still.
    bool lives(PeerIndex peer) const { return ends_[peer].alive && !ends_[peer].silent; }
    bool runs(PeerIndex peer) const { return lives(peer) && !ends_[peer].paused; }
    bool silenced(PeerIndex from, PeerIndex to) const {
        return world_.now() < link(from, to).silent_until;
    }
    void connect(PeerIndex a, PeerIndex b);
    Hello hello_of(PeerIndex peer) const;
    /// Both let the other in.
    bool admitted(PeerIndex a, PeerIndex b);
    /// Of a row that two processes made, or after a damaged block: refused by right. Ends the
    /// session.
    bool refused_by_right(PeerIndex from, PeerIndex to, const std::string& complaint);
    void end_session(PeerIndex a, PeerIndex b, const std::string& why);
    void tell_down(PeerIndex at, PeerIndex peer, const std::string& why);
    void check_life(PeerIndex at);
    void check_lost(PeerIndex at, PeerIndex peer);
    void resume_process(PeerIndex peer);
    void end_silence(PeerIndex from, PeerIndex to);
    void lose(PeerIndex from, PeerIndex to, const Delivery& delivery);
    /// Is what leaves what its owner made? Throws Violation.
    void check_intact(PeerIndex from, const Delivery& delivery) const;
    void harm(Link& direction, Delivery& delivery);
    void sent(PeerIndex from, PeerIndex to, std::uint64_t epoch);
    void deliver(PeerIndex from, PeerIndex to, std::uint64_t epoch, Delivery delivery);
    bool hand_over(PeerIndex from, PeerIndex to, Delivery& delivery);

    World& world_;
    Random& random_;
    const Time life_timeout_;
    std::size_t payload_max_ = 64;
    std::size_t header_bytes_ = 64;
    std::vector<End> ends_;
    std::vector<Link> links_;
    std::vector<Pair> pairs_;
    std::uint64_t frames_delivered_ = 0;
    std::vector<std::string> refusals_;
    bool second_life_ = false;  ///< a process began under a name that had one
    Coverage* coverage_ = nullptr;
    std::size_t block_bytes_ = 0;  ///< 0: not compared
    Watcher watcher_;
};

}  // namespace ako::sim
