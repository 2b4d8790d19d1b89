// See elastic_mode.h.
#include "src/modes/elastic_mode.h"

#include "ako/payload.h"

namespace ako {

// Sums of two syncs, so that who is behind is handed what others hold; what small layers of others
// are read into lies apart, of two syncs as well. A newcomer is sent the state beside that, once.
ModeCosts elastic_costs(const ModeSettings& settings, std::size_t parameter_count) {
    const std::size_t vector_bytes = parameter_count * sizeof(float);
    ModeCosts costs;
    costs.memory = {{"replica", "M", vector_bytes},
                    {"sums of two syncs, small layers", "4 M", 4 * vector_bytes},
                    {"momentum", "M", vector_bytes}};
    costs.sent = {
        {.way = SentBytes::Way::to_successor,
         .bytes = all_reduce_bytes(settings.peer_count(), payload_bytes_of(parameter_count))}};
    return costs;
}

}  // namespace ako
