// Which arrays of a folder are the images and the labels of a part of a data set. In this order:
//
//   train_images.npy, train_labels.npy
//   train.npz                      one part; the same names with `test` for the other
//   the only .npz of the folder    both parts, as Keras publishes mnist.npz
//
// An archive has `images` and `labels`, or `x` and `y`, or, as one of both parts must,
// `train_images` and `train_labels`, or `x_train` and `y_train`. A function; any thread.
#pragma once

#include <string>

#include "models/npy.h"

namespace ako {

struct NpyPart {
    ArrayPlace images, labels;
};

/// Throws StartupError: which files are meant is not clear, or an archive has no such arrays.
NpyPart find_npy_part(const std::string& folder, bool train);

}  // namespace ako
