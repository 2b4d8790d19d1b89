// One live TCP connection: frames out and in, pulled. It knows nothing of peers or of Hello; its
// host (a handshake first, a link later) says what to send and where to read to.
//
// The socket does not block. The session waits until it can be written or read and then does so
// itself, so that between two handlers the kernel holds no pointer into anybody's memory.
//
// Thread: network. Lifetime: shared by its host and by its pending handlers; end() is final.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ako/clock.h"
#include "ako/transport.h"
#include "net/asio.h"
#include "net/frame_prefix.h"
#include "net/pacing.h"
#include "net/shared_egress.h"
#include "net/socket_options.h"
#include "net/sockets_of_process.h"

namespace ako {

/// What a link counts; written by the network thread, read by any.
struct LinkMeter {
    std::atomic<std::uint64_t> egress_bytes{0};
    std::atomic<std::uint64_t> ingress_bytes{0};
    /// For so long frames waited: for room in the socket, or for a limit of what may be sent.
    std::atomic<Time::rep> waited{0};
};

/// Whom a session belongs to. A host may end the session, drain it or change its host within any of
/// these calls.
class SessionHost {
  public:
    virtual ~SessionHost() = default;

    /// As TransportHost::next.
    virtual std::optional<OutFrame> next(Session& session) = 0;
    /// A frame that next() gave was written to the end.
    virtual void sent(Session& session, std::size_t bytes) = 0;
    /// As the functions of TransportHost.
    virtual std::optional<std::string> refuse(Session& session, const Header& header,
                                              std::size_t bytes) = 0;
    virtual std::optional<Destination> reserve(Session& session, const Header& header,
                                               std::size_t bytes) = 0;
    virtual void arrived(Session& session, Header header, Destination destination, Time at) = 0;
    virtual void abandoned(Session& session, Destination destination) = 0;
    /// The last call; after it the session is closed.
    virtual void ended(Session& session, const std::string& why) = 0;
};

class Session final : public std::enable_shared_from_this<Session> {
  public:
    /// `socket` is connected. `remote` is for messages.
    Session(asio::ip::tcp::socket socket, std::string remote, const Clock& clock);
    ~Session();

    /// The first host; begins to read and to ask. Headers are limited to those of a handshake.
    void begin(SessionHost& host);
    /// Another host; headers of full length; what is written is paced and counted from now on, and
    /// what the session has counted so far is added. All must outlive the session's end.
    void hand_over(SessionHost& host, LinkMeter& meter, TokenBucket& bucket, SharedEgress& egress);

    /// Sends a header before the next frame of the host.
    void send_first(Header header);
    /// The host may have a frame again.
    void wake();
    /// The host may have room again.
    void resume();
    /// Suits the bytes that may lie unsent to the link's rate: a mark too low wakes this thread for
    /// every few packets of a fast link.
    void let_lie_unsent(std::size_t bytes);
    /// See Transport::copy_aside; true if something was copied.
    bool copy_aside();

    /// Sends what the host has until it has nothing more, then shuts down the sending side and
    /// reads to the end of the stream, so that the last bytes arrive. `discards`: what arrives from
    /// now on is thrown away; otherwise only after the shutdown. The caller sets the time limit.
    void drain(bool discards);

    /// Closes the connection and tells the host; nothing if it has ended.
    void end(const std::string& why);
    /// Closes the connection and tells nobody; nothing if it has ended.
    void drop();

    bool ended() const { return ended_; }
    const std::string& remote() const { return remote_; }

    /// The path of its connection; nothing once it has ended.
    std::optional<PathFigures> path();
    /// How long nothing has come although we read.
    Time silence(Time now) const;
    /// How long nothing has come at all.
    Time quiet(Time now) const { return now - newest_byte_at_; }
    /// For so long this thread did not look: no silence of the peer. What was read since then has
    /// begun the silence anew, which so never begins later than now.
    void excuse(Time gap, Time now) {
        if (!paused_) silent_since_ = std::min(silent_since_ + gap, now);
    }

    /// For SharedEgress: this session may write a slice now.
    void turn();

  private:
    enum class Reading { prefix, header, place, payload };

    // Sending.
    void post_pump_out();
    void pump_out();
    bool bind_frame();
    bool wait_for_pace(Time now);
    void begin_wait();
    void end_wait();
    void count_wait();
    bool write_slice();
    void finish_frame();
    void wait_writable();
    void shut_down_send();

    // Receiving.
    void post_pump_in();
    void pump_in();
    bool read_some();
    void complete_stage();
    void complete_prefix();
    void complete_header();
    bool place();
    void complete_frame();
    bool payload_intact();
    bool discard_some();
    void wait_readable();
    void abandon_destination();
    void discard();
    void unpause(Time now);

    void close();

    // Constant after construction.
    const Clock& clock_;
    const std::string remote_;

    asio::ip::tcp::socket socket_;
    std::optional<ListedSocket> listed_;
    asio::steady_timer pace_timer_;
    SessionHost* host_ = nullptr;
    LinkMeter own_meter_;
    LinkMeter* meter_ = &own_meter_;
    TokenBucket* bucket_ = nullptr;
    SharedEgress* egress_ = nullptr;
    bool ended_ = false;

    // Sending: at most one frame is outstanding.
    struct Outgoing {
        std::vector<std::byte> head;  ///< prefix and header
        std::span<const std::byte> payload;
        BufferRef keeps_alive;
        std::vector<std::byte> aside;  ///< the unsent rest, once copied
        std::size_t head_sent = 0;
        std::size_t bytes = 0;  ///< of the whole frame
        bool of_host = false;
    };
    std::optional<Outgoing> out_;
    std::deque<Header> first_;
    bool out_posted_ = false;  ///< a posted handler will call pump_out
    bool out_waits_ = false;   ///< for the socket, for pace or for a turn; then pump_out is called
    bool writable_ = false;    ///< since the last frame was finished
    std::size_t unsent_bytes_max_ = unsent_bytes_min;
    bool has_turn_ = false;
    Time waits_since_{};  ///< while out_waits_
    Time waited_{};       ///< since the newest frame, which may be the last
    bool draining_ = false;
    bool send_shut_ = false;

    // Receiving.
    Reading reading_ = Reading::prefix;
    std::array<std::byte, frame_prefix_bytes> prefix_bytes_{};
    std::vector<std::byte> header_bytes_;
    std::size_t header_limit_ = handshake_header_bytes_max;
    FramePrefix prefix_;  ///< of the frame being read
    std::optional<Header> header_;
    std::optional<Destination> destination_;
    std::span<std::byte> unread_;  ///< what is still to be filled in this stage
    bool in_posted_ = false;
    bool in_waits_ = false;
    std::size_t read_this_turn_ = 0;
    bool paused_ = false;  ///< the host has no room; not reading
    bool discarding_ = false;

    // Life.
    Time silent_since_;  ///< the newest byte, moved on by the time in which we did not read
    Time newest_byte_at_;
    Time paused_at_{};
};

}  // namespace ako
