// How many samples per second the networks get through: their gradients at several batch sizes on
// one thread and on two, their evaluation, and the data shards that feed them; of lenet and
// cifar-quick also what OpenBLAS takes for their matrix products alone, of images that are lowered
// already.
// `items_per_second` is samples per second of processor time, of `threads` per second of the clock.
// experiments/throughput compares with PyTorch.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "models/blas.h"
#include "models/catalog.h"
#include "models/shard.h"
#include "models/workers.h"

namespace {

/// A data set that the network takes; the time does not depend on what the images show.
ako::Dataset make_dataset(const ako::DataShape& shape, std::size_t count) {
    ako::Images images{count, shape.image, {}, {}};
    images.bytes.resize(count * shape.image.element_count());
    for (std::size_t k = 0; k < images.bytes.size(); ++k)
        images.bytes[k] = static_cast<std::uint8_t>(k * 2654435761u >> 24);
    ako::Labels labels(count);
    for (std::size_t k = 0; k < count; ++k)
        labels[k] = static_cast<std::uint8_t>(k % shape.class_count);
    return ako::Dataset(std::move(images), std::move(labels));
}

struct Fixture {
    Fixture(ako::ModelKind kind, std::size_t batch_count)
        : settings{kind},
          dataset(make_dataset(ako::data_shape(settings), 4 * batch_count)),
          source(ako::make_shard(dataset, ako::Sharding::shuffled, 0, 1, 1)),
          network(ako::make_network(settings)) {
        ako::set_threads(1);
        parameters.resize(network->parameter_count());
        gradient.resize(network->parameter_count());
        network->initialize(1, parameters);
    }

    ako::ModelSettings settings;
    ako::Dataset dataset;
    std::unique_ptr<ako::BatchSource> source;
    std::unique_ptr<ako::Network> network;
    std::vector<float> parameters;
    std::vector<float> gradient;
};

void report(benchmark::State& state, std::size_t batch_count) {
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch_count));
    state.SetLabel(ako::blas_kernels());
}

void gradient(benchmark::State& state, ako::ModelKind kind) {
    const auto batch_count = static_cast<std::size_t>(state.range(0));
    Fixture fixture(kind, batch_count);
    const ako::Batch batch = fixture.source->next(batch_count);
    for (auto _ : state)
        benchmark::DoNotOptimize(
            fixture.network->gradient(batch, fixture.parameters, fixture.gradient, {}, {}));
    report(state, batch_count);
}

/// [rows x inner] times [inner x columns], and which of the two lies transposed.
struct ProductShape {
    std::size_t rows, inner, columns;
    bool left_transposed, right_transposed;
};

/// Collects the three products of a layer: forward, gradient of the weights, gradient of the input.
void add_products(std::size_t rows, std::size_t inputs, std::size_t outputs, bool first_layer,
                  std::vector<ProductShape>& shapes) {
    shapes.push_back({rows, inputs, outputs, false, true});
    shapes.push_back({outputs, rows, inputs, true, false});
    if (!first_layer) shapes.push_back({rows, outputs, inputs, false, false});
}

/// The products of one gradient of lenet, of as many lowered images at once as a cache of 512 KiB
/// holds, 9 and 4.
std::vector<ProductShape> lenet_shapes(std::size_t batch_count) {
    std::vector<ProductShape> shapes;
    for (std::size_t first = 0; first < batch_count; first += 9)
        add_products(std::min<std::size_t>(9, batch_count - first) * 24 * 24, 25, 20, true, shapes);
    for (std::size_t first = 0; first < batch_count; first += 4)
        add_products(std::min<std::size_t>(4, batch_count - first) * 8 * 8, 500, 50, false, shapes);
    add_products(batch_count, 800, 500, false, shapes);
    add_products(batch_count, 500, 10, false, shapes);
    return shapes;
}

/// The products of one gradient of cifar-quick; its convolutions take an image at once, half of
/// one, and two.
std::vector<ProductShape> cifar_quick_shapes(std::size_t batch_count) {
    std::vector<ProductShape> shapes;
    for (std::size_t n = 0; n < batch_count; ++n) add_products(32 * 32, 75, 32, true, shapes);
    for (std::size_t n = 0; n < 2 * batch_count; ++n)
        add_products(16 * 16 / 2, 800, 32, false, shapes);
    for (std::size_t n = 0; n < batch_count / 2; ++n)
        add_products(2 * 8 * 8, 800, 64, false, shapes);
    add_products(batch_count, 1024, 64, false, shapes);
    add_products(batch_count, 64, 10, false, shapes);
    return shapes;
}

ako::Matrix matrix(const std::vector<float>& memory, std::size_t rows, std::size_t columns,
                   bool transposed) {
    const ako::Matrix stored{memory.data(), transposed ? columns : rows,
                             transposed ? rows : columns};
    return transposed ? stored.transpose() : stored;
}

void products(benchmark::State& state, ako::ModelKind kind) {
    const auto batch_count = static_cast<std::size_t>(state.range(0));
    const Fixture fixture(kind, batch_count);  // picks the kernels and the number of threads
    const std::vector<ProductShape> shapes =
        kind == ako::ModelKind::lenet ? lenet_shapes(batch_count) : cifar_quick_shapes(batch_count);
    const std::vector<float> left(batch_count * 800 * 50, 0.5f);
    const std::vector<float> right(batch_count * 800 * 50, 0.5f);
    std::vector<float> result(batch_count * 800 * 50);
    for (auto _ : state) {
        for (const ProductShape& shape : shapes)
            ako::multiply(matrix(left, shape.rows, shape.inner, shape.left_transposed),
                          matrix(right, shape.inner, shape.columns, shape.right_transposed),
                          result.data(), ako::Product::overwrite);
        benchmark::DoNotOptimize(result.data());
    }
    report(state, batch_count);
}
void evaluate(benchmark::State& state, ako::ModelKind kind) {
    const auto batch_count = static_cast<std::size_t>(state.range(0));
    Fixture fixture(kind, batch_count);
    const ako::Batch batch = fixture.source->next(batch_count);
    for (auto _ : state)
        benchmark::DoNotOptimize(fixture.network->evaluate(batch, fixture.parameters));
    report(state, batch_count);
}

void shard_next(benchmark::State& state, ako::ModelKind kind) {
    const auto batch_count = static_cast<std::size_t>(state.range(0));
    Fixture fixture(kind, batch_count);
    for (auto _ : state) benchmark::DoNotOptimize(fixture.source->next(batch_count));
    report(state, batch_count);
}

/// Per second of the clock, with so many threads.
void threads(benchmark::State& state, ako::ModelKind kind) {
    const auto batch_count = static_cast<std::size_t>(state.range(0));
    Fixture fixture(kind, batch_count);
    ako::set_threads(static_cast<std::size_t>(state.range(1)));
    const ako::Batch batch = fixture.source->next(batch_count);
    for (auto _ : state)
        benchmark::DoNotOptimize(
            fixture.network->gradient(batch, fixture.parameters, fixture.gradient, {}, {}));
    report(state, batch_count);
}

void add_network(const std::string& name, ako::ModelKind kind) {
    const auto add = [&](const char* what, void (*measure)(benchmark::State&, ako::ModelKind)) {
        return benchmark::RegisterBenchmark((name + "_" + what).c_str(),
                                            [=](benchmark::State& state) { measure(state, kind); })
            ->Unit(benchmark::kMillisecond);
    };
    if (kind != ako::ModelKind::resnet20) add("products", products)->Arg(64);
    add("gradient", gradient)->Arg(16)->Arg(32)->Arg(64)->Arg(256);
    add("threads", threads)->Args({64, 1})->Args({64, 2})->UseRealTime();
    add("evaluate", evaluate)->Arg(64);
    add("shard_next", shard_next)->Arg(64);
}

}  // namespace

int main(int argc, char** argv) {
    add_network("lenet", ako::ModelKind::lenet);
    add_network("cifar_quick", ako::ModelKind::cifar_quick);
    add_network("resnet20", ako::ModelKind::resnet20);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
