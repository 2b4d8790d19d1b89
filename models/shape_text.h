// The extents of an image or of what a layer gives, for people. A function, any thread.
#pragma once

#include <string>

#include "ako/types.h"

namespace ako {

/// "28 x 28 x 1": height x width x channels.
inline std::string text_of(const Shape& shape) {
    return std::to_string(shape.height) + " x " + std::to_string(shape.width) + " x " +
           std::to_string(shape.channels);
}

}  // namespace ako
