// Shares of a batch on several threads.
#include <doctest/doctest.h>

#include <cmath>
#include <thread>
#include <vector>

#include "ako/network.h"
#include "gradient_check.h"
#include "models/catalog.h"
#include "models/workers.h"

namespace ako::workers_test {

namespace {

using test::random_values;

/// So many threads while a test runs.
struct Threads {
    explicit Threads(std::size_t count) { set_threads(count); }
    ~Threads() { set_threads(1); }
};

TEST_CASE("workers: everything is in one share, whatever the count and the number of threads") {
    for (const std::size_t threads : {1, 2, 3, 5, 2}) {
        const Threads set(threads);
        for (const std::size_t count : {1, 2, 3, 4, 64, 1000}) {
            std::vector<int> visits(count);
            std::vector<std::thread::id> visitors(threads);
            share_out(count, [&](std::size_t share, std::size_t first, std::size_t end) {
                visitors[share] = std::this_thread::get_id();
                for (std::size_t k = first; k < end; ++k) ++visits[k];
            });
            CHECK(visits == std::vector<int>(count, 1));
            CHECK(visitors[0] == std::this_thread::get_id());
            if (threads > 1 && count > 1) CHECK(visitors[1] != visitors[0]);
        }
    }
}

std::vector<float> gradient_of(ModelKind kind, std::size_t batch_count) {
    ModelSettings settings;
    settings.kind = kind;
    const auto network = make_network(settings, 1);
    const std::size_t pixels = data_shape(settings).image.element_count();
    std::vector<float> parameters(network->parameter_count()), gradient(parameters.size());
    network->initialize(1, parameters);
    const auto images = random_values(batch_count * pixels, 2);
    std::vector<std::uint8_t> labels(batch_count);
    for (std::size_t k = 0; k < batch_count; ++k) labels[k] = static_cast<std::uint8_t>(k % 10);
    network->gradient({images, labels, batch_count}, parameters, gradient, {}, {});
    return gradient;
}

TEST_CASE("workers: a gradient has the same bits again, and nearly those of one thread") {
    for (const ModelKind kind : {ModelKind::lenet, ModelKind::cifar_quick, ModelKind::resnet20}) {
        const auto of_one = gradient_of(kind, 5);
        const Threads set(3);
        const auto first = gradient_of(kind, 5);
        CHECK(first == gradient_of(kind, 5));
        for (std::size_t k = 0; k < first.size(); ++k)
            REQUIRE(first[k] == doctest::Approx(of_one[k]).epsilon(1e-3).scale(0.1));
    }
}

}  // namespace
}  // namespace ako::workers_test
