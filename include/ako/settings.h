// The cluster file as plain structs, after every check of src/config has passed. Immutable once
// read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ako/types.h"

namespace ako {

/// `layers`: the list in the file; the others are known by their names.
enum class ModelKind { layers, mlp, lenet, cifar_quick, synthetic };
enum class LayerKind { conv, max_pool, relu, flatten, dense };
enum class DataFormat { idx, cifar10, npy };
enum class Sharding { disjoint, shuffled };
enum class ScheduleKind { constant, cosine, steps };
/// When the parameters of a mark are evaluated: while training goes on, or when it is over.
enum class EvaluateWhen { during, after };
enum class Rule { anchored, plain };
/// How peers agree. Each has its implementation in src/modes/.
enum class Mode { ako, ring, parameter_server, local_sgd, local };
/// Where parameter servers run: on peers of their own (`role: server`) or beside workers.
enum class Placement { co_located, dedicated };
/// What a peer does: a worker has a data shard and trains; a server only keeps parameters.
enum class Role { worker, server };

/// Where something stands in the cluster file ("file:line:column"), for complaints. It says nothing
/// of what stands there, so any two are equal.
struct Place {
    std::string text;

    bool operator==(const Place&) const { return true; }
};

struct LayerSettings {
    LayerKind kind = LayerKind::relu;
    std::size_t outputs = 0;  ///< conv, dense
    std::size_t window = 0;   ///< conv, max_pool: side of the square
    std::size_t stride = 1;   ///< conv, max_pool
    std::size_t padding = 0;  ///< conv: zeros added on each side of the image
    Place place = {};

    bool operator==(const LayerSettings&) const = default;
};

struct ModelSettings {
    ModelKind kind = ModelKind::layers;
    // layers only:
    Shape input{0, 0, 0};                    ///< of one image; nothing if there is no list
    std::vector<LayerSettings> layers = {};  ///< never empty after reading
    /// Saved parameters to start from, a safetensors file; empty: from the seed. Absolute after
    /// reading (relative to the cluster file before).
    std::string initial = {};
    // synthetic only:
    std::size_t parameters = 100'000;
    double compute_ms = 10;        ///< how long a gradient takes, per round
    std::size_t samples = 60'000;  ///< size of the data set it pretends to have
    double noise = 0.1;  ///< standard deviation of the noise on each element of a gradient

    bool operator==(const ModelSettings&) const = default;
};

struct DataSettings {
    DataFormat format = DataFormat::idx;
    std::string path;  ///< folder; absolute after reading (relative to the cluster file before)
    // One number for all channels, or one per channel; never empty after reading.
    std::vector<double> mean;
    std::vector<double> deviation;
    Sharding sharding = Sharding::disjoint;

    bool operator==(const DataSettings&) const = default;
};

struct ScheduleSettings {
    ScheduleKind kind = ScheduleKind::constant;
    double warm_up = 0;      ///< share of the budget over which the rate rises linearly from 0
    std::vector<double> at;  ///< steps: shares of the budget, rising
    double factor = 0.1;     ///< steps: what each step multiplies the rate by

    bool operator==(const ScheduleSettings&) const = default;
};

struct TrainingSettings {
    std::size_t batch_per_peer = 64;
    double learning_rate = 0.05;
    ScheduleSettings schedule;
    double momentum = 0.9;
    bool nesterov = false;  ///< Nesterov's momentum instead of the classical, see Sgd
    double weight_decay = 0;
    double epochs = 1;                      ///< samples of all peers / size of the data set
    std::optional<double> target_accuracy;  ///< 0 .. 1
    double evaluate_every = 0.25;           ///< epochs between evaluations; 0: only at the end
    EvaluateWhen evaluate = EvaluateWhen::during;
    double checkpoint_every = 0;  ///< epochs between checkpoints; 0: none
    unsigned threads = 1;         ///< of OpenBLAS, per peer

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
    ServerSettings server;                  ///< parameter-server only
    LocalSgdSettings local_sgd;             ///< local-sgd only
    Rule rule = Rule::anchored;             ///< this and the next: ako only
    unsigned partitions = 0;                ///< fixed P; 0 = auto
    std::optional<double> egress_mbit_max;  ///< of one peer over all its links; Mbit/s
    std::optional<double> link_mbit;        ///< of each link and direction; Mbit/s
    std::vector<LinkLimit> link_limits;     ///< of single links; overrides link_mbit
    unsigned staleness_rounds_max = 0;      ///< 0 = no bound; see src/staleness_bound.h
    double start_wait_s = 60;
    unsigned start_peers_min = 0;  ///< 0 = a majority
    unsigned heartbeat_ms = 500;
    unsigned life_timeout_ms = 2000;
    unsigned connect_timeout_ms = 3000;
    unsigned want_timeout_ms = 500;
    double finish_exchange_s = 30;
    double finish_timeout_s = 120;
    double finish_linger_s = 10;

    bool operator==(const ExchangeSettings&) const = default;
};

struct PeerSettings {
    std::string name;
    std::string address;  ///< host:port that others dial
    std::string listen;   ///< host:port to bind; the same as address unless given
    Role role = Role::worker;

    bool operator==(const PeerSettings&) const = default;
};

struct Settings {
    std::string file;  ///< the cluster file, as given
    std::string run;
    std::uint64_t seed = 1;
    ModelSettings model;
    DataSettings data;
    TrainingSettings training;
    ExchangeSettings exchange;
    std::size_t memory_mb_max = 2048;  ///< per peer
    std::string output;  ///< folder; absolute after reading (relative to the working folder before)
    /// With the secret of the cluster; absolute after reading (relative to the cluster file
    /// before); empty: none. The secret itself is never in the settings, which are written and
    /// digested.
    std::string cluster_key_file;
    std::vector<PeerSettings> peers;

    bool operator==(const Settings&) const = default;
};

}  // namespace ako
