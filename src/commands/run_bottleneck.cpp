// See run_bottleneck.h.
#include "src/commands/run_bottleneck.h"

#include <vector>

#include "ako/mode_table.h"
#include "src/diagnosis/find_bottleneck.h"

namespace ako {

Bottleneck run_bottleneck(const Settings& settings, const RunState& state) {
    std::vector<SeenPeer> seen;
    for (std::size_t k = 0; k < state.peers().size(); ++k) {
        const MetricsLine& line = state.peers()[k].line;
        if (!has_finished(line) && line.phase != "finishing") continue;
        seen.push_back({settings.peers[k].name, settings.peers[k].role == Role::server, &line});
    }
    return find_bottleneck(seen, entry_of(settings.exchange).waits);
}

}  // namespace ako
