// One peer: the network, its data, the transport and the exchange of a mode, made out of the
// settings and wired together. Compute thread, but for what the transport runs on its own.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ako/clock.h"
#include "ako/exchange.h"
#include "ako/network.h"
#include "net/cluster_key.h"
#include "net/tcp_transport.h"
#include "src/group/mode_settings.h"
#include "src/peer/resume.h"
#include "src/peer/training_data.h"
#include "src/peer/transport_settings.h"

namespace ako {

class Coverage;
class GroupExchange;

class Peer {
  public:
    /// Reads the data and the initial parameters and binds the port. `resume`: the run folder whose
    /// checkpoints it goes on from; empty: it begins anew. `waits`, `leaves`: see ModeSettings.
    /// `settings` and `interrupts` outlive this. Throws StartupError: a file that is missing or
    /// damaged, more memory than is allowed, a port that is taken, nothing to go on from.
    Peer(const Settings& settings, PeerIndex self, const std::string& resume, const PeerLog& log,
         std::function<void(const std::vector<PeerIndex>& missing)> waits,
         std::function<bool()> leaves, const std::atomic<int>& interrupts);
    ~Peer();

    /// Begins to listen and to dial. Once, before the first round. Throws StartupError.
    void start();

    Network& network() { return *network_; }
    TrainingData& data() { return data_; }
    /// Of this peer. Must not outlive this.
    std::unique_ptr<BatchSource> batches();
    const Clock& clock() const { return clock_; }
    Transport& transport() { return transport_; }
    Exchange& exchange();
    /// Whose checkpoints are this peer's, and those that it may go on from.
    const CheckpointOwner& owner() const { return owner_; }
    const EarlierCheckpoints& earlier() const { return earlier_; }

  private:
    ModeSettings own_mode_settings(
        const PeerLog& log, std::function<void(const std::vector<PeerIndex>& missing)> waits) const;

    const Settings& settings_;
    const PeerIndex self_;
    const std::uint64_t process_id_;
    const ClusterKey key_;
    const SteadyClock clock_;
    const std::unique_ptr<Network> network_;
    TrainingData data_;
    const std::unique_ptr<Coverage> coverage_;  ///< null unless data shards follow the live peers
    std::vector<float> initial_;                ///< [parameter_count], until the exchange has it
    const Hello hello_;
    const CheckpointOwner owner_;
    const bool resumes_;
    const EarlierCheckpoints earlier_;
    TcpTransport transport_;
    std::unique_ptr<GroupExchange> exchange_;
};

}  // namespace ako
