// Whether the rows of a peer in its final exchange are as far as they can come. Compute thread
// only.
#pragma once

#include "src/agreement/cut_puller.h"
#include "src/exchange/roster.h"
#include "src/rows/ledger.h"

namespace ako {

/// Is every row here that can still come: the last round of each live peer, what was held by all
/// of each lost one, and of the own row what earlier processes made? `cut` has what lies beside
/// the ledger where that is frozen.
bool rows_complete(const Ledger& ledger, const Roster& roster, const CutPuller& cut);

}  // namespace ako
