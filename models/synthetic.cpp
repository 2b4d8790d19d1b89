#include "models/synthetic.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>

#include "ako/assert.h"
#include "models/eigen_maps.h"
#include "models/random.h"

namespace ako {

namespace {

/// Pieces stand for layers. Eight is enough for an exchange to overlap with the passes.
constexpr std::size_t pieces_max = 8;

constexpr std::uint64_t optimum_seed = 0x4f5054494d554d;

using SteadyClock = std::chrono::steady_clock;

/// Calls a callback of the caller, whose time is not the network's: the deadline moves along.
void call(const std::function<void(Range)>& callback, Range range,
          SteadyClock::time_point& deadline) {
    if (!callback) return;
    const auto before = SteadyClock::now();
    callback(range);
    deadline += SteadyClock::now() - before;
}

}  // namespace

std::vector<float> synthetic_optimum(std::size_t parameter_count) {
    std::vector<float> optimum(parameter_count);
    RandomStream random(optimum_seed);
    for (float& value : optimum) value = symmetric_unit(random.next());
    return optimum;
}

Synthetic::Synthetic(const ModelSettings& settings, std::uint64_t noise_seed)
    : compute_time_(settings.compute_ms),
      noise_bound_(static_cast<float>(settings.noise * std::sqrt(3.0))),
      noise_seed_(noise_seed),
      optimum_(synthetic_optimum(settings.parameters)) {
    AKO_ASSERT(settings.parameters >= 1, "synthetic without parameters");
    const std::size_t pieces = std::min(pieces_max, settings.parameters);
    for (std::size_t p = 0; p < pieces; ++p) {
        const std::size_t first = settings.parameters * p / pieces;
        const std::size_t end = settings.parameters * (p + 1) / pieces;
        layout_.add("piece" + std::to_string(p), {end - first});
    }
}

void Synthetic::initialize(std::uint64_t seed, std::span<float> parameters) const {
    RandomStream random(derive_seed(seed, 0));
    for (float& value : parameters) value = symmetric_unit(random.next());
}

float Synthetic::gradient(const Batch&, std::span<const float> parameters,
                          std::span<float> gradient, const AwaitRange& await,
                          const RangeReady& ready) {
    AKO_ASSERT(parameters.size() == parameter_count() && gradient.size() == parameter_count(),
               std::to_string(parameters.size()) + " parameters");
    const auto& pieces = tensors();
    // A third of the time is the forward pass, two thirds are the backward pass, as in a network
    // where each of the three products of a layer takes as long.
    const auto step = std::chrono::duration_cast<SteadyClock::duration>(
        compute_time_ / static_cast<double>(3 * pieces.size()));
    auto deadline = SteadyClock::now();
    for (const Tensor& piece : pieces) {
        call(await, {piece.first, piece.element_count()}, deadline);
        deadline += step;
        std::this_thread::sleep_until(deadline);
    }
    double square_sum = 0;
    for (std::size_t p = pieces.size(); p-- > 0;) {
        const Range range{pieces[p].first, pieces[p].element_count()};
        square_sum += write_gradient(range, parameters, gradient);
        deadline += 2 * step;
        std::this_thread::sleep_until(deadline);
        call(ready, range, deadline);
    }
    ++gradient_index_;
    return static_cast<float>(0.5 * square_sum / static_cast<double>(parameter_count()));
}

double Synthetic::write_gradient(Range piece, std::span<const float> parameters,
                                 std::span<float> gradient) const {
    RandomStream noise(derive_seed(derive_seed(noise_seed_, gradient_index_), piece.first));
    double square_sum = 0;
    for (std::size_t k = piece.first; k < piece.first + piece.count; ++k) {
        const float distance = parameters[k] - optimum_[k];
        square_sum += static_cast<double>(distance) * distance;
        gradient[k] = distance + noise_bound_ * symmetric_unit(noise.next());
    }
    return square_sum;
}

Evaluation Synthetic::evaluate(const Batch&, std::span<const float> parameters) {
    AKO_ASSERT(parameters.size() == parameter_count(),
               std::to_string(parameters.size()) + " parameters");
    Evaluation evaluation;
    evaluation.count = parameter_count();
    const auto distance = as_array(parameters) - as_array(std::span(optimum_));
    evaluation.loss_sum = 0.5 * distance.cast<double>().square().sum();
    evaluation.correct = static_cast<std::size_t>((distance.abs() <= synthetic_tolerance).count());
    return evaluation;
}

}  // namespace ako
