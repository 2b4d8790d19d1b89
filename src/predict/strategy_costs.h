// The costs that the strategies (strategies.h) share: messages and collectives on the links of a
// system, the rows that machines read of each other's, bytes and memory of a divided network. Pure;
// any thread.
//
// "Oracle" is the publication named in strategies.h, and so are its symbols: alpha is the latency
// of a message, beta the seconds of a byte.
#pragma once

#include <cstddef>
#include <vector>

#include "src/predict/strategies.h"

namespace ako {

/// The most that one of `machines` gets of `count` things, as a share of them.
double share_of(std::size_t count, std::size_t machines);

/// What machines read of others' input rows: each the most of any machine.
struct Halo {
    std::size_t rows = 0;       ///< taken or given, whichever is more
    std::size_t both_ways = 0;  ///< taken and given; going back their gradients change sides
    std::size_t messages = 0;   ///< taken
};

/// Machine k of p has the rows [k height / p, (k + 1) height / p) of inputs and outputs.
Halo halo_of(const StrategyLayer& layer, std::size_t machines);

struct Traffic {
    double seconds = 0;
    double bytes = 0;  ///< that one machine sends, and takes
};

/// One exchange of so many messages one after the other, of `bytes` in all.
Traffic messages(const StrategySystem& system, double count, double bytes);
/// All end with all of `bytes`, of which each had a part. Oracle: (p - 1) (alpha + bytes beta / p),
/// and copying is free.
Traffic all_gather(const StrategySystem& system, std::size_t machines, double bytes);
/// All end with the sum of what each had. Oracle: 2 (p - 1) (alpha + bytes beta / p), and adding is
/// free.
Traffic all_reduce(const StrategySystem& system, std::size_t machines, double bytes);

/// The layers of a question; it has to outlive this.
class DividedNetwork {
  public:
    explicit DividedNetwork(const StrategyQuestion& question);

    /// What a link takes for these bytes.
    double link_s(double bytes) const;
    const std::vector<StrategyLayer>& layers() const { return question_.layers; }
    const StrategySystem& system() const { return question_.system; }
    std::size_t size() const { return layers().size(); }
    /// The first layer that cannot be divided by rows, or size().
    std::size_t tail() const { return tail_; }
    /// The last layer that mixes, or 0.
    std::size_t last_that_mixes() const { return last_that_mixes_; }

    /// Of the whole batch.
    double input_bytes(std::size_t layer) const { return batch_bytes(layers()[layer].input); }
    double output_bytes(std::size_t layer) const { return batch_bytes(layers()[layer].output); }
    /// What the layers before this one hand on, to it and to those after it.
    double handed_on_bytes(std::size_t layer) const {
        return count_bytes(layers()[layer].input.element_count() + layers()[layer].beside_count);
    }
    double row_bytes(std::size_t layer) const {
        return input_bytes(layer) / static_cast<double>(layers()[layer].input.height);
    }
    /// Of the layers [first, end).
    double parameter_bytes(std::size_t first, std::size_t end) const;
    /// Of a machine that has these bytes of parameters, and these of layers' inputs and outputs.
    double memory_of(double parameters, double activations) const;

    /// The fewest output channels of the layers before `end` that mix.
    std::size_t least_channels(std::size_t end) const;
    /// The fewest rows of an output before tail().
    std::size_t least_rows() const;

  private:
    double batch_bytes(const Shape& shape) const { return count_bytes(shape.element_count()); }
    double count_bytes(std::size_t of_sample) const {
        return static_cast<double>(of_sample * question_.batch * question_.element_bytes);
    }

    const StrategyQuestion& question_;
    std::size_t tail_ = 0, last_that_mixes_ = 0;
};

}  // namespace ako
