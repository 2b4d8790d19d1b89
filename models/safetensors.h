// Reads and writes safetensors files (github.com/huggingface/safetensors), which hold named tensors
// and nothing that can be executed:
//
//   u64 header bytes, little-endian
//   header: JSON {"NAME": {"dtype": "F32", "shape": [..], "data_offsets": [begin, end]}, ..,
//                 "__metadata__": {"key": "text", ..}}, padded with spaces to a multiple of 8
//   data: the tensors, row-major, little-endian, without gaps; offsets count from here
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "ako/network.h"

namespace ako {

/// Writes the tensors of the flat vector `parameters` to `path`: under a temporary name in the same
/// folder, synced to the disk, then renamed, so that a file of that name is always whole. Throws
/// StartupError naming the path and the reason if that fails.
void write_safetensors(const std::string& path, const std::vector<Tensor>& tensors,
                       std::span<const float> parameters,
                       const std::map<std::string, std::string>& metadata);

/// Reads the tensors back into a flat vector laid out as `tensors` says. Throws StartupError unless
/// the file holds exactly these names with these shapes, as F32, and nothing else but metadata.
std::vector<float> read_safetensors(const std::string& path, const std::vector<Tensor>& tensors);

}  // namespace ako
