// One live TCP connection: frames out and in, pulled. It knows nothing of peers or of Hello; its
// host (a handshake first, a link later) says what to send and where to read to. The session moves
// the bytes: it waits until the connection can take or has more, and asks its parts what is written
// next (OutgoingFrame), when (SendLimits), what is read next (IncomingFrame), and how long nothing
// has come (Silence).
//
// Thread: network. Lifetime: shared by its host and by its pending handlers; end() is final.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "ako/clock.h"
#include "ako/transport.h"
#include "net/asio.h"
#include "net/incoming_frame.h"
#include "net/link_meter.h"
#include "net/outgoing_frame.h"
#include "net/send_limits.h"
#include "net/send_wait.h"
#include "net/silence.h"
#include "net/tcp_connection.h"

namespace ako {

class Session;

/// A session belongs to its host, which may end it, drain it or give it another host within any of
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
    /// See Transport::copy_aside; true if something was copied.
    bool copy_aside();
    /// For SharedEgress: this session may write a slice now.
    void turn();

    /// Sends what the host has until it has nothing more, then shuts down the sending side and
    /// reads to the end of the stream, so that the last bytes arrive. `discards`: what arrives from
    /// now on is thrown away; otherwise only after the shutdown. The caller sets the time limit.
    void drain(bool discards);

    /// Closes the connection and tells the host; nothing if it has ended.
    void end(const std::string& why);
    /// Closes the connection and tells nobody; nothing if it has ended.
    void drop();

    bool ended() const { return ended_; }
    const std::string& remote() const { return connection_.remote(); }
    TcpConnection& connection() { return connection_; }
    Silence& silence() { return silence_; }

  private:
    // Sending.
    void pump_out();
    bool wait_for_limits(Time now);
    void wait_writable();
    void end_wait();
    void count_wait();
    bool bind_frame();
    bool write_slice();
    void finish_frame();
    void shut_down_send();

    // Receiving.
    void post_pump_in();
    void pump_in();
    void wait_readable();
    std::size_t read(std::span<std::byte> into);
    bool read_frame();
    void complete_stage();
    bool place();
    bool discard_some();
    void discard();
    void abandon_destination();

    const Clock& clock_;
    TcpConnection connection_;
    asio::steady_timer pace_timer_;
    SessionHost* host_ = nullptr;
    LinkMeter own_meter_;
    LinkMeter* meter_ = &own_meter_;
    bool ended_ = false;

    // Sending: at most one frame is outstanding.
    std::optional<OutgoingFrame> out_;
    std::deque<Header> first_;
    SendLimits limits_;
    SendWait wait_;            ///< while it is on, what is waited for calls pump_out
    bool out_posted_ = false;  ///< a posted handler will call pump_out
    bool writable_ = false;    ///< since the last frame was finished
    bool draining_ = false;
    bool send_shut_ = false;

    // Receiving.
    IncomingFrame in_;
    Silence silence_;  ///< does not read while the host has no room
    bool in_posted_ = false;
    bool in_waits_ = false;
    std::size_t read_this_turn_ = 0;
    bool discarding_ = false;
};

}  // namespace ako
