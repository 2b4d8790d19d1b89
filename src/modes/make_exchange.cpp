#include "src/modes/make_exchange.h"

#include <utility>

#include "ako/assert.h"
#include "ako/mode_table.h"
#include "src/modes/ako_mode.h"
#include "src/modes/bucket_mode.h"
#include "src/modes/elastic_mode.h"
#include "src/modes/local_compute.h"

namespace ako {

std::unique_ptr<Halves> make_halves(const ModeSettings& settings, std::vector<float> initial,
                                    Mailbox& mailbox, Transport& transport, const Clock& clock) {
    switch (settings.exchange.mode) {
        case Mode::ako:
            return std::make_unique<AkoMode>(settings, std::move(initial), mailbox, transport,
                                             clock);
        case Mode::ring:
            if (entry_of(settings.exchange).is_elastic())
                return std::make_unique<ElasticMode>(settings,
                                                     Buckets(settings.layers, initial.size()),
                                                     initial, mailbox, transport, clock);
            [[fallthrough]];
        case Mode::parameter_server:
        case Mode::local_sgd:
        case Mode::sma:
            return std::make_unique<BucketMode>(settings, Buckets(settings.layers, initial.size()),
                                                initial, mailbox, transport);
        case Mode::local:
            return std::make_unique<LocalMode>(settings, std::move(initial));
    }
    AKO_BUG("an unknown mode");
}

std::size_t payload_bytes_max(const ModeSettings& settings, std::size_t parameter_count) {
    if (settings.exchange.mode != Mode::ako) return 0;
    return AkoMode::payload_bytes_max(settings.peer_count(), parameter_count);
}

ModeCosts mode_costs(const ModeSettings& settings, std::size_t parameter_count) {
    switch (settings.exchange.mode) {
        case Mode::ako:
            return AkoMode::costs(settings, parameter_count);
        case Mode::ring:
            return entry_of(settings.exchange).is_elastic()
                       ? elastic_costs(settings, parameter_count)
                       : ring_costs(settings, parameter_count);
        case Mode::parameter_server:
            return server_costs(settings, parameter_count);
        case Mode::local_sgd:
            return local_sgd_costs(settings, parameter_count);
        case Mode::sma:
            return sma_costs(settings, parameter_count);
        case Mode::local:
            return LocalMode::costs(parameter_count);
    }
    AKO_BUG("an unknown mode");
}

std::unique_ptr<ModeExchange> make_exchange(ModeSettings settings, std::vector<float> initial,
                                            Transport& transport, const Clock& clock,
                                            const std::atomic<int>& interrupts) {
    const std::size_t payload_bytes = payload_bytes_max(settings, initial.size());
    const auto make = [&initial](const ModeSettings& given, Mailbox& mailbox, Transport& over,
                                 const Clock& by) {
        return make_halves(given, std::move(initial), mailbox, over, by);
    };
    return std::make_unique<ModeExchange>(std::move(settings), payload_bytes, make, transport,
                                          clock, interrupts);
}

}  // namespace ako
