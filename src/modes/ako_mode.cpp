// See ako_mode.h.
#include "src/modes/ako_mode.h"

#include <algorithm>

#include "ako/payload.h"
#include "src/rows/row_copies.h"

namespace ako {

ModeCosts AkoMode::costs(const ModeSettings& settings, std::size_t parameter_count) {
    const std::size_t peers = settings.peer_count();
    const std::size_t others = peers - 1;
    const std::size_t vector_bytes = parameter_count * sizeof(float);
    ModeCosts costs;
    costs.memory = {
        {"rows of the others", "(n - 1) M", others * vector_bytes},
        {"marks of their stand-ins", "(n - 1) M", others * vector_bytes, false},
        {"pool for one round's ingress", "(n - 1) max(M, 1 MiB)",
         payload_bytes_max(peers, parameter_count)},
        {"own row: six snapshots, carry", "7 M", 7 * vector_bytes},
        {"momentum", "M", vector_bytes},
        {"replica", "M", vector_bytes},
        {"own row and anchor of the cut", "2 M", 2 * vector_bytes},
        {"blocks of the cut beside the rows", "(n - 1) M", others * vector_bytes, false},
        {"relays under way, at most", "n x 4 MiB", peers * Outbox::relay_bytes_max, false}};
    const std::size_t copies = others == 0 ? 0 : RowCopies(peers, 1).copies();
    costs.checkpoint = {"checkpoint being written", "(3 + max(1, (n - 1) / 2)) M",
                        (copies + 3) * vector_bytes};
    // What the schedules of all links grant, in float32. Relays come on top, of what somebody has
    // lost.
    const unsigned fixed = settings.exchange.partitions;
    const Waits waits{0, settings.exchange.staleness_rounds_max.value_or(0), 0, {}};
    const double partitions = std::max(1.0, waits.cycle_max(fixed));
    costs.sent = {
        {.way = SentBytes::Way::to_all,
         .bytes = static_cast<double>(others * payload_bytes_of(parameter_count)) / partitions,
         .at_most = fixed == 0}};
    costs.row = Blocks(parameter_count, settings.block_elements);
    return costs;
}

}  // namespace ako
