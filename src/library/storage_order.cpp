#include "src/library/storage_order.h"

#include <algorithm>
#include <numeric>

namespace ako {
namespace {

Strides row_major_strides(const std::vector<std::size_t>& shape) {
    Strides strides(shape.size(), 1);
    for (std::size_t k = shape.size(); k-- > 1;)
        strides[k - 1] = strides[k] * static_cast<std::ptrdiff_t>(shape[k]);
    return strides;
}

/// Steps of a dimension of one element lead nowhere.
bool same(const std::vector<std::size_t>& shape, const Strides& one, const Strides& other) {
    for (std::size_t k = 0; k < shape.size(); ++k) {
        if (shape[k] > 1 && one[k] != other[k]) return false;
    }
    return true;
}

/// Appends the elements of the dimensions from `dimension` on, in row-major order.
void append(const Tensor& tensor, const Strides& strides, std::span<const float> run,
            std::size_t dimension, std::ptrdiff_t at, std::vector<float>& out) {
    if (dimension == tensor.shape.size()) {
        out.push_back(run[static_cast<std::size_t>(at)]);
        return;
    }
    for (std::size_t k = 0; k < tensor.shape[dimension]; ++k) {
        append(tensor, strides, run, dimension + 1, at, out);
        at += strides[dimension];
    }
}

}  // namespace

std::string refused_strides(const std::vector<std::size_t>& shape, const Strides& strides) {
    if (strides.empty()) return "";
    if (strides.size() != shape.size()) return "not as many strides as dimensions";
    std::vector<std::size_t> order(shape.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&strides](std::size_t a, std::size_t b) { return strides[a] < strides[b]; });
    std::ptrdiff_t dense = 1;
    for (const std::size_t k : order) {
        if (shape[k] == 1) continue;
        if (strides[k] != dense)
            return "its elements do not lie densely: the stride of dimension " +
                   std::to_string(k) + " is " + std::to_string(strides[k]) + ", not " +
                   std::to_string(dense);
        dense *= static_cast<std::ptrdiff_t>(shape[k]);
    }
    return "";
}

bool row_major(const std::vector<Tensor>& tensors, const std::vector<Strides>& strides) {
    for (std::size_t k = 0; k < tensors.size(); ++k) {
        const auto& shape = tensors[k].shape;
        if (!strides[k].empty() && !same(shape, strides[k], row_major_strides(shape))) return false;
    }
    return true;
}

std::vector<float> to_row_major(const std::vector<Tensor>& tensors,
                                const std::vector<Strides>& strides,
                                std::span<const float> flat) {
    std::vector<float> out;
    out.reserve(flat.size());
    for (std::size_t k = 0; k < tensors.size(); ++k) {
        const Tensor& tensor = tensors[k];
        const auto run = flat.subspan(tensor.first, tensor.element_count());
        append(tensor, strides[k].empty() ? row_major_strides(tensor.shape) : strides[k], run, 0, 0,
               out);
    }
    return out;
}

}  // namespace ako
