// What peers are told of the tensors of a model, so that one with another model hears where it
// differs and not only that it does. Lines "key: value"; functions, any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ako/network.h"

namespace ako {

/// At most so many bytes: a line for each tensor, "3.weight: 16 32", where all of them fit and
/// their names allow it, else as many as fit of its parts.
std::string layout_text(const std::vector<Tensor>& tensors, std::size_t bytes_max);

/// "model part 2: f0e1d2c3 conv1.weight to conv1.bias". Each part has twice as many tensors as all
/// before, so the parts begin at the same places whatever follows, and there are few. The digits
/// are of all names and shapes of the part.
std::vector<std::string> layout_parts(const std::vector<Tensor>& tensors);

}  // namespace ako
