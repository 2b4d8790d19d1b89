// See strategy_costs.h.
#include "src/predict/strategy_costs.h"

#include <algorithm>
#include <limits>

#include "ako/assert.h"

namespace ako {

namespace {

double seconds_of_link(const StrategySystem& system, double bytes) {
    const double rate = system.link_bytes_per_s;
    return rate > 0 ? bytes * system.machines_per_link / rate : 0;
}

/// Of a value and of its gradient: both are there when a layer's backward pass is made.
constexpr double value_and_gradient = 2;

struct RowRange {
    std::size_t first = 0, end = 0;

    std::size_t count() const { return end > first ? end - first : 0; }
    RowRange common_with(const RowRange& other) const {
        return {std::max(first, other.first), std::min(end, other.end)};
    }
};

RowRange rows_of(std::size_t height, std::size_t k, std::size_t machines) {
    return {k * height / machines, (k + 1) * height / machines};
}

/// The input rows that these output rows are made of.
RowRange read_by(const StrategyLayer& layer, const RowRange& rows) {
    if (rows.count() == 0) return {};
    const std::size_t first = rows.first * layer.stride;
    const std::size_t end = (rows.end - 1) * layer.stride + layer.window;
    return {first > layer.padding ? first - layer.padding : 0,
            std::min(layer.input.height, end > layer.padding ? end - layer.padding : 0)};
}

}  // namespace

double share_of(std::size_t count, std::size_t machines) {
    const std::size_t most = (count + machines - 1) / machines;
    return static_cast<double>(most) / static_cast<double>(count);
}

Halo halo_of(const StrategyLayer& layer, std::size_t machines) {
    Halo busiest;
    std::vector<std::size_t> taken(machines, 0), given(machines, 0);
    for (std::size_t k = 0; k < machines; ++k) {
        const RowRange read = read_by(layer, rows_of(layer.output.height, k, machines));
        std::size_t count = 0;
        for (std::size_t other = 0; other < machines; ++other) {
            if (other == k) continue;
            const std::size_t rows =
                read.common_with(rows_of(layer.input.height, other, machines)).count();
            taken[k] += rows;
            given[other] += rows;
            count += rows > 0 ? 1 : 0;
        }
        busiest.messages = std::max(busiest.messages, count);
    }
    for (std::size_t k = 0; k < machines; ++k) {
        busiest.rows = std::max({busiest.rows, taken[k], given[k]});
        busiest.both_ways = std::max(busiest.both_ways, taken[k] + given[k]);
    }
    return busiest;
}

Traffic messages(const StrategySystem& system, double count, double bytes) {
    const double link = seconds_of_link(system, bytes);
    // The kernel copies one part while the link carries another: the slower of both counts.
    const double processor = bytes * (system.send_s_per_byte + system.take_s_per_byte);
    return {system.call_s + count * system.latency_s + std::max(link, processor), bytes};
}

Traffic all_gather(const StrategySystem& system, std::size_t machines, double bytes) {
    if (machines < 2) return {};
    const double others = static_cast<double>(machines - 1);
    Traffic traffic = messages(system, others, bytes * others / static_cast<double>(machines));
    traffic.seconds += bytes * system.copy_s_per_byte;
    return traffic;
}

Traffic all_reduce(const StrategySystem& system, std::size_t machines, double bytes) {
    if (machines < 2) return {};
    const double others = static_cast<double>(machines - 1);
    const double part = bytes * others / static_cast<double>(machines);
    Traffic traffic = messages(system, 2 * others, 2 * part);
    traffic.seconds += part * system.add_s_per_byte;
    return traffic;
}

DividedNetwork::DividedNetwork(const StrategyQuestion& question) : question_(question) {
    AKO_ASSERT(!question.layers.empty(), "a network without layers");
    AKO_ASSERT(question.machines > 0 && question.batch > 0 && question.segments > 0,
               "nothing to divide, or nobody");
    tail_ = size();
    for (std::size_t l = size(); l-- > 0;)
        if (layers()[l].window == 0) tail_ = l;
    for (std::size_t l = 0; l < size(); ++l)
        if (layers()[l].mixes) last_that_mixes_ = l;
}

double DividedNetwork::link_s(double bytes) const { return seconds_of_link(system(), bytes); }

double DividedNetwork::parameter_bytes(std::size_t first, std::size_t end) const {
    std::size_t count = 0;
    for (std::size_t l = first; l < end; ++l) count += layers()[l].parameter_count;
    return static_cast<double>(count * question_.element_bytes);
}

double DividedNetwork::memory_of(double parameters, double activations) const {
    return (value_and_gradient + question_.optimizer_vectors) * parameters +
           value_and_gradient * activations;
}

std::size_t DividedNetwork::least_channels(std::size_t end) const {
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::size_t least = none;
    for (std::size_t l = 0; l < end; ++l)
        if (layers()[l].mixes) least = std::min(least, layers()[l].output.channels);
    return least == none ? 1 : least;
}

std::size_t DividedNetwork::least_rows() const {
    std::size_t least = tail_ == 0 ? 1 : layers().front().input.height;
    for (std::size_t l = 0; l < tail_; ++l) least = std::min(least, layers()[l].output.height);
    return least;
}

}  // namespace ako
