// How the final exchange ended for this peer, from what is known of each peer and of the cut. A
// pure function; compute thread only.
#pragma once

#include "ako/exchange.h"
#include "src/agreement/end_times.h"
#include "src/agreement/finish.h"
#include "src/exchange/mode_settings.h"
#include "src/exchange/roster.h"

namespace ako {

/// All but what the caller knows: its rounds, the progress and why training ended.
FinishReport finish_report(const ModeSettings& settings, const Roster& roster, const Finish& finish,
                           const EndTimes& times);

}  // namespace ako
