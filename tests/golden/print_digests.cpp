// Prints digests of initial parameters and of an anchor made of rows from a seed. Built several
// ways; all must print the same, or peers on different machines could never agree bit for bit.
#include <cstdio>
#include <vector>

#include "models/initial.h"
#include "models/random.h"
#include "src/numbers/digest.h"
#include "src/rows/anchor.h"

int main() {
    const std::vector<ako::Tensor> tensors = {
        {"conv1.weight", {20, 1, 5, 5}, 0},
        {"conv1.bias", {20}, 500},
        {"dense.weight", {500, 800}, 520},
        {"dense.bias", {500}, 400'520},
    };
    const std::size_t count = 401'020;
    std::vector<float> initial(count);
    ako::initialize_parameters(tensors, 42, initial);

    // Rows of very different sizes, so that any other order or width of the sum would show.
    ako::RandomStream random(7);
    std::vector<std::vector<float>> rows(5, std::vector<float>(count));
    std::vector<std::span<const float>> views;
    float scale = 1e-4f;
    for (auto& row : rows) {
        for (float& value : row) value = scale * ako::symmetric_unit(random.next());
        scale *= 31.0f;
        views.push_back(row);
    }
    std::vector<float> anchor(count);
    ako::compute_anchor(initial, views, {0, count}, anchor);

    ako::Sha256 of_initial;
    of_initial.add(std::span<const float>(initial));
    ako::Sha256 of_anchor;
    of_anchor.add(std::span<const float>(anchor));
    std::printf("initial %s\nanchor %s\n", ako::hex(of_initial.finish()).c_str(),
                ako::hex(of_anchor.finish()).c_str());
}
