// How peers train and exchange: the keys `training` and `exchange` of the cluster file as plain
// structs. Values; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ako/types.h"

namespace ako {

enum class RateScheduleKind { constant, cosine, steps };
enum class BatchScheduleKind { constant, steps, automatic };
/// Lars: each layer's step by the size of its parameters (src/numbers/optimizer.h).
enum class OptimizerKind { sgd, lars };
/// How the learning rate follows a global batch that is not `local` samples of every peer.
enum class RateRule { none, linear, sqrt };
/// When the parameters of a mark are evaluated: while training goes on, or when it is over.
enum class EvaluateWhen { during, after };
enum class Rule { anchored, plain };
/// What the rows of the mode ako travel in.
enum class Precision { adaptive, float32 };
/// How peers agree. Each has its implementation in src/modes/.
enum class Mode { ako, ring, parameter_server, local_sgd, sma, local };
/// How buckets are summed up over all peers, where all wait for each other (src/buckets/).
enum class AllReduce { ring, butterfly };
/// Where parameter servers run: on peers of their own (`role: server`) or beside workers.
enum class Placement { co_located, dedicated };
/// What a peer does: a worker has a data shard and trains; a server only keeps parameters.
enum class Role { worker, server };

struct RateScheduleSettings {
    RateScheduleKind kind = RateScheduleKind::constant;
    double warm_up = 0;      ///< share of the budget over which the rate rises linearly from 0
    std::vector<double> at;  ///< steps: shares of the budget, rising
    double factor = 0.1;     ///< steps: what each step multiplies the rate by

    bool operator==(const RateScheduleSettings&) const = default;
};

/// How the global batch grows over the run.
struct BatchScheduleSettings {
    BatchScheduleKind kind = BatchScheduleKind::constant;
    std::vector<double> at;  ///< steps: shares of the budget, rising
    unsigned factor = 2;     ///< steps: what each step multiplies the global batch by

    bool operator==(const BatchScheduleSettings&) const = default;
};

/// Samples of all peers together in one round: 65,536 of each of 64 peers.
inline constexpr std::size_t global_batch_max = 4'194'304;

/// Samples of a round; src/numbers/batch_plan.h says what follows from it.
struct BatchSettings {
    std::size_t local = 64;         ///< of one learner; with a global batch: at once, at most
    std::size_t accumulate = 1;     ///< parts of `local`, computed one after another
    std::size_t global_target = 0;  ///< of all peers together; 0: `local` of each
    BatchScheduleSettings schedule = {};
    RateRule rate_rule = RateRule::linear;

    bool operator==(const BatchSettings&) const = default;
};

/// The most of one peer, for messages and for what is held against others: a machine with more
/// cores has several peers, for they all read one vector, the average, every round.
inline constexpr unsigned learners_max = 64;

struct TrainingSettings {
    BatchSettings batch;
    OptimizerKind optimizer = OptimizerKind::sgd;
    double trust_coefficient = 0.001;  ///< lars only
    double learning_rate = 0.05;
    RateScheduleSettings schedule;
    double momentum = 0.9;
    bool nesterov = true;  ///< Nesterov's momentum instead of the classical, see Sgd
    double weight_decay = 0;
    double clip = 0;          ///< norm that what a round gives is scaled down to; 0: it is not
    double growth_max = 100;  ///< see src/exchange/growth_watch.h; 0: nothing is refused
    bool must_learn = true;   ///< see src/reporting/learning_verdict.h; false: any end is as good
    double epochs = 1;        ///< samples of all peers / size of the data set
    std::optional<double> target_accuracy;  ///< 0 .. 1
    double evaluate_every = 0.25;           ///< epochs between evaluations; 0: only at the end
    EvaluateWhen evaluate = EvaluateWhen::during;
    double checkpoint_every = 0;    ///< epochs between checkpoints; 0: none; below 0: `auto`
    double mtbf_h = 24;             ///< hours between two faults of the run, for `auto`
    std::optional<double> until;    ///< epochs after which this start ends; nothing: `epochs`
    unsigned threads = 1;           ///< that layers use, per peer
    unsigned learners = 1;          ///< replicas of one peer, a thread each; 0 = auto
    double averaging_momentum = 0;  ///< of the average of the learners, on its own change

    bool keeps_checkpoints() const { return checkpoint_every != 0 || until; }
    /// As often as it pays: src/training/checkpoint_pace.h.
    bool paces_checkpoints() const { return checkpoint_every < 0; }
    /// Samples of a round of one peer; with `auto`, which begins with one learner, at least.
    std::size_t samples_per_round() const { return batch.local * (learners == 0 ? 1 : learners); }
    /// Samples of a round of one peer, at most.
    std::size_t samples_per_round_max() const {
        return batch.local * (learners == 0 ? learners_max : learners);
    }

    bool operator==(const TrainingSettings&) const = default;
};

struct LinkLimit {
    PeerIndex from = 0;
    PeerIndex to = 0;
    double mbit = 0;

    bool operator==(const LinkLimit&) const = default;
};

/// The parameter server (Li et al., "Scaling Distributed Machine Learning with the Parameter
/// Server", 2014), and how far apart its workers may be.
struct ServerSettings {
    unsigned count = 1;  ///< servers, which share the parameters by bytes
    Placement placement = Placement::co_located;
    /// The most rounds by which a worker may be ahead of the slowest (stale synchronous parallel;
    /// Ho et al., 2013). 0: all step together (bulk synchronous, BSP); nothing: no bound (async).
    std::optional<unsigned> clock_gap_max = 0;

    bool operator==(const ServerSettings&) const = default;
};

/// Local SGD: rounds without exchange, then one averaging (Stich, 2019), with an optional outer
/// Nesterov momentum (DiLoCo; Douillard et al., 2023).
struct LocalSgdSettings {
    unsigned rounds = 16;            ///< H, between two averagings
    double outer_learning_rate = 1;  ///< 1 without outer momentum: plain averaging
    double outer_momentum = 0;

    bool operator==(const LocalSgdSettings&) const = default;
};

struct ExchangeSettings {
    Mode mode = Mode::ako;
    bool elastic = false;  ///< ring only: peers may come and go
    /// ring (not elastic), local-sgd, sma.
    AllReduce all_reduce = AllReduce::ring;
    /// ring only (not elastic): how many of the newest steps are missing from the parameters that a
    /// round computes at. 0: none. 1: the newest step travels while the round computes.
    unsigned rounds_ahead = 0;
    ServerSettings server;       ///< parameter-server only
    LocalSgdSettings local_sgd;  ///< local-sgd only
    Rule rule = Rule::anchored;  ///< this and the next two: ako only
    Precision precision = Precision::adaptive;
    unsigned partitions = 0;                ///< fixed P; 0 = auto
    std::optional<double> egress_mbit_max;  ///< of one peer over all its links; Mbit/s
    std::optional<double> link_mbit;        ///< of each link and direction; Mbit/s
    std::vector<LinkLimit> link_limits;     ///< of single links; overrides link_mbit
    /// 0: no bound; see src/rows/staleness_bound.h. Nothing: auto, src/rows/staleness_choice.h.
    std::optional<unsigned> staleness_rounds_max;
    double start_wait_s = 60;      ///< this and all times: as durations in ako/exchange_times.h
    unsigned start_peers_min = 0;  ///< 0 = a majority
    unsigned heartbeat_ms = 500;
    unsigned life_timeout_ms = 2000;
    double finish_timeout_s = 120;
    double leave_timeout_s = 25;

    bool operator==(const ExchangeSettings&) const = default;
};

}  // namespace ako
