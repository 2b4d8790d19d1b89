// A peer for tests: a real TcpTransport on port 0, which records as its host what the
// transport asks and says, and does what the test tells it.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ako/clock.h"
#include "ako/transport.h"
#include "net/tcp_transport.h"

namespace ako::test {

inline constexpr auto patience = std::chrono::seconds(20);

inline const Clock& steady_clock() {
    static const SteadyClock clock;
    return clock;
}

/// A frame that arrived, with a copy of its payload and where it was read to.
struct Received {
    PeerIndex from = 0;
    Header header;
    std::vector<std::byte> payload;
    const std::byte* memory = nullptr;    ///< of the Destination as it came back
    const std::byte* reserved = nullptr;  ///< of the buffer that reserve gave
};

/// What has happened to a peer so far.
struct Seen {
    std::vector<Received> received;
    std::uint64_t received_count = 0;  ///< instead of `received`, if keep_received is false
    std::map<PeerIndex, int> ups;
    std::vector<std::pair<PeerIndex, std::string>> downs;
    std::vector<Time> silences;  ///< before each of them
    std::vector<std::pair<PeerIndex, std::string>> losses;
    std::vector<Time> lost_at;
    int abandoned_count = 0;
    int buffers_held = 0;  ///< reserved, and neither arrived nor abandoned
    int refused_room = 0;  ///< times that reserve said "no room"
    int given = 0;         ///< frames given out
    int released = 0;      ///< frames given out whose buffer was let go of, as of the newest poll
    int asked = 0;         ///< times that next() was called
    int polls = 0;
};

/// Its thread-safe parts: wait(), seen(), tell(), send(), run(). Conditions given to wait() read
/// the members of Seen directly; everything else reads a copy, seen().
class FakePeer final : public TransportHost, public Seen {
  public:
    explicit FakePeer(TransportSettings settings, const Clock& clock = steady_clock())
        : clock_(clock) {
        settings.log = [this](const std::string& line) {
            const std::lock_guard lock(mutex_);
            log_.push_back(line);
            changed_.notify_all();
        };
        settings.detail = settings.log;
        transport_ = std::make_unique<TcpTransport>(std::move(settings), clock_);
        transport_->bind();
    }
    ~FakePeer() override { transport_->stop(Time{0}); }

    TcpTransport& transport() { return *transport_; }
    std::string address() const { return "127.0.0.1:" + std::to_string(transport_->port()); }
    void start() { transport_->start(*this); }
    Time now() const { return clock_.now(); }

    /// Waits until `condition` holds, which may use all that follows; false after 20 s.
    template <class Condition>
    bool wait(Condition condition, std::chrono::milliseconds limit = patience) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, limit, condition);
    }

    Seen seen() {
        const std::lock_guard lock(mutex_);
        return *this;
    }

    /// Any thread: a frame for this peer; `payload` must outlive its sending.
    void send(PeerIndex peer, Header header, std::span<const std::byte> payload = {}) {
        {
            const std::lock_guard lock(mutex_);
            outbox_[peer].push_back({std::move(header), payload});
        }
        transport_->notify();
    }
    /// Any thread: forgets the frames that were not asked for yet; how many were given out.
    std::size_t forget_outbox() {
        const std::lock_guard lock(mutex_);
        outbox_.clear();
        return static_cast<std::size_t>(given);
    }
    /// Any thread: have this run on the network thread.
    void run(std::function<void()> work) {
        {
            const std::lock_guard lock(mutex_);
            work_.push_back(std::move(work));
        }
        transport_->notify();
    }

    bool logged(const std::string& part) const { return logged_count(part) > 0; }
    /// In how many lines. Under wait()'s lock, or once nothing is logged any more.
    std::ptrdiff_t logged_count(const std::string& part) const {
        return std::count_if(log_.begin(), log_.end(), [&](const std::string& line) {
            return line.find(part) != std::string::npos;
        });
    }

    // Told by the test, before start() or under wait()'s lock.
    bool has_room = true;
    std::string complaint;  ///< what refuse says to every header
    std::optional<Reject> no_admittance;
    std::span<const std::byte> endless;  ///< what next() gives when the outbox is empty
    bool ask_again = true;               ///< whether poll() wakes the links of a filled outbox

    template <class Change>
    void tell(Change change) {
        const std::lock_guard lock(mutex_);
        change();
    }

    std::optional<OutFrame> next(PeerIndex peer, std::size_t payload_bytes_max) override {
        const std::lock_guard lock(mutex_);
        ++asked;
        auto& outbox = outbox_[peer];
        OutFrame frame;
        if (!outbox.empty()) {
            frame.header = std::move(outbox.front().header);
            frame.payload = outbox.front().payload;
            outbox.pop_front();
        } else if (!endless.empty()) {
            frame.header = Partial{};
            frame.payload = endless.first(std::min(endless.size(), payload_bytes_max));
        } else {
            return std::nullopt;
        }
        ++given;
        frame.keeps_alive = BufferRef([this] {
            const std::lock_guard lock_again(release_mutex_);
            ++released_now_;
        });
        return frame;
    }

    std::optional<std::string> refuse(PeerIndex, const Header&, std::size_t) override {
        const std::lock_guard lock(mutex_);
        if (complaint.empty()) return std::nullopt;
        return complaint;
    }
    std::optional<Destination> reserve(PeerIndex, const Header&, std::size_t bytes) override {
        const std::lock_guard lock(mutex_);
        if (!has_room) {
            ++refused_room;
            changed_.notify_all();
            return std::nullopt;
        }
        auto& buffer = buffers_[++ticket_];
        buffer.resize(bytes);
        ++buffers_held;
        return Destination{buffer, ticket_};
    }
    void arrived(PeerIndex peer, Header header, Destination destination, Time) override {
        const std::lock_guard lock(mutex_);
        if (keep_received)
            received.push_back({peer, std::move(header), buffers_.at(destination.ticket),
                                destination.memory.data(), buffers_.at(destination.ticket).data()});
        else
            ++received_count;
        buffers_.erase(destination.ticket);
        --buffers_held;
        changed_.notify_all();
    }
    void abandoned(PeerIndex, Destination destination) override {
        const std::lock_guard lock(mutex_);
        buffers_.erase(destination.ticket);
        --buffers_held;
        ++abandoned_count;
        changed_.notify_all();
    }
    std::optional<Reject> admit(PeerIndex, const Hello&) override {
        const std::lock_guard lock(mutex_);
        return no_admittance;
    }
    void session_up(PeerIndex peer, const Hello&) override {
        const std::lock_guard lock(mutex_);
        ++ups[peer];
        changed_.notify_all();
    }
    void session_down(PeerIndex peer, const std::string& why, Time silence) override {
        const std::lock_guard lock(mutex_);
        downs.push_back({peer, why});
        silences.push_back(silence);
        changed_.notify_all();
    }
    void peer_lost(PeerIndex peer, const std::string& why) override {
        const std::lock_guard lock(mutex_);
        losses.push_back({peer, why});
        lost_at.push_back(clock_.now());
        changed_.notify_all();
    }
    void poll(Time) override {
        std::vector<std::function<void()>> work;
        std::vector<PeerIndex> awake;
        {
            const std::lock_guard lock(mutex_);
            ++polls;
            work.swap(work_);
            for (const auto& [peer, outbox] : outbox_)
                if (!outbox.empty() && ask_again) awake.push_back(peer);
            const std::lock_guard lock_too(release_mutex_);
            released = released_now_;
            changed_.notify_all();
        }
        for (const PeerIndex peer : awake) transport_->wake(peer);
        for (const auto& item : work) item();
    }

    bool keep_received = true;

  private:
    struct Queued {
        Header header;
        std::span<const std::byte> payload;
    };

    const Clock& clock_;
    std::mutex mutex_;
    std::mutex release_mutex_;
    std::condition_variable changed_;
    std::map<PeerIndex, std::deque<Queued>> outbox_;
    std::vector<std::function<void()>> work_;
    std::map<std::uint64_t, std::vector<std::byte>> buffers_;
    std::uint64_t ticket_ = 0;
    int released_now_ = 0;
    std::vector<std::string> log_;
    std::unique_ptr<TcpTransport> transport_;
};

/// The settings of peer `self` of `count` peers named p0, p1, ...; every other peer's address is a
/// port on which nobody listens, until set_peer_address.
inline TransportSettings make_settings(PeerIndex self, std::size_t count = 2) {
    TransportSettings settings;
    settings.self = self;
    settings.hello.run_name = "a test";
    settings.hello.training_digest.fill(1);
    settings.hello.layout_digest.fill(2);
    settings.hello.initial_digest.fill(3);
    settings.hello.process_id = 1000 + self;
    // These peers send no heartbeats; the tests of life set their own time-out.
    settings.life_timeout_ms = 60'000;
    for (std::size_t peer = 0; peer < count; ++peer)
        settings.peers.push_back(
            {std::string("p").append(std::to_string(peer)), "127.0.0.1:1", "127.0.0.1:0"});
    settings.hello.peer_name = settings.peers[self].name;
    return settings;
}

/// Two peers that know each other's ports, not yet started.
struct Pair {
    explicit Pair(TransportSettings first = make_settings(0),
                  TransportSettings second = make_settings(1))
        : a(std::move(first)), b(std::move(second)) {
        a.transport().set_peer_address(1, b.address());
        b.transport().set_peer_address(0, a.address());
    }
    bool up() {
        a.start();
        b.start();
        return a.wait([&] { return a.ups[1] > 0; }) && b.wait([&] { return b.ups[0] > 0; });
    }
    FakePeer a;
    FakePeer b;
};

/// Bytes that differ from place to place.
inline std::vector<std::byte> pattern(std::size_t bytes, unsigned seed = 0) {
    std::vector<std::byte> result(bytes);
    std::uint32_t state = 2463534242U + seed;
    for (std::byte& value : result) {
        state = state * 1664525U + 1013904223U;
        value = static_cast<std::byte>(state >> 24);
    }
    return result;
}

}  // namespace ako::test
