#include "net/tcp_transport.h"

#include "net/transport_core.h"

namespace ako {

TcpTransport::TcpTransport(TransportSettings settings, const Clock& clock)
    : core_(std::make_unique<TransportCore>(std::move(settings), clock)) {}

TcpTransport::~TcpTransport() = default;

void TcpTransport::bind() { core_->bind(); }
std::uint16_t TcpTransport::port() const { return core_->port(); }
void TcpTransport::set_peer_address(PeerIndex peer, const std::string& address) {
    core_->set_peer_address(peer, address);
}
void TcpTransport::start(TransportHost& host) { core_->start(host); }
void TcpTransport::notify() { core_->notify(); }
void TcpTransport::wake(PeerIndex peer) { core_->link(peer).wake(); }
void TcpTransport::resume(PeerIndex peer) { core_->link(peer).resume(); }
void TcpTransport::copy_aside(PeerIndex peer) { core_->link(peer).copy_aside(); }
std::vector<LinkCounters> TcpTransport::counters() const { return core_->counters(); }
void TcpTransport::stop(Time drain_until) { core_->stop(drain_until); }

}  // namespace ako
