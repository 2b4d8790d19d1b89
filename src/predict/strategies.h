// The strategies: what a step takes if the work of one batch is divided among machines in another
// way than Ako's, from the times of the layers on one machine and the rate of the links. It is the
// oracle of A. N. Kahira, T. T. Nguyen, L. Bautista Gomez, R. Takano, R. M. Badia, M. Wahib: "An
// Oracle for Guiding Large-Scale Model/Hybrid Parallel Training of Convolutional Neural Networks"
// (HPDC 2021, arXiv:2104.09075), with what is told beside each formula done otherwise.
//
// Nouns: B samples are in a batch, of all machines together; p machines; x and y are what goes into
// a layer and comes out, w its parameters. A layer that mixes makes each output channel of all
// input channels (convolution, dense). A collective goes round as a ring; it and computing do not
// overlap.
//
// Pure functions of values; any thread. Seconds are those of the slowest machine, bytes those of
// the busiest.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "ako/types.h"

namespace ako {

/// Along what a layer is divided.
enum class Along { samples, rows, filters, channels };
constexpr std::size_t along_count = 4;

/// A part of a layer, as measured.
struct PartTime {
    double share = 0;  ///< of the work, above 0 and below 1
    double seconds = 0;
};

/// One pass of a layer over the whole batch on one machine.
struct PassTime {
    double whole_s = 0;
    /// [Along] By falling share: for calls and poorly filled vectors do not shrink with a layer,
    /// and caches hold its parts better. None: a part takes its share of the whole, as the oracle
    /// has it.
    std::array<std::vector<PartTime>, along_count> parts{};

    /// Of a share of the work, 0 to 1: between what was measured; below, by the line from the least
    /// through what the whole takes, but at least as if that started from nothing. Never longer
    /// than the whole, as short times that were measured beside others' work may say.
    double of(Along along, double share) const;
};

struct StrategyLayer {
    std::string name;
    Shape input, output;  ///< of one sample
    std::size_t parameter_count = 0;
    bool mixes = false;  ///< each output channel is made of all input channels
    /// Of the rows: an output row r is made of the input rows r * stride - padding and the
    /// window - 1 after it. Window 0: of all rows.
    std::size_t window = 0, stride = 1, padding = 0;
    /// Numbers of a sample that pass it by, to a sum in a later layer.
    std::size_t beside_count = 0;
    PassTime forward{}, backward{};
};

struct StrategySystem {
    double link_bytes_per_s = 0;   ///< of a machine's link, each direction; 0: no limit
    double machines_per_link = 1;  ///< that send through one link at the same time
    double latency_s = 0;          ///< of one message, however small
    double call_s = 0;             ///< of one exchange that is begun, however many messages it has
    double send_s_per_byte = 0;    ///< processor; likewise the next ones
    double take_s_per_byte = 0;
    double add_s_per_byte = 0;     ///< of two vectors
    double copy_s_per_byte = 0;    ///< of what was gathered, to where it belongs
    double update_s_per_byte = 0;  ///< of the parameters: the optimizer
    double input_s_per_byte = 0;   ///< until a byte of a sample is there to be trained on
    double memory_bytes = 0;       ///< of a machine; 0: not known
};

struct StrategyQuestion {
    std::vector<StrategyLayer> layers;
    StrategySystem system;
    std::size_t machines = 1;  ///< p
    std::size_t batch = 1;     ///< B
    std::size_t element_bytes = 4;
    std::size_t segments = 4;  ///< that a batch passes a pipeline in
    /// Of a pipeline: the first layer of each, as many as machines, the first 0 and rising. Empty:
    /// those whose slowest takes the least time.
    std::vector<std::size_t> stages{};
    /// Of data+filter and data+spatial: machines that share the work on the same samples; it
    /// divides `machines`. 0: the one with the shortest step that leaves several groups of several
    /// machines, and one group where p is prime.
    std::size_t group = 0;
    double optimizer_vectors = 0;  ///< as large as the parameters, beside these and the gradient
};

enum class Strategy { data, spatial, filter, channel, pipeline, data_filter, data_spatial };
inline constexpr std::array all_strategies = {
    Strategy::data,     Strategy::spatial,     Strategy::filter,      Strategy::channel,
    Strategy::pipeline, Strategy::data_filter, Strategy::data_spatial};

/// The oracle's kinds of what stops a strategy.
enum class FindingKind {
    gradient_exchange,
    layer_wise_communication,
    point_to_point,
    congestion,
    input,
    memory_redundancy,
    weight_update,
    workload_balance,
    number_of_elements
};

struct StrategyFinding {
    FindingKind kind = FindingKind::gradient_exchange;
    bool limitation = true;  ///< inherent in the strategy; else a bottleneck of this system
    double seconds = 0;      ///< of the step; 0 where it is not about time
    std::string text;        ///< a sentence for people
};

struct StrategyAnswer {
    Strategy strategy = Strategy::data;
    bool projected = false;  ///< Ako cannot run it
    bool possible = true;    ///< the strategy allows so many machines, and they have the memory
    std::size_t machines_max = 0;
    std::string machines_max_why;
    std::size_t group = 1;            ///< machines that share the work on the same samples
    std::vector<std::size_t> stages;  ///< of a pipeline: the first layer of each
    double compute_s = 0;             ///< forward and backward
    double update_s = 0;
    double forward_s = 0;  ///< communication of the phase; likewise the next two
    double backward_s = 0;
    double gradient_s = 0;
    double input_s = 0;  ///< beside the others, at the same time
    double step_s = 0;
    double sent_bytes = 0;
    double memory_bytes = 0;
    std::vector<StrategyFinding> findings;  ///< the longest first

    double communication_s() const { return forward_s + backward_s + gradient_s; }
};

/// Every machine has the whole network and B/p samples. At most B machines.
StrategyAnswer data_parallel(const StrategyQuestion& question);
/// Every machine has some rows of each image up to the first layer that reads all rows, and what
/// follows as a whole. At most as many machines as the image has rows in its smallest form.
StrategyAnswer spatial_parallel(const StrategyQuestion& question);
/// Every machine has some output channels of each layer. At most as many as the least of a layer.
StrategyAnswer filter_parallel(const StrategyQuestion& question);
/// Every machine has some input channels of each layer. At most as many as the least of a layer,
/// the first aside.
StrategyAnswer channel_parallel(const StrategyQuestion& question);
/// Every machine has some consecutive layers, and the batch passes in segments. At most as many as
/// layers.
StrategyAnswer pipeline_parallel(const StrategyQuestion& question);
/// Groups share the samples, and the machines of a group its output channels.
StrategyAnswer data_filter_parallel(const StrategyQuestion& question);
/// Groups share the samples, and the machines of a group the rows of these.
StrategyAnswer data_spatial_parallel(const StrategyQuestion& question);

StrategyAnswer answer_of(const StrategyQuestion& question, Strategy strategy);
/// All, with their findings: what is possible first, and by the seconds of a step.
std::vector<StrategyAnswer> ranked_strategies(const StrategyQuestion& question);

/// Of an answer to this question, among those who could be told; strategy_findings.cpp.
std::vector<StrategyFinding> findings_of(const StrategyQuestion& question,
                                         const StrategyAnswer& answer);

const char* word(Strategy strategy);
const char* word(FindingKind kind);

}  // namespace ako
