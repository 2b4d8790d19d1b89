// The network thread and what lives on it: the listening socket, handshakes, links and the tick.
// TcpTransport forwards to it; see there and ako/transport.h for who may call what.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "net/acceptor.h"
#include "net/asio.h"
#include "net/handshake.h"
#include "net/line_limit.h"
#include "net/link.h"
#include "net/tcp_transport.h"

namespace ako {

class TransportCore final : public HandshakeHost {
  public:
    TransportCore(TransportSettings settings, const Clock& clock);
    ~TransportCore() override;

    void bind();
    std::uint16_t port() const { return acceptor_ ? acceptor_->port() : std::uint16_t{0}; }
    void set_peer_address(PeerIndex peer, const std::string& address);
    void start(TransportHost& host);
    void stop(Time drain_until);
    void notify();
    std::vector<LinkCounters> counters() const;

    /// The link to this peer, for a call that belongs to the network thread.
    Link& link(PeerIndex peer);

    Decision judge(Handshake& handshake) override;
    void answered(Handshake& handshake) override;
    void stands(Handshake& handshake) override;
    void failed(Handshake& handshake, const std::string& why, bool refused) override;

  private:
    void run();
    void tick();
    void poll();
    void begin_stop(Time drain_until);
    void finish_stop();
    void shake_hands(asio::ip::tcp::socket socket, std::optional<PeerIndex> dialled);
    void forget_ended_handshakes();
    void make_room_for_stranger();
    void log_stranger(const std::string& why, bool refused);
    bool loses_crossing(const Handshake& handshake) const;
    /// With texts of a length that the wire takes.
    static Decision refusal(Reject reject);
    std::unique_ptr<Dialer> make_dialer(PeerIndex peer);

    // Constant after start().
    TransportSettings settings_;
    const Clock& clock_;
    HelloTerms terms_;
    asio::io_context io_;
    SharedEgress egress_;
    LinkContext context_;
    std::vector<std::unique_ptr<Link>> links_;  ///< [peer_count]; none for this peer
    std::unique_ptr<Acceptor> acceptor_;
    std::thread thread_;

    // Network thread.
    asio::steady_timer tick_timer_;
    std::vector<std::shared_ptr<Handshake>> handshakes_;
    Time ticked_at_{};
    LineLimit stranger_lines_;
    Time drain_until_{};

    // Any thread.
    std::atomic<std::thread::id> network_thread_{};
    std::atomic<bool> notified_{false};
};

}  // namespace ako
