#include "models/catalog.h"

#include <string>
#include <utility>
#include <vector>

#include "ako/assert.h"
#include "ako/error.h"
#include "models/blas.h"
#include "models/convolution.h"
#include "models/dense.h"
#include "models/flatten.h"
#include "models/max_pool.h"
#include "models/relu.h"
#include "models/sequential.h"
#include "models/synthetic.h"

namespace ako {

namespace {

/// Collects layers, each shaped by the one before.
struct Builder {
    ParameterLayout layout;
    std::vector<std::unique_ptr<Layer>> layers;
    Shape shape = image_shape;

    template <class L>
    void add(std::unique_ptr<L> layer) {
        shape = layer->output_shape();
        layers.push_back(std::move(layer));
    }
    void dense(const std::string& name, std::size_t outputs) {
        add(std::make_unique<Dense>(name, shape, outputs, layout));
    }
    void convolution(const std::string& name, std::size_t outputs, std::size_t window) {
        add(std::make_unique<Convolution>(name, shape, outputs, window, layout));
    }
    void max_pool() { add(std::make_unique<MaxPool>(shape)); }
    void relu() { add(std::make_unique<Relu>(shape)); }
    void flatten() { add(std::make_unique<Flatten>(shape)); }

    std::unique_ptr<Network> build() {
        return std::make_unique<Sequential>(image_shape, std::move(layers), std::move(layout));
    }
};

std::unique_ptr<Network> make_mlp() {
    Builder builder;
    builder.dense("dense1", 128);
    builder.relu();
    builder.dense("dense2", class_count);
    return builder.build();
}

/// The LeNet that comes with Caffe (Jia et al., 2014; after LeCun et al., "Gradient-Based Learning
/// Applied to Document Recognition", 1998), with a ReLU after each pool as well. A ReLU before the
/// pool would give the same values at four times the work.
std::unique_ptr<Network> make_lenet() {
    Builder builder;
    builder.convolution("conv1", 20, 5);
    builder.max_pool();
    builder.relu();
    builder.convolution("conv2", 50, 5);
    builder.max_pool();
    builder.relu();
    builder.flatten();
    builder.dense("dense1", 500);
    builder.relu();
    builder.dense("dense2", class_count);
    return builder.build();
}

}  // namespace

std::unique_ptr<Network> make_network(const ModelSettings& settings, std::uint64_t noise_seed) {
    select_blas_kernels();
    switch (settings.kind) {
        case ModelKind::mlp:
            return make_mlp();
        case ModelKind::lenet:
            return make_lenet();
        case ModelKind::synthetic:
            return std::make_unique<Synthetic>(settings, noise_seed);
    }
    AKO_ASSERT(false, "model kind " + std::to_string(static_cast<int>(settings.kind)));
}

void check_fits(const Dataset& dataset, const std::string& path) {
    if (dataset.rows() == image_shape.height && dataset.columns() == image_shape.width) return;
    throw StartupError(path + ": the images are of " + std::to_string(dataset.rows()) + " x " +
                           std::to_string(dataset.columns()) + " pixels, the network takes " +
                           std::to_string(image_shape.height) + " x " +
                           std::to_string(image_shape.width),
                       "point data.path at MNIST or a set of the same shape");
}

}  // namespace ako
