// The parameters of a network: named tensors laid one after the other, without gaps, into one flat
// float32 vector, so that cutting the vector by offset is all it takes to partition a network.
// A value, built once by the layers' constructors, first layer first.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ako/network.h"

namespace ako {

class ParameterLayout {
  public:
    /// Appends a tensor; returns the elements it takes up.
    Range add(std::string name, std::vector<std::size_t> shape) {
        Tensor tensor{std::move(name), std::move(shape), element_count_};
        const Range range{tensor.first, tensor.element_count()};
        element_count_ += range.count;
        tensors_.push_back(std::move(tensor));
        return range;
    }

    const std::vector<Tensor>& tensors() const { return tensors_; }
    std::size_t element_count() const { return element_count_; }

  private:
    std::vector<Tensor> tensors_;
    std::size_t element_count_ = 0;
};

}  // namespace ako
