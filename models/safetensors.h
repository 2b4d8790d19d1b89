// Reads and writes safetensors files (github.com/huggingface/safetensors), which hold named tensors
// and nothing that can be executed:
//
//   u64 header bytes, little-endian
//   header: JSON {"NAME": {"dtype": "F32", "shape": [..], "data_offsets": [begin, end]}, ..,
//                 "__metadata__": {"key": "text", ..}}, padded with spaces to a multiple of 8
//   data: the tensors, row-major, little-endian, without gaps; offsets count from here
//
// The metadata of files written here have a "crc32" (of zlib, eight hexadecimal digits) over all
// the data. Files of others need none.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ako/network.h"

namespace ako {

/// Writes the tensors of the flat vector `parameters` to `path`: under a temporary name in the same
/// folder, synced to the disk, then renamed, so that a file of that name is always whole. The file
/// that had the name before, if any, is kept as `kept` unless that is empty. Throws StartupError
/// naming the path and the reason if that fails; what was there stays there. Any thread.
void write_safetensors(const std::string& path, const std::vector<Tensor>& tensors,
                       std::span<const float> parameters,
                       const std::map<std::string, std::string>& metadata,
                       const std::string& kept = "");

/// Reads the tensors back into a flat vector laid out as `tensors` says. Throws StartupError unless
/// the file holds exactly these names with these shapes, as F32, and nothing else but metadata
/// (each name and shape that does not fit is listed), and its data have the checksum it states.
std::vector<float> read_safetensors(const std::string& path, const std::vector<Tensor>& tensors);

/// How many numbers the tensors of such a file have together, whatever they are named: by its
/// header, and the size of the file. Throws StartupError: none, or one that is damaged.
std::size_t safetensors_count(const std::string& path);

}  // namespace ako
