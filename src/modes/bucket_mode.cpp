// See bucket_mode.h.
#include "src/modes/bucket_mode.h"

#include "ako/assert.h"
#include "src/buckets/push_pull.h"
#include "src/buckets/ring.h"

namespace ako {
std::unique_ptr<BucketProtocol> make_protocol(const ModeSettings& settings, const Buckets& buckets,
                                              std::span<const float> initial, BucketBoard& board,
                                              Transport& transport) {
    if (settings.exchange.mode == Mode::parameter_server)
        return std::make_unique<PushPull>(settings, buckets, initial, board, transport);
    return std::make_unique<Ring>(buckets, settings.self, settings.peer_count(),
                                  settings.straight_bytes_max, board, transport);
}

std::unique_ptr<BucketUpdate> make_update(const ModeSettings& settings,
                                          std::span<const float> initial,
                                          BucketProtocol& protocol) {
    std::vector<float> start(initial.begin(), initial.end());
    switch (settings.exchange.mode) {
        case Mode::ring:
            return std::make_unique<MeanGradient>(settings.training, std::move(start),
                                                  settings.peer_count());
        case Mode::local_sgd:
            return std::make_unique<MeanOfLocalRounds>(settings.training,
                                                       settings.exchange.local_sgd,
                                                       std::move(start), settings.peer_count());
        case Mode::parameter_server:
            if (settings.role(settings.self) == Role::server) return nullptr;
            return std::make_unique<PulledParameters>(protocol.result());
        case Mode::ako:
        case Mode::local:
            break;
    }
    AKO_BUG("a mode without buckets");
}

}  // namespace ako
