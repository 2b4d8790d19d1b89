// How long each layer takes by itself, forward and backward, at the shapes of lenet and cifar-quick
// with batches of 64; so too the softmax on top of them, the way of images into a batch, and the
// network without data. One thread, processor time. Two versions of the program are compared by
// running what was built of each in turn:
//
//   layers_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "models/augmentation.h"
#include "models/blas.h"
#include "models/catalog.h"
#include "models/dataset.h"
#include "models/initial.h"
#include "models/layer_list.h"
#include "models/random.h"
#include "models/softmax_cross_entropy.h"
#include "models/synthetic.h"
#include "models/workers.h"

namespace {

using namespace ako;

constexpr std::size_t batch_count = 64;

std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
    std::vector<float> values(count);
    RandomStream random(seed);
    for (float& value : values) value = symmetric_unit(random.next());
    return values;
}

std::vector<std::uint8_t> some_labels(std::size_t class_count) {
    std::vector<std::uint8_t> labels(batch_count);
    for (std::size_t k = 0; k < labels.size(); ++k)
        labels[k] = static_cast<std::uint8_t>(k * 7 % class_count);
    return labels;
}

/// The layers of a network with all that they read and write for one gradient: each is timed on
/// what it gets in training, where a ReLU meets as many negative numbers as positive ones.
class Passes {
  public:
    explicit Passes(ModelKind kind) : Passes(written_out({kind})) {}

    void forward(std::size_t layer) {
        list_.layers[layer]->forward(
            {batch_count, parameters_, activations_[layer], activations_[layer + 1]});
    }

    void backward(std::size_t layer) {
        BackwardPass pass{batch_count,
                          parameters_,
                          activations_[layer],
                          activations_[layer + 1],
                          gradients_[layer + 1],
                          parameter_gradient_,
                          {}};
        if (layer > 0) pass.input_gradient = gradients_[layer];  // as in a network
        list_.layers[layer]->backward(pass);
    }

    /// What is timed as softmax.
    void loss() {
        benchmark::DoNotOptimize(softmax_cross_entropy(activations_.back(), labels_, classes_));
    }
    void loss_gradient() {
        softmax_cross_entropy_gradient(activations_.back(), labels_, classes_, gradients_.back());
    }

    std::size_t layer_count() const { return list_.layers.size(); }
    const std::string& name(std::size_t layer) const { return list_.outline[layer].name; }

  private:
    explicit Passes(const ModelSettings& settings)
        : list_(build_layers(settings.input, settings.layers)),
          classes_(list_.output_shape().element_count()),
          labels_(some_labels(classes_)),
          parameters_(list_.layout.element_count()),
          parameter_gradient_(parameters_.size()) {
        initialize_parameters(list_.layout.tensors(), 1, parameters_);
        activations_.push_back(random_values(batch_count * settings.input.element_count(), 2));
        for (const auto& layer : list_.layers)
            activations_.emplace_back(batch_count * layer->output_shape().element_count());
        for (const auto& activations : activations_) gradients_.emplace_back(activations.size());
        for (std::size_t k = 0; k < list_.layers.size(); ++k) forward(k);
        loss_gradient();
        for (std::size_t k = list_.layers.size(); k-- > 0;) backward(k);
    }

    const LayerList list_;
    const std::size_t classes_;
    const std::vector<std::uint8_t> labels_;
    std::vector<float> parameters_;
    std::vector<float> parameter_gradient_;
    std::vector<std::vector<float>> activations_;  ///< the images, then of each layer
    std::vector<std::vector<float>> gradients_;    ///< of the same
};

template <class Step>
void add(const std::string& name, Step step) {
    const auto run = [step](benchmark::State& state) mutable {
        for (auto _ : state) {
            step();
            benchmark::ClobberMemory();
        }
    };
    benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMicrosecond);
}

void add_network(const std::string& network, ModelKind kind) {
    const auto passes = std::make_shared<Passes>(kind);
    for (std::size_t k = 0; k < passes->layer_count(); ++k) {
        // Several have the same name, so they are told apart by their places.
        const std::string layer = network + "/" + std::to_string(k) + "_" + passes->name(k);
        add(layer + "/forward", [passes, k] { passes->forward(k); });
        add(layer + "/backward", [passes, k] { passes->backward(k); });
    }
    add(network + "/softmax/loss", [passes] { passes->loss(); });
    add(network + "/softmax/gradient", [passes] { passes->loss_gradient(); });
}

/// A batch's worth of images, one after the other.
void add_normalisation(const std::string& name, Images images, const Normalisation& normalisation) {
    const std::size_t elements = images.shape.element_count();
    const auto dataset =
        std::make_shared<Dataset>(std::move(images), Labels(batch_count), normalisation);
    const auto batch = std::make_shared<std::vector<float>>(batch_count * elements);
    add("normalise/" + name, [=] {
        for (std::size_t k = 0; k < batch_count; ++k)
            dataset->copy_normalised(k, &(*batch)[k * elements]);
    });
}

/// What is done to a batch's worth of images once they are normalised.
void add_augmentation() {
    const Shape shape{32, 32, 3};
    const std::size_t elements = shape.element_count();
    const auto images = std::make_shared<std::vector<float>>(random_values(elements, 7));
    const auto batch = std::make_shared<std::vector<float>>(batch_count * elements);
    add("augment/cifar10", [=, number = std::uint64_t{0}]() mutable {
        for (std::size_t k = 0; k < batch_count; ++k)
            Augmentation({4, true}, 1)
                .apply(shape, *images, number++, std::span(*batch).subspan(k * elements, elements));
    });
}

void add_normalisations() {
    const auto bytes = [](Shape shape) {
        Images images{batch_count, shape, {}, {}};
        RandomStream random(3);
        for (std::size_t k = 0; k < batch_count * shape.element_count(); ++k)
            images.bytes.push_back(static_cast<std::uint8_t>(random.below(256)));
        return images;
    };
    const auto numbers = [](Shape shape) {
        return Images{
            batch_count, shape, {}, random_values(batch_count * shape.element_count(), 4)};
    };
    const Shape mnist{28, 28, 1}, cifar{32, 32, 3};
    const Normalisation one{{0.13}, {0.31}}, each{{0.49, 0.48, 0.45}, {0.25, 0.24, 0.26}};
    add_normalisation("bytes_of_mnist", bytes(mnist), one);
    add_normalisation("bytes_of_cifar10", bytes(cifar), each);
    add_normalisation("numbers_as_mnist", numbers(mnist), one);
    add_normalisation("numbers_as_cifar10", numbers(cifar), each);
}

void add_synthetic() {
    ModelSettings settings{ModelKind::synthetic};
    settings.parameters = 431'080;  // as lenet
    settings.compute_ms = 0;        // then nothing is slept
    const auto network = std::make_shared<Synthetic>(settings, 5);
    const auto parameters =
        std::make_shared<std::vector<float>>(random_values(settings.parameters, 6));
    const auto gradient = std::make_shared<std::vector<float>>(settings.parameters);
    add("synthetic/gradient", [=] { network->gradient({}, *parameters, *gradient, {}, {}); });
    add("synthetic/evaluate",
        [=] { benchmark::DoNotOptimize(network->evaluate({}, *parameters)); });
}

}  // namespace

int main(int argc, char** argv) {
    select_blas_kernels();
    set_threads(1);
    add_network("lenet", ModelKind::lenet);
    add_network("cifar-quick", ModelKind::cifar_quick);
    add_normalisations();
    add_augmentation();
    add_synthetic();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
