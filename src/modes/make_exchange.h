// Which implementation a mode has: the one place that knows all of them.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "ako/clock.h"
#include "ako/exchange.h"
#include "ako/transport.h"
#include "src/modes/mode_settings.h"

namespace ako {

/// The exchange of `settings.exchange.mode`. `initial` is [parameter_count]; `transport` and
/// `clock` outlive it. `interrupts` counts signals that ask to end: read while waiting.
std::unique_ptr<Exchange> make_exchange(ModeSettings settings, std::vector<float> initial,
                                        Transport& transport, const Clock& clock,
                                        const std::atomic<int>& interrupts);

}  // namespace ako
