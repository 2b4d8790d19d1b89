#include "src/modes/make_exchange.h"

#include <utility>

#include "ako/assert.h"
#include "src/modes/ako_exchange.h"
#include "src/modes/bucket_exchange.h"
#include "src/modes/local_exchange.h"

namespace ako {

std::unique_ptr<Exchange> make_exchange(ModeSettings settings, std::vector<float> initial,
                                        Transport& transport, const Clock& clock,
                                        const std::atomic<int>& interrupts) {
    switch (settings.exchange.mode) {
        case Mode::ako:
            return std::make_unique<AkoExchange>(std::move(settings), std::move(initial), transport,
                                                 clock, interrupts);
        case Mode::ring:
        case Mode::parameter_server:
        case Mode::local_sgd:
            return std::make_unique<BucketExchange>(std::move(settings), initial, transport, clock,
                                                    interrupts);
        case Mode::local:
            return std::make_unique<LocalExchange>(std::move(settings), std::move(initial),
                                                   interrupts);
    }
    AKO_BUG("an unknown mode");
}

}  // namespace ako
