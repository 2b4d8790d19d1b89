#include "src/native_peer/initial_parameters.h"

#include <algorithm>
#include <cmath>

#include "ako/error.h"
#include "models/safetensors.h"
#include "src/config/key_places.h"

namespace ako {

namespace {

std::vector<float> saved_parameters(const std::string& path, const Network& network) {
    std::vector<float> parameters = read_safetensors(path, network.tensors());
    for (const Tensor& tensor : network.tensors()) {
        const auto values = std::span(parameters).subspan(tensor.first, tensor.element_count());
        if (std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }))
            continue;
        throw StartupError(path + ": " + tensor.name + " has numbers that are not finite",
                           "start from a checkpoint before the training broke");
    }
    return parameters;
}

}  // namespace

std::vector<float> initial_parameters(const Settings& settings, const Network& network) {
    if (!settings.model.initial.empty())
        return naming_key(settings, "model.initial",
                          [&] { return saved_parameters(settings.model.initial, network); });
    std::vector<float> parameters(network.parameter_count());
    network.initialize(settings.seed, parameters);
    return parameters;
}

}  // namespace ako
