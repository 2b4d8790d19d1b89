// One peer that trains a network of the catalog: the network and its data, and its part in the
// cluster, made out of the settings. Compute thread, but for what the transport runs on its own.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "ako/network.h"
#include "src/native_peer/training_data.h"
#include "src/training/learners.h"
#include "src/wiring/memory_plan.h"
#include "src/wiring/wiring.h"

namespace ako {

class NativePeer {
  public:
    /// Reads the data and the initial parameters, then as Wiring. Throws StartupError: a file that
    /// is missing or damaged, more memory than is allowed, and what Wiring throws.
    NativePeer(const Settings& settings, PeerIndex self, const EarlierRun& earlier,
               WiringCalls calls, const std::atomic<int>& interrupts);

    Network& network() { return *network_; }
    TrainingData& data() { return data_; }
    /// The batches of this peer. Must not outlive this.
    std::unique_ptr<BatchSource> batches();
    /// What trains together here; null where the exchange makes the steps. Must not outlive this.
    std::unique_ptr<Learners> learners(const PeerLog& log);
    Wiring& wiring() { return wiring_; }
    /// What all of it needs.
    const MemoryPlan& memory() const { return memory_; }

  private:
    Brought brought(const Settings& settings) const;

    const Settings& settings_;
    const PeerIndex self_;
    const std::unique_ptr<Network> network_;
    const MemoryPlan memory_;
    TrainingData data_;
    Wiring wiring_;
};

}  // namespace ako
