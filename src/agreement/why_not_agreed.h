// What is said of the end of a run in mode `ako` when there was no agreement: what was lacking, and
// of whom. Peers are blamed only where they are missing. Compute thread only.
#pragma once

#include <string>

#include "src/agreement/finish.h"
#include "src/exchange/mode_settings.h"
#include "src/exchange/roster.h"

namespace ako {

/// Can enough peers for the rest of the final exchange still be there, or come? A majority of the
/// file until the cut is decided, and enough votes (Voter::enough); then one other. A peer that
/// left, or is lost while nobody listens at its address, is not waited for: nobody knows whether it
/// will be started again, and then it would have no vote.
bool agreement_possible(const Roster& roster, const Finish& finish);

/// For people; after a final exchange without agreement.
std::string why_not_agreed(const ModeSettings& settings, const Roster& roster,
                           const Finish& finish);

}  // namespace ako
