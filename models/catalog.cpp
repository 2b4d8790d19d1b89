#include "models/catalog.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ako/assert.h"
#include "ako/error.h"
#include "models/blas.h"
#include "models/layer_chain.h"
#include "models/sequential.h"
#include "models/synthetic.h"

namespace ako {

namespace {

LayerSettings conv(std::size_t outputs, std::size_t window, std::size_t padding = 0,
                   std::size_t stride = 1) {
    return {LayerKind::conv, outputs, window, stride, padding};
}
LayerSettings max_pool(std::size_t window, std::size_t stride) {
    return {LayerKind::max_pool, 0, window, stride};
}
LayerSettings dense(std::size_t outputs) { return {LayerKind::dense, outputs}; }
const LayerSettings relu{LayerKind::relu};
const LayerSettings flatten{LayerKind::flatten};

constexpr Shape mnist_image{28, 28, 1};
constexpr Shape cifar_image{32, 32, 3};

/// The LeNet that comes with Caffe (Jia et al., 2014; after LeCun et al., "Gradient-Based Learning
/// Applied to Document Recognition", 1998), with a ReLU after each pool as well. A ReLU before the
/// pool would give the same values at four times the work.
std::vector<LayerSettings> lenet_layers() {
    return {conv(20, 5), max_pool(2, 2), relu,       conv(50, 5), max_pool(2, 2),
            relu,        flatten,        dense(500), relu,        dense(10)};
}

/// The "CIFAR-10 quick" network that comes with Caffe (after Krizhevsky's cuda-convnet), but that
/// its second and third pools take the maximum too, where Caffe's take the mean.
std::vector<LayerSettings> cifar_quick_layers() {
    return {conv(32, 5, 2), max_pool(3, 2), relu,           conv(32, 5, 2),
            relu,           max_pool(3, 2), conv(64, 5, 2), relu,
            max_pool(3, 2), flatten,        dense(64),      dense(10)};
}

/// As many as leave each group of 16 channels two.
LayerSettings group_norm() {
    LayerSettings layer{LayerKind::group_norm};
    layer.groups = 8;
    return layer;
}

/// Two convolutions, plus the input; of another shape (`stride` 2) it is subsampled and has zeros
/// as its new channels, which is the paper's option A.
LayerSettings residual_block(std::size_t outputs, std::size_t stride) {
    LayerSettings block{LayerKind::residual};
    block.layers = {conv(outputs, 3, 1, stride), group_norm(), relu, conv(outputs, 3, 1),
                    group_norm()};
    if (stride > 1) block.shortcut = {{LayerKind::subsample, outputs, 0, stride}};
    return block;
}

/// ResNet-20 for CIFAR-10 (He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition",
/// 2015, section 4.2, n = 3), but with group normalisation in place of batch normalisation, whose
/// statistics are in no flat vector; and with biases of the convolutions, 688 in all.
std::vector<LayerSettings> resnet20_layers() {
    std::vector<LayerSettings> layers{conv(16, 3, 1), group_norm(), relu};
    for (const std::size_t outputs : {16, 32, 64})
        for (const bool first : {true, false, false}) {
            layers.push_back(residual_block(outputs, first && outputs > 16 ? 2 : 1));
            layers.push_back(relu);
        }
    layers.push_back({LayerKind::global_average_pool});
    layers.push_back(dense(10));
    return layers;
}

}  // namespace

ModelSettings written_out(const ModelSettings& settings) {
    ModelSettings list = settings;
    list.kind = ModelKind::layers;
    switch (settings.kind) {
        case ModelKind::layers:
            return list;
        case ModelKind::mlp:
            list.input = mnist_image;
            list.layers = {dense(128), relu, dense(10)};
            return list;
        case ModelKind::lenet:
            list.input = mnist_image;
            list.layers = lenet_layers();
            return list;
        case ModelKind::cifar_quick:
            list.input = cifar_image;
            list.layers = cifar_quick_layers();
            return list;
        case ModelKind::resnet20:
            list.input = cifar_image;
            list.layers = resnet20_layers();
            return list;
        case ModelKind::synthetic:
        case ModelKind::external:
            break;
    }
    AKO_BUG("layers of model kind " + std::to_string(static_cast<int>(settings.kind)));
}

namespace {

LayerList layers_of(const ModelSettings& settings) {
    const ModelSettings list = written_out(settings);
    return build_layers(list.input, list.layers);
}

}  // namespace

std::unique_ptr<Network> make_network(const ModelSettings& settings, std::uint64_t noise_seed) {
    select_blas_kernels();
    if (settings.kind == ModelKind::external)
        throw StartupError("model: external is brought by a program of yours, and not by ako",
                           "start that: ako launch FILE -- PROGRAM, or it alone as one peer");
    if (settings.kind == ModelKind::synthetic)
        return std::make_unique<Synthetic>(settings, noise_seed);
    LayerList list = layers_of(settings);
    return std::make_unique<Sequential>(list.input, std::move(list.layers), std::move(list.layout),
                                        noise_seed);
}

DataShape data_shape(const ModelSettings& settings) {
    const LayerList list = layers_of(settings);
    return {list.input, list.output_shape().element_count()};
}

std::size_t activation_bytes(const ModelSettings& settings, std::size_t batch_count,
                             std::size_t evaluated_count) {
    if (settings.kind == ModelKind::synthetic) return 0;
    LayerList list = layers_of(settings);
    const std::size_t scores = list.output_shape().element_count();
    const HeldNumbers held = LayerChain(std::move(list.layers)).held_per_image();
    const std::size_t batch = list.input.element_count();
    const std::size_t numbers =
        (batch + held.always + scores) * std::max(batch_count, evaluated_count) +
        (held.backward + scores) * batch_count;
    return numbers * sizeof(float);
}

std::size_t scratch_bytes(const ModelSettings& settings, std::size_t threads) {
    if (settings.kind == ModelKind::synthetic) return 0;
    LayerList list = layers_of(settings);
    return LayerChain(std::move(list.layers)).scratch_bytes(threads);
}

}  // namespace ako
