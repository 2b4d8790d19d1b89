// How many images per second one thread gets through: lenet's gradient at several batch sizes, its
// evaluation, and the data shard that feeds it. `items_per_second` is images per second.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "models/blas.h"
#include "models/catalog.h"
#include "models/shard.h"

namespace {

/// A data set of MNIST's shape; the time does not depend on what the images show.
ako::Dataset make_dataset(std::size_t count) {
    ako::IdxImages images{count, ako::image_shape.height, ako::image_shape.width, {}};
    images.pixels.resize(count * ako::image_shape.element_count());
    for (std::size_t k = 0; k < images.pixels.size(); ++k)
        images.pixels[k] = static_cast<std::uint8_t>(k * 2654435761u >> 24);
    std::vector<std::uint8_t> labels(count);
    for (std::size_t k = 0; k < count; ++k) labels[k] = static_cast<std::uint8_t>(k % 10);
    return ako::Dataset(std::move(images), std::move(labels));
}

struct Fixture {
    explicit Fixture(std::size_t batch_count)
        : dataset(make_dataset(4 * batch_count)),
          source(ako::make_shard(dataset, ako::Sharding::shuffled, 0, 1, 1)) {
        ako::ModelSettings settings;
        settings.kind = ako::ModelKind::lenet;
        network = ako::make_network(settings);
        ako::set_blas_threads(1);
        parameters.resize(network->parameter_count());
        gradient.resize(network->parameter_count());
        network->initialize(1, parameters);
    }

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

void lenet_gradient(benchmark::State& state) {
    const auto batch_count = static_cast<std::size_t>(state.range(0));
    Fixture fixture(batch_count);
    const ako::Batch batch = fixture.source->next(batch_count);
    for (auto _ : state)
        benchmark::DoNotOptimize(
            fixture.network->gradient(batch, fixture.parameters, fixture.gradient, {}, {}));
    report(state, batch_count);
}
BENCHMARK(lenet_gradient)->Arg(16)->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond);

void lenet_evaluate(benchmark::State& state) {
    const auto batch_count = static_cast<std::size_t>(state.range(0));
    Fixture fixture(batch_count);
    const ako::Batch batch = fixture.source->next(batch_count);
    for (auto _ : state)
        benchmark::DoNotOptimize(fixture.network->evaluate(batch, fixture.parameters));
    report(state, batch_count);
}
BENCHMARK(lenet_evaluate)->Arg(64)->Unit(benchmark::kMillisecond);

void shard_next(benchmark::State& state) {
    const auto batch_count = static_cast<std::size_t>(state.range(0));
    Fixture fixture(batch_count);
    for (auto _ : state) benchmark::DoNotOptimize(fixture.source->next(batch_count));
    report(state, batch_count);
}
BENCHMARK(shard_next)->Arg(64)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
