// The seam between the algorithm and the wire. The transport owns sessions, sockets, pacing and the
// network thread; it *pulls*: it asks its host for a frame exactly when a link can take one, so
// that nothing waits in a queue growing stale. All calls to TransportHost come from the network
// thread, and so must all calls to Transport except those marked "any thread".
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ako/clock.h"
#include "ako/frame.h"
#include "ako/types.h"

namespace ako {

/// So long a look-up and each address that it finds have to answer. A connection whose first packet
/// is lost comes up after a second, when that is sent again; a machine that is off should cost the
/// others little.
inline constexpr Time dial_timeout = std::chrono::seconds(3);

/// Keeps a buffer alive while a frame points into it; calls `release` once, when it dies.
/// Move-only; network thread only.
class BufferRef {
  public:
    BufferRef() = default;
    explicit BufferRef(std::function<void()> release) : release_(std::move(release)) {}
    BufferRef(BufferRef&& other) noexcept : release_(std::exchange(other.release_, nullptr)) {}
    BufferRef& operator=(BufferRef&& other) noexcept {
        if (this != &other) {
            reset();
            release_ = std::exchange(other.release_, nullptr);
        }
        return *this;
    }
    ~BufferRef() { reset(); }

    void reset() {
        if (auto release = std::exchange(release_, nullptr)) release();
    }

  private:
    std::function<void()> release_;
};

/// A frame to send: the payload is sent from where it lies.
struct OutFrame {
    Header header;
    std::span<const std::byte> payload;
    BufferRef keeps_alive;
};

/// Where the payload of an arriving frame is read into, and the receiver's own number for it.
struct Destination {
    std::span<std::byte> memory;
    std::uint64_t ticket = 0;
};

/// The process at this end, as the transport sees it: it is asked "what next for this peer?", is
/// handed what arrives, and is told how the peers come and go. Every accepted `reserve` is followed
/// by exactly one `arrived` or `abandoned`.
class TransportHost {
  public:
    virtual ~TransportHost() = default;

    // Sending.
    /// The next frame for `peer`, its payload at most `payload_bytes_max` (now and then longer,
    /// where that is known only once it is coded), or nothing until the next `wake(peer)`. The
    /// transport asks only while it has a session with `peer` that can take a frame; a frame given
    /// out is either sent whole or dies with its session.
    virtual std::optional<OutFrame> next(PeerIndex peer, std::size_t payload_bytes_max) = 0;

    /// How much may lie unsent in the kernel when the next frame is asked for, as a multiple of
    /// `payload_bytes_max`. Little: what is sent was chosen just before. Much: the link stays full
    /// while this process does not get the processor. Constant; network thread.
    virtual double unsent_payloads() const { return 0.5; }

    // Receiving.
    /// Is something wrong with this header, from this peer and with so much payload? Then the text
    /// of the complaint: the session ends with it as its reason. Asked once per frame, before
    /// `reserve`.
    virtual std::optional<std::string> refuse(PeerIndex peer, const Header& header,
                                              std::size_t bytes) = 0;
    /// Room for a frame with `bytes` of payload (0: a frame without one). nullopt means "no room":
    /// the transport stops reading this session until `resume(peer)` and then asks again.
    virtual std::optional<Destination> reserve(PeerIndex peer, const Header& header,
                                               std::size_t bytes) = 0;
    virtual void arrived(PeerIndex peer, Header header, Destination destination,
                         Time arrived_at) = 0;
    virtual void abandoned(PeerIndex peer, Destination destination) = 0;

    // Sessions.
    /// May the process behind this Hello (whose fields all match) take the place of `peer`?
    virtual std::optional<Reject> admit(PeerIndex peer, const Hello& hello) = 0;
    virtual void session_up(PeerIndex peer, const Hello& hello) = 0;
    /// `silence`: for so long there was no byte of it.
    virtual void session_down(PeerIndex peer, const std::string& why, Time silence) = 0;
    /// No byte for the life time-out. Comes after session_down, once per silence.
    virtual void peer_lost(PeerIndex peer, const std::string& why) = 0;

    /// Called soon after `Transport::notify()`, and at least every 20 ms.
    virtual void poll(Time now) = 0;
};

/// The path to a peer as the kernel knows it, once a second while a session stands; after that, as
/// it was. Zeros: not known.
struct PathFigures {
    double round_trip_ms = 0;       ///< smoothed
    double delivery_mbit = 0;       ///< the newest estimate of what arrives there
    std::uint64_t retransmits = 0;  ///< segments, of all sessions
    double reader_seconds = 0;      ///< that it was the peer which took no more, of all sessions
};

/// Counters of one link since the start, for reports. Wire bytes: frames with their headers,
/// without what TCP and IP add.
struct LinkCounters {
    std::uint64_t egress_bytes = 0;
    std::uint64_t ingress_bytes = 0;
    std::uint64_t sessions = 0;      ///< sessions that came up
    std::uint64_t copies_aside = 0;  ///< frames whose rest had to be copied (`copy_aside`)
    bool up = false;
    PathFigures path;
    /// For so long a frame was there and the link took no more: its own rate, or this peer's limits
    /// of what it sends, but not the peer's not reading.
    double full_seconds = 0;
    /// How often one end refused the other, by the field of the Hello that it was for, or "frame".
    std::map<std::string, std::uint64_t> rejects;
    std::string last_error;  ///< why the last session or dial ended; empty if none did
    /// The newest dial was refused because another process is live under the own name, with a
    /// session to this peer: where that process is. Otherwise empty.
    std::string name_taken_by;

    /// The newest dial reached the machine, and no process listened there: its text begins so.
    bool nobody_listens() const { return last_error.starts_with("nobody listens"); }
};

class Transport {
  public:
    virtual ~Transport() = default;

    /// Any thread, once: binds, starts the network thread and dials. Throws StartupError (port
    /// taken).
    virtual void start(TransportHost& host) = 0;

    /// Any thread: have `TransportHost::poll` called soon.
    virtual void notify() = 0;

    /// The host may have a frame for this peer again.
    virtual void wake(PeerIndex peer) = 0;
    /// The host may have room for a frame of this peer again.
    virtual void resume(PeerIndex peer) = 0;
    /// Copies what is unsent of the frame being sent to this peer into memory of the session and
    /// lets go of its buffer; nothing if no frame is being sent.
    virtual void copy_aside(PeerIndex peer) = 0;

    /// Any thread: one entry per peer; that of this peer stays empty.
    virtual std::vector<LinkCounters> counters() const = 0;

    /// Any thread, once: asks the host until it has nothing more and all is written, at most
    /// until `drain_until`, then closes all sessions, joins the network thread and returns.
    virtual void stop(Time drain_until) = 0;
};

}  // namespace ako
