#include "models/initial.h"

#include <algorithm>
#include <cmath>

#include "models/random.h"

namespace ako {

void initialize_parameters(const std::vector<Tensor>& tensors, std::uint64_t seed,
                           std::span<float> parameters) {
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        const Tensor& tensor = tensors[t];
        const auto values = parameters.subspan(tensor.first, tensor.element_count());
        if (tensor.shape.size() < 2) {
            // Factors of a normalisation leave things as they are at first; all others are biases.
            const bool factors = tensor.name.ends_with(".weight");
            std::fill(values.begin(), values.end(), factors ? 1.0f : 0.0f);
            continue;
        }
        const std::size_t inputs = tensor.element_count() / tensor.shape[0];
        const auto bound = static_cast<float>(std::sqrt(3.0 / static_cast<double>(inputs)));
        RandomStream random(derive_seed(seed, t));
        for (float& value : values) value = bound * symmetric_unit(random.next());
    }
}

}  // namespace ako
