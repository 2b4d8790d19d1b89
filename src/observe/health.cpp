// See health.h.
#include "src/observe/health.h"

#include <fmt/format.h>

namespace ako {

Health health_of(const Board::Post& newest, std::chrono::steady_clock::time_point now) {
    if (!newest.observed) return {false, "nothing is known yet: the peer has only just begun"};
    const MetricsLine& line = newest.observed->line;
    const std::string at = fmt::format("{}, round {}", line.phase, line.round);
    const std::string& peer = newest.observed->run.peer;
    const auto silence = std::chrono::duration_cast<std::chrono::seconds>(now - newest.at);
    if (stands_still(static_cast<double>(silence.count())))
        return {false, fmt::format("{} has stood still for {} s: {}", peer, silence.count(), at)};
    return {true, fmt::format("{} is well: {}", peer, at)};
}

}  // namespace ako
