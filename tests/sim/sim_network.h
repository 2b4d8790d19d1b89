// The network of the simulator: sessions between all pairs of processes, with rate, delay, loss,
// reordering, damage, cuts, one-way silence and processes that stand still. A lost frame ends its
// session, as with TCP. Payloads are read from the sender's memory when the last byte leaves, so
// that a buffer reused too early shows as damaged data. Any byte is a sign of life, so a frame that
// is still on its way is one; a session without any for the life time-out ends.
//
// A name (PeerIndex) may have several processes, one after the other or even at once; an *end* is
// one of them. Each runs at a *place*: that of its name, where the others dial it, or one of its
// own. What breaks, breaks between places: a process that begins where another died has the same
// broken links. A peer has at most one session with all processes of another name.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ako/blocks.h"
#include "ako/transport.h"
#include "tests/sim/coverage.h"
#include "tests/sim/world.h"

namespace ako::sim {

/// One direction between two names.
struct LinkQuality {
    double bytes_per_second = 1e6;
    Time delay = ms(1);
    double loss = 0;     ///< probability that a frame is lost, which ends the session
    double reorder = 0;  ///< probability that a Partial is late or doubled (more than TCP would do)
    double flipped_bit = 0;     ///< probability that a Partial's payload comes with one bit changed
    double not_finite = 0;      ///< and that its owner's own values are infinite
    double damaged_header = 0;  ///< probability that a header does not match its checksum
};

/// A process, by the order in which they began.
using EndIndex = std::size_t;

class SimNetwork;

/// The transport of one process; forwards to the network.
class SimTransport final : public Transport {
  public:
    SimTransport(SimNetwork& network, PeerIndex self, const Clock& clock,
                 std::uint64_t process_id = 0)
        : network_(network), self_(self), clock_(clock), process_id_(process_id) {}
    /// Before it starts: it runs at a place of its own, and not at that of its name.
    void move_elsewhere() { elsewhere_ = true; }
    /// Nothing before it has started.
    std::optional<EndIndex> end() const { return end_; }

    /// The process begins.
    void start(TransportHost& host) override;
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
    bool elsewhere_ = false;
    std::optional<EndIndex> end_;
};

class SimNetwork {
  public:
    SimNetwork(World& world, Random& random, std::size_t peer_count, Time life_timeout);

    /// What happens is counted there. `arrived` sees every header that arrives, and `leaves` every
    /// header of which the last byte leaves. What is sent is compared with its checksums.
    using Leaves = std::function<void(EndIndex from, const Header&)>;
    using Arrived = std::function<void(EndIndex from, EndIndex to, const Header&)>;
    void watch(Coverage& coverage, const Blocks& blocks, Leaves leaves, Arrived arrived) {
        blocks_ = blocks;
        coverage_ = &coverage;
        leaves_ = std::move(leaves);
        arrived_ = std::move(arrived);
    }

    LinkQuality& quality(PeerIndex from, PeerIndex to) {
        return qualities_[from * peer_count_ + to];
    }
    /// Bytes of the payloads given out are limited to so many blocks of so many bytes.
    void set_payload_max(std::size_t bytes) { payload_max_ = bytes; }
    /// What every frame has beside its payload; at first about a Partial's header on the wire.
    void set_header_bytes(std::size_t bytes) { header_bytes_ = bytes; }

    // ---- processes

    struct Process {
        TransportHost* host = nullptr;
        const Clock* clock = nullptr;
        std::uint64_t id = 0;  ///< 0: one more than the place of its name
        bool elsewhere = false;
    };
    EndIndex attach(PeerIndex name, Process process);
    PeerIndex name_of(EndIndex end) const { return ends_[end].name; }
    /// The newest of this name that has begun.
    std::optional<EndIndex> newest(PeerIndex name) const { return newest_[name]; }
    /// The whole process stands still until then, both halves of it; its sockets stay.
    void pause(EndIndex end, Time until);
    /// If the process stands still: does `what` once it runs again, and returns true.
    bool postpone(EndIndex end, std::function<void()> what);
    /// The process ends: at once visible to others (reset), or silent, as with its machine, until
    /// the life time-out.
    void kill(EndIndex end, bool silent);
    /// The process is there; it may stand still.
    bool lives(EndIndex end) const { return ends_[end].alive && !ends_[end].silent; }
    /// With which process of this name it has a session.
    std::optional<EndIndex> partner(EndIndex end, PeerIndex name) const;
    /// A session between the two stands.
    bool joined(EndIndex a, EndIndex b) const { return pair(a, b).up; }
    /// Its number in the order of all sessions of the two; counts what ended.
    std::uint64_t session(EndIndex a, EndIndex b) const { return pair(a, b).epoch; }

    // ---- what breaks, at the places where the newest processes of these names run

    /// Sessions between these can not stand until then (both directions).
    void cut(PeerIndex a, PeerIndex b, Time until);
    /// Nothing arrives from `from` at `to` until then, while the other direction works: what is
    /// sent comes after that if the session still stands.
    void silence(PeerIndex from, PeerIndex to, Time until);
    /// Neither is cut or silenced.
    bool whole(PeerIndex a, PeerIndex b) const;

    /// Would a dial reach the place of this name, and find that nobody listens there?
    bool refuses(PeerIndex peer, EndIndex dialler) const;
    bool said_bye(EndIndex from, EndIndex to) const { return link(from, to).said_bye; }
    /// When the newest session of the two came up.
    Time session_began(EndIndex a, EndIndex b) const { return pair(a, b).up_at; }

    /// Forgets all frames under way, which point into the peers.
    void drop_all() { links_.clear(); }

    void pump(EndIndex from, EndIndex to);
    void poll(EndIndex end);

    std::uint64_t frames_delivered() const { return frames_delivered_; }
    /// The payloads of whole frames only.
    std::uint64_t bytes_delivered(PeerIndex from, PeerIndex to) const {
        return bytes_delivered_[from * peer_count_ + to];
    }
    /// Complaints of hosts: no peer of ours ever earns one.
    const std::vector<std::string>& refusals() const { return refusals_; }
    std::size_t peer_count() const { return peer_count_; }

  private:
    friend class SimTransport;

    struct Delivery {
        Header header;
        std::vector<std::byte> payload;
    };
    /// One direction between two ends.
    struct Link {
        std::optional<OutFrame> sending;
        std::vector<std::byte> aside;
        Time last_arrival{0};
        std::deque<Delivery> stalled;   ///< at the receiver, which has no room or stands still
        std::deque<Delivery> silenced;  ///< on the way, until the silence is over
        Time heard_at{0};               ///< by the receiver
        bool said_bye = false;
        bool told_lost = false;
        bool ever_up = false;
    };
    struct Pair {
        bool up = false;
        bool refused = false;  ///< a frame was: what follows is not read
        std::uint64_t epoch = 0;
        Time up_at{0};
    };
    using Place = std::size_t;
    struct End : Process {
        PeerIndex name = 0;
        Place place = 0;
        bool alive = true;
        bool silent = false;  ///< its process is over, and nobody has noticed yet
        bool paused = false;
        Time paused_at{0};
        std::vector<std::function<void()>> postponed;
    };

    Link& link(EndIndex from, EndIndex to) { return links_[from][to]; }
    const Link& link(EndIndex from, EndIndex to) const { return links_[from][to]; }
    Pair& pair(EndIndex a, EndIndex b) { return pairs_[std::max(a, b)][std::min(a, b)]; }
    const Pair& pair(EndIndex a, EndIndex b) const {
        return pairs_[std::max(a, b)][std::min(a, b)];
    }
    const LinkQuality& quality_of(EndIndex from, EndIndex to) const {
        return qualities_[name_of(from) * peer_count_ + name_of(to)];
    }
    void count(Event event) {
        if (coverage_ != nullptr) coverage_->saw(event);
    }
    bool strangers(EndIndex a, EndIndex b) const { return name_of(a) != name_of(b); }
    bool runs(EndIndex end) const { return lives(end) && !ends_[end].paused; }
    bool cut_off(Place a, Place b) const;
    bool silenced(Place from, Place to) const;
    bool silenced_ends(EndIndex from, EndIndex to) const {
        return silenced(ends_[from].place, ends_[to].place);
    }
    void connect(EndIndex a, EndIndex b);
    Hello hello_of(EndIndex end) const;
    /// Both let the other in.
    bool admitted(EndIndex a, EndIndex b);
    /// After a damaged block: refused by right. Ends the session.
    bool refused_by_right(EndIndex from, EndIndex to, const std::string& complaint);
    void end_session(EndIndex a, EndIndex b, const std::string& why);
    void tell_down(EndIndex at, EndIndex other, const std::string& why);
    void check_life(EndIndex at);
    void check_lost(EndIndex at, EndIndex other);
    void resume_process(EndIndex end);
    void end_silence(EndIndex from, EndIndex to);
    void lose(EndIndex from, EndIndex to, const Delivery& delivery);
    /// Is what leaves what its owner made? Throws Violation.
    void check_intact(EndIndex from, const Delivery& delivery) const;
    bool intact(const Partial& partial, std::span<const std::byte> payload) const;
    void harm(EndIndex from, EndIndex to, Delivery& delivery);
    void sent(EndIndex from, EndIndex to, std::uint64_t epoch);
    void deliver(EndIndex from, EndIndex to, std::uint64_t epoch, Delivery delivery);
    bool hand_over(EndIndex from, EndIndex to, Delivery& delivery);
    void resume(EndIndex at, EndIndex from);
    void copy_aside(EndIndex from, EndIndex to);

    World& world_;
    Random& random_;
    const std::size_t peer_count_;
    const Time life_timeout_;
    std::size_t payload_max_ = 64;
    std::size_t header_bytes_ = 64;
    std::vector<LinkQuality> qualities_;                    ///< [from * n + to]
    std::vector<bool> flipped_;                             ///< [from * n + to]: a bit was, ever
    std::vector<std::uint64_t> bytes_delivered_;            ///< [from * n + to]
    std::vector<std::optional<EndIndex>> newest_;           ///< [name]
    std::vector<Place> places_;                             ///< [name]: of its newest process
    std::map<std::pair<Place, Place>, Time> cut_until_;     ///< the lower place first
    std::map<std::pair<Place, Place>, Time> silent_until_;  ///< from, to
    std::vector<bool> vanished_;  ///< [place]: its machine did, and nobody refuses a dial there
    std::deque<End> ends_;
    std::deque<std::deque<Link>> links_;  ///< [from][to]
    std::deque<std::deque<Pair>> pairs_;  ///< [the later][the earlier]
    std::uint64_t frames_delivered_ = 0;
    std::vector<std::string> refusals_;
    Coverage* coverage_ = nullptr;
    std::optional<Blocks> blocks_;  ///< none: not compared
    Leaves leaves_;
    Arrived arrived_;
};

}  // namespace ako::sim
