// Where a process is in its run. Each fault is to strike in each of them; coverage.h counts.
#pragma once

#include <array>
#include <cstdint>

namespace ako::sim {

enum class Phase : std::uint8_t {
    connecting,  ///< before its first round, with nothing to join
    joining,     ///< it takes in what a run that goes on has come to
    training,
    finishing,  ///< from its last round until it has adopted a cut
    lingering,  ///< and serves the others
    count
};

inline constexpr std::array<const char*, static_cast<std::size_t>(Phase::count)> phase_words = {
    "connecting", "joining", "training", "finishing", "lingering"};

}  // namespace ako::sim
