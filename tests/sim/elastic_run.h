// One run of an elastic ring under faults: processes end, are started again, are cut off, stand
// still or leave. What is checked all along: the parameters of whoever is in are bitwise those of
// all others after the same sync; and every step of them is the mean of a set of whole gradients,
// each once. For that every peer's gradient is a weight of its own, so that the step tells
// whose were in it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/modes/elastic_mode.h"
#include "tests/sim/sim_cluster.h"

namespace ako::sim {

struct ElasticFault {
    enum class Kind {
        kill,           ///< the process dies, and its connections break
        kill_silently,  ///< with its machine
        start,          ///< another process of its name begins
        pause,          ///< it stands still for `lasts`
        cut,            ///< from `other`, for `lasts`
        isolate,        ///< from all others, for `lasts`
        leave,          ///< it is asked to leave
        hang,           ///< its compute thread does nothing any more
        reach_target,   ///< it finds that the parameters are good enough: all are to stop
    };
    Kind kind = Kind::kill;
    Time at{0};
    PeerIndex peer = 0;
    PeerIndex other = 0;
    Time lasts{0};
    std::string text() const;
};

struct ElasticScenario {
    std::uint64_t seed = 1;
    std::size_t peers = 4;
    std::uint64_t rounds = 100;  ///< of each peer, if all were there all the time
    std::vector<Range> layers;
    std::size_t straight_bytes_max = 0;
    std::size_t payload_max = 256;
    double momentum = 0;
    /// All together have a batch, which their number does not divide and which doubles in mid-run,
    /// and the rate falls: what each takes depends on what all know.
    bool shared_batch = false;
    bool evaluates = false;  ///< now and then somebody looks at the parameters between two rounds
    unsigned members_min = 1;
    double start_wait_s = 2;
    double finish_timeout_s = 20;
    std::vector<Time> round_time;           ///< [peer]
    std::vector<std::optional<Time>> late;  ///< [peer]: it is not started before
    LinkQuality quality;
    std::vector<ElasticFault> faults;
    /// Somebody is to finish. Not where a fault may strike the last that hold the state before
    /// those who are left can know that it did: then they end, and say so.
    bool finishes = true;
    bool shows_logs = false;

    std::size_t element_count() const { return layers.back().first + layers.back().count; }
};

struct ElasticOutcome {
    struct End {
        SimPeer::State state = SimPeer::State::dead;
        std::string why;
        FinishReport report;
        std::vector<float> parameters;
        Time ended_at{0};
    };
    std::vector<End> ends;     ///< [peer], of its newest process
    Round rounds = 0;          ///< that were begun
    std::uint32_t epochs = 0;  ///< number of the newest
    /// When each round was first begun by a peer that is in.
    std::map<Round, Time> begun_at;
    /// The longest time without a new round from the first to the last.
    Time longest_pause{0};
    Time seconds{0};
    bool finished = false;  ///< somebody has
    /// When the newest process of each name first trained; of those that have.
    std::map<PeerIndex, Time> trains_since;
};

class ElasticRun final : Work, Observer {
  public:
    explicit ElasticRun(const ElasticScenario& scenario);
    /// Runs until whoever is not dead has ended. Throws Violation.
    ElasticOutcome run();

  private:
    struct Seen {
        Round round = 0;
        std::vector<float> parameters;
    };
    ModeSettings settings_of(PeerIndex peer, std::uint64_t process) const;
    std::unique_ptr<SimPeer> make_peer(PeerIndex peer);
    ElasticCompute& compute(const SimPeer& peer) const {
        return static_cast<ElasticMode*>(peer.halves)->compute();
    }
    void strike(const ElasticFault& fault);
    /// It has all up to this round, and goes on from it.
    void hold(const SimPeer& peer, const Seen& seen);
    void check_step(const std::vector<float>& before, const std::vector<float>& after, Round round);
    bool others_in(PeerIndex peer) const;
    bool somebody_ended() const;

    float gradient(SimPeer& peer) override;
    Time forward_time(const SimPeer& peer) override { return layer_time(peer); }
    Time backward_time(const SimPeer& peer) override { return layer_time(peer); }
    Time idle_time(const SimPeer& peer) override;
    bool settles(const SimPeer& peer) override;
    Time layer_time(const SimPeer& peer);
    void began(SimPeer& peer, const std::optional<Next>& next) override;
    void gave_up(SimPeer& peer, const Next& next) override;
    bool awaited(const SimPeer& peer) const override;

    const ElasticScenario scenario_;
    const std::vector<float> initial_;
    const Buckets buckets_;
    std::vector<double> means_;  ///< of every set of peers
    SimCluster cluster_;
    std::uint64_t processes_ = 0;
    std::vector<bool> leaves_, hangs_;          ///< [peer]
    std::map<const SimPeer*, Seen> newest_;     ///< of each process: what it goes on from
    std::map<Round, std::vector<float>> held_;  ///< by everybody who went on from there
    std::map<Round, Time> begun_at_;
    std::map<PeerIndex, Time> trains_since_;
};

}  // namespace ako::sim
