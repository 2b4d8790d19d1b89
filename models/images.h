// The images of a data set as they lie in memory, in whichever of two types they came. A value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ako/types.h"

namespace ako {

/// Channels last, [count x height x width x channels]; one of the two vectors is empty.
struct Images {
    std::size_t count = 0;
    Shape shape;
    std::vector<std::uint8_t> bytes;
    std::vector<float> numbers;
};

/// The classes of the images, one per image.
using Labels = std::vector<std::uint8_t>;

/// Throws StartupError, naming the file and the item, for a label that is not below `class_count`.
void check_label(const std::string& path, std::size_t item, std::int64_t label,
                 std::size_t class_count);

}  // namespace ako
