// The times of an exchange as durations: what the cluster file says in seconds and milliseconds,
// and what follows from it. Made of the settings here and nowhere else. Values; any thread.
#pragma once

#include <chrono>
#include <optional>

#include "ako/algorithm_settings.h"
#include "ako/types.h"

namespace ako {

struct ExchangeTimes {
    Time start_wait{};       ///< for all peers of the file; then enough of them begin
    Time heartbeat{};        ///< so often a peer says how far it is
    Time life_timeout{};     ///< who is silent for so long is lost
    Time finish_exchange{};  ///< how long the end waits for the last round of every live peer
    Time finish_timeout{};   ///< nothing moves for so long: end without
    Time finish_linger{};    ///< one that has finished serves those that do not move for so long
    Time leave_timeout{};    ///< how long one that leaves hands over
    /// How long an answer is waited for; nothing: as answers were seen to take, for each peer.
    std::optional<Time> answers_within = {};
};

/// What is left of finish_timeout after the last rounds has to do for ballots, and for pulling the
/// cut over the slowest link, before anybody gives up.
inline constexpr double finish_exchange_share = 0.25;
/// One that has finished has nothing to hand over, as one that leaves has; so it goes well before
/// the moment for which a supervisor's patience is set.
inline constexpr double finish_linger_share = 0.4;

inline ExchangeTimes times_of(const ExchangeSettings& exchange) {
    return {.start_wait = from_seconds(exchange.start_wait_s),
            .heartbeat = std::chrono::milliseconds(exchange.heartbeat_ms),
            .life_timeout = std::chrono::milliseconds(exchange.life_timeout_ms),
            .finish_exchange = from_seconds(exchange.finish_timeout_s * finish_exchange_share),
            .finish_timeout = from_seconds(exchange.finish_timeout_s),
            .finish_linger = from_seconds(exchange.leave_timeout_s * finish_linger_share),
            .leave_timeout = from_seconds(exchange.leave_timeout_s)};
}

}  // namespace ako
