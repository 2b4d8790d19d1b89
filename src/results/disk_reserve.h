// What a checkpoint must leave free on the disk, so that the end of the run has room for what it
// comes to: the model, and beside it the files that are small. Functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ako/error.h"
#include "src/system/file_layer.h"

namespace ako {

/// The result, the summary, the curve, and the last lines of log and metrics of all peers that
/// write into one folder.
inline constexpr std::uint64_t small_files_bytes = std::uint64_t{1} << 20;

/// What the end of a run takes whose network has so many parameters.
constexpr std::uint64_t end_bytes(std::size_t parameter_count) {
    return parameter_count * sizeof(float) + small_files_bytes;
}

/// An error, in words, where `reserve` would not be free in the folder once `bytes` more are
/// written there. No error where the room is unknown: the disk refuses what it cannot take.
Result<void> keep_reserve(FileLayer& files, const std::string& folder, std::uint64_t bytes,
                          std::uint64_t reserve);

}  // namespace ako
