// The transport over TCP: one session per pair of peers, pulled by the links. Asio stays behind
// this header.
// Thread: see ako/transport.h; constructor, bind and set_peer_address belong to the thread that
// wires, before start(). Lifetime: host and clock must outlive stop().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ako/clock.h"
#include "ako/transport.h"
#include "ako/types.h"
#include "net/cluster_key.h"

namespace ako {

class TransportCore;

/// A peer of the cluster file, as the transport sees it.
struct TransportPeer {
    std::string name;
    std::string address;   ///< host:port (or [v6]:port) that others dial
    std::string listen;    ///< host:port to bind; used of the own entry only; empty: as `address`
    double link_mbit = 0;  ///< limit of what is sent to this peer, 10^6 bit/s; 0 = unlimited
};

struct TransportSettings {
    PeerIndex self = 0;
    Hello hello;     ///< own; `to_peer_name` and `key_proof` are filled in per peer and connection
    ClusterKey key;  ///< which every peer must hold; may be none
    std::vector<TransportPeer> peers;      ///< [peer_count], the own entry included
    double egress_mbit_max = 0;            ///< limit of all that is sent, 10^6 bit/s; 0 = unlimited
    Time connect_timeout = dial_timeout;   ///< of a look-up, and of each address it finds
    unsigned life_timeout_ms = 2000;       ///< silence after which a session is dead, a peer lost
    unsigned handshake_timeout_ms = 3000;  ///< from the connection to the standing session
    std::function<void(std::string)> log;  ///< lines for people; network thread; may be empty
    /// Lines of the ordinary course, worth keeping rather than showing: sessions up and down,
    /// attempts that failed. Network thread; may be empty.
    std::function<void(std::string)> detail;
};

class TcpTransport final : public Transport {
  public:
    /// Throws StartupError if a setting cannot be used (an address that is not host:port, a name
    /// that is too long for the wire, a peer index outside the list).
    TcpTransport(TransportSettings settings, const Clock& clock);
    /// Stops at once if stop() was not called.
    ~TcpTransport() override;

    TcpTransport(const TcpTransport&) = delete;
    TcpTransport& operator=(const TcpTransport&) = delete;

    /// Binds and listens, so that port() is known before start(), which binds if this was not
    /// called. Throws StartupError (port taken, address not of this machine, strangers could reach
    /// it and there is no key).
    void bind();
    /// The port that is listened on; 0 before bind().
    std::uint16_t port() const;
    /// Replaces the address of the settings; before start(). For tests, whose ports are known late.
    void set_peer_address(PeerIndex peer, const std::string& address);

    void start(TransportHost& host) override;
    void notify() override;
    void wake(PeerIndex peer) override;
    void resume(PeerIndex peer) override;
    void copy_aside(PeerIndex peer) override;
    std::vector<LinkCounters> counters() const override;
    void stop(Time drain_until) override;

  private:
    std::unique_ptr<TransportCore> core_;
};

}  // namespace ako
