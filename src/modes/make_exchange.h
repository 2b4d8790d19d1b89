// Which halves a mode has, and what it costs: the one place that knows all modes.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "src/exchange/mode_exchange.h"
#include "src/modes/costs.h"

namespace ako {

/// The halves of `settings.exchange.mode`. `initial` is [parameter_count]; `mailbox`, `transport`
/// and `clock` outlive them.
std::unique_ptr<Halves> make_halves(const ModeSettings& settings, std::vector<float> initial,
                                    Mailbox& mailbox, Transport& transport, const Clock& clock);

/// What its Mailbox may hold of payloads, bytes: see there.
std::size_t payload_bytes_max(const ModeSettings& settings, std::size_t parameter_count);

/// What that mode costs. It needs only what the cluster file says in `settings`.
ModeCosts mode_costs(const ModeSettings& settings, std::size_t parameter_count);

/// The exchange with that mode; see ModeExchange.
std::unique_ptr<ModeExchange> make_exchange(ModeSettings settings, std::vector<float> initial,
                                            Transport& transport, const Clock& clock,
                                            const std::atomic<int>& interrupts);

}  // namespace ako
