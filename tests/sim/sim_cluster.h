// The simulated cluster, of any mode: the world, the network and the processes. Stands in for the
// two threads of every process and takes its real exchange through the steps that a run is made of:
// begin, the forward and the backward pass layer by layer, the end of the round, the final
// exchange, goodbye. What is computed, Work knows; what is to be seen or done, Observer.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "tests/sim/observer.h"
#include "tests/sim/sim_network.h"
#include "tests/sim/sim_peer.h"
#include "tests/sim/work.h"
#include "tests/sim/world.h"

namespace ako::sim {

/// The times of the threads that the cluster stands in for.
struct Pace {
    Time poll_interval;  ///< of the traffic half
    Time wait_step;      ///< of the compute half, while it waits
    Time goodbye;        ///< from the last word to the end of the process
};

class SimCluster {
  public:
    /// Everything that is drawn while it runs follows from `seed`. `work` and `observer` outlive
    /// this, and are not called before `run`.
    SimCluster(std::uint64_t seed, std::size_t peer_count, Time life_timeout, const Pace& pace,
               Work& work, Observer& observer);
    ~SimCluster() { network_.drop_all(); }

    World& world() { return world_; }
    const World& world() const { return world_; }
    Random& random() { return random_; }
    SimNetwork& network() { return network_; }
    const SimNetwork& network() const { return network_; }
    /// The number of peers that were added.
    std::size_t size() const { return newest_.size(); }
    /// The newest process of this name.
    SimPeer& operator[](PeerIndex peer) const { return *newest_[peer]; }
    /// All there ever were, in the order in which they were made.
    const std::deque<std::unique_ptr<SimPeer>>& processes() const { return processes_; }
    bool is_newest(const SimPeer& peer) const { return newest_[peer.settings.self] == &peer; }

    /// The next in order, whose process begins then.
    void add(std::unique_ptr<SimPeer> peer, Time starts_at);
    /// Another process begins under a name that has one; `elsewhere`: not where its name is
    /// dialled.
    void begin_anew(std::unique_ptr<SimPeer> peer, bool elsewhere = false);
    /// The run is not over before `one_less` was called as often.
    void one_more() { ++expected_; }
    void one_less() { --expected_; }
    /// The process ends, as in SimNetwork; nothing happens to one that is over.
    void kill(SimPeer& peer, bool silently);
    void kill(PeerIndex peer, bool silently) { kill(*newest_[peer], silently); }

    /// Runs until all that are awaited are over. Throws Violation if somebody hangs, or cannot
    /// train, or has a frame refused, and RefusedGradient.
    void run(Time deadline);

  private:
    using Step = void (SimCluster::*)(SimPeer& peer);

    void start(SimPeer& peer);
    void poll(SimPeer& peer);
    void begin(SimPeer& peer);
    void forward(SimPeer& peer);
    void backward(SimPeer& peer);
    void end_round(SimPeer& peer);
    void settle(SimPeer& peer);
    void finish(SimPeer& peer);
    void end(SimPeer& peer);

    void step_after(SimPeer& peer, Time delay, Step step);
    /// Once its process runs, and not after its end.
    void make(SimPeer& peer, Step step);
    /// If its compute thread does nothing for a while: has the step made after it.
    bool idles(SimPeer& peer, Step step);
    bool over() const;

    const Pace pace_;
    Work& work_;
    Observer& observer_;
    World world_;
    Random random_;
    SimNetwork network_;
    std::deque<std::unique_ptr<SimPeer>> processes_;
    std::vector<SimPeer*> newest_;  ///< [peer]
    unsigned expected_ = 0;
};

}  // namespace ako::sim
