// One peer's part in a cluster: the transport, the exchange of a mode and the checkpoints that it
// may go on from, made out of the settings and of what the program brings. What computes the
// updates is nobody's business here: no network, no data set, no numerics. Compute thread, but for
// what the transport runs on its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ako/clock.h"
#include "ako/exchange.h"
#include "ako/portions.h"
#include "net/cluster_key.h"
#include "net/tcp_transport.h"
#include "src/exchange/mode_settings.h"
#include "src/wiring/brought.h"
#include "src/wiring/resume.h"
#include "src/wiring/transport_settings.h"

namespace ako {

class Coverage;
class ModeExchange;

/// What the wiring calls to ask and to tell.
struct WiringCalls {
    PeerLog log;
    std::function<void(const std::vector<PeerIndex>& missing)> waits;  ///< see ModeSettings
    std::function<bool()> leaves;                                      ///< likewise
};

class Wiring {
  public:
    /// Binds the port. `resume`: the run folder whose checkpoints it goes on from; empty: it begins
    /// anew. `settings` and `interrupts` outlive this. Throws StartupError: a key file that is
    /// none, a port that is taken, nothing to go on from.
    Wiring(const Settings& settings, PeerIndex self, Brought brought, const EarlierRun& earlier,
           WiringCalls calls, const std::atomic<int>& interrupts);
    ~Wiring();

    /// Begins to listen and to dial. Once, before the first round. Throws StartupError.
    void start();

    const Clock& clock() const { return clock_; }
    Transport& transport() { return transport_; }
    Exchange& exchange();
    /// Where data shards follow the live peers, else null. Must not outlive this.
    PortionSource* portions();
    /// The owner of this peer's checkpoints, and those that it may go on from.
    const CheckpointOwner& owner() const { return owner_; }
    const EarlierCheckpoints& earlier() const { return earlier_; }

  private:
    ModeSettings own_mode_settings(const Brought& brought, WiringCalls calls) const;

    const Settings& settings_;
    const PeerIndex self_;
    const std::uint64_t process_id_;
    const ClusterKey key_;
    const SteadyClock clock_;
    const std::unique_ptr<Coverage> coverage_;  ///< null unless data shards follow the live peers
    const Hello hello_;
    const CheckpointOwner owner_;
    const bool resumes_;
    const bool resumes_if_any_;
    const EarlierCheckpoints earlier_;
    TcpTransport transport_;
    std::unique_ptr<ModeExchange> exchange_;
};

}  // namespace ako
