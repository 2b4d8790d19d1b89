#include "models/dropout.h"

#include <algorithm>

#include "ako/assert.h"
#include "models/random.h"

namespace ako {

namespace {

// One draw of 64 bits decides over four values, each by 16 bits of it.
constexpr std::size_t values_of_draw = 4;
constexpr unsigned bits_of_value = 16;
constexpr std::uint32_t ways = 1u << bits_of_value;

std::uint32_t dropped_of(double rate) {
    return static_cast<std::uint32_t>(std::clamp(rate * ways + 0.5, 1.0, ways - 1.0));
}

}  // namespace

Dropout::Dropout(Shape shape, double rate, std::uint64_t number)
    : shape_(shape),
      number_(number),
      dropped_(dropped_of(rate)),
      kept_factor_(static_cast<float>(ways) / static_cast<float>(ways - dropped_)) {
    AKO_ASSERT(rate > 0 && rate < 1, "a dropout of " + std::to_string(rate));
}

void Dropout::forward(const ForwardPass& pass) { multiply(pass.chance, pass.input, pass.output); }

void Dropout::backward(const BackwardPass& pass) {
    if (pass.input_gradient.empty()) return;
    multiply(pass.chance, pass.output_gradient, pass.input_gradient);
}

void Dropout::multiply(std::optional<std::uint64_t> chance, std::span<const float> from,
                       std::span<float> to) const {
    if (!chance) {
        std::copy(from.begin(), from.end(), to.begin());
        return;
    }
    RandomStream random(derive_seed(*chance, number_));
    for (std::size_t first = 0; first < from.size(); first += values_of_draw) {
        const std::uint64_t bits = random.next();
        const std::size_t count = std::min(values_of_draw, from.size() - first);
        for (std::size_t k = 0; k < count; ++k) {
            const auto own = static_cast<std::uint32_t>(bits >> (bits_of_value * k)) & (ways - 1);
            to[first + k] = from[first + k] * (own < dropped_ ? 0.0f : kept_factor_);
        }
    }
}

}  // namespace ako
