// A cluster in one of the modes that exchange buckets, in virtual time: the real exchange and the
// real halves of every peer on simulated links. Layers are awaited, computed and given back one by
// one, as in a network.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/group/group_exchange.h"
#include "src/modes/bucket_mode.h"
#include "tests/sim/sim_network.h"
#include "tests/sim/world.h"

namespace ako::sim {

/// One peer, and what happens to it.
struct ModePlan {
    Time round_time = ms(10);
    std::optional<Time> killed_at;
    bool killed_silently = false;
    std::optional<Round> stops_at;  ///< this peer asks for a stop after so many rounds
};

struct ModeScenario {
    std::uint64_t seed = 1;
    ModeSettings settings;  ///< of every peer, but for `self`
    std::vector<ModePlan> peers;
    LinkQuality quality;  ///< of every link; delays are drawn from half to twice its own
    std::optional<PeerIndex> slow_link;  ///< from this peer to the next: a tenth of the others
    std::size_t payload_max = 256;       ///< bytes of one frame
    /// Of buckets. Small, so that small models have several buckets, and large layers too.
    std::size_t bucket_bytes_min = 64;
    std::size_t bucket_bytes_split = 256;

    Buckets buckets() const {
        const Range& last = settings.layers.back();
        return {settings.layers, last.first + last.count, bucket_bytes_min, bucket_bytes_split};
    }
};

/// Writes the gradient of `peer` in its round (from 0) at these parameters.
using SimGradient = std::function<void(PeerIndex peer, Round round, std::span<const float>,
                                       std::span<float> gradient)>;

/// How one peer ended.
struct ModeEnd {
    enum class Kind { finished, broken, dead };
    Kind kind = Kind::dead;
    std::string why;
    Time at{0};
    FinishReport report;
    std::vector<float> parameters;
};

class ModeCluster {
  public:
    ModeCluster(const ModeScenario& scenario, std::span<const float> initial, SimGradient gradient);
    ~ModeCluster();

    /// Runs until all have ended. Throws Violation if somebody hangs or has frames refused.
    std::vector<ModeEnd> run();

    std::uint64_t bytes_sent(PeerIndex peer) const;
    std::uint64_t bytes_received(PeerIndex peer) const;
    /// The most rounds by which a worker that computes at current parameters was ahead of the
    /// slowest that trained: of gradients given away.
    Round widest_gap() const { return widest_gap_; }

  private:
    struct Peer;

    void poll(PeerIndex peer);
    void begin(PeerIndex peer);
    void forward(PeerIndex peer, std::size_t layer);
    void backward(PeerIndex peer, std::size_t layers_left);
    void finish(PeerIndex peer);
    void leave(PeerIndex peer, ModeEnd::Kind kind, const std::string& why);
    void end(PeerIndex peer, ModeEnd::Kind kind, const std::string& why);
    void kill(PeerIndex peer, bool silently);
    void measure_gap(PeerIndex peer);
    Time step_time(PeerIndex peer);

    const ModeScenario scenario_;
    const SimGradient gradient_;
    World world_;
    Random random_;
    SimNetwork network_;
    std::vector<std::unique_ptr<Peer>> peers_;
    Round widest_gap_ = 0;
};

}  // namespace ako::sim
