// What the parts of the compute half of the mode `ako` work on together: the rows, who is there,
// and how this peer begins and finishes. Each part adds what it alone keeps: AkoArrivals,
// AkoMeetings, AkoWord. Compute thread only.
#pragma once

#include <span>
#include <string>

#include "src/agreement/finish.h"
#include "src/exchange/mailbox.h"
#include "src/exchange/mode_settings.h"
#include "src/exchange/roster.h"
#include "src/modes/ako_beginning.h"
#include "src/modes/ako_budget.h"
#include "src/modes/ako_stop.h"
#include "src/rows/initial_values.h"
#include "src/rows/outbox.h"
#include "src/rows/relay.h"
#include "src/rows/rows.h"
#include "src/rows/snapshots.h"
#include "src/rows/staleness_choice.h"

namespace ako {

struct AkoParts {
    /// As AkoCompute.
    AkoParts(const ModeSettings& mode_settings, std::span<float> initial_parameters,
             Mailbox& own_mailbox, Outbox& own_outbox, Snapshots& snapshots);
    AkoParts(const AkoParts&) = delete;  // the parts refer to each other

    const std::string& name(PeerIndex peer) const { return settings.peer_names[peer]; }

    const ModeSettings& settings;
    const Blocks blocks;
    Mailbox& mailbox;
    Outbox& outbox;

    Rows rows;
    Roster roster;
    StalenessChoice staleness;
    Finish finish;
    Relaying relaying;
    InitialValues initial;
    AkoBeginning beginning;
    AkoBudget budget;
    AkoStop stop;
};

}  // namespace ako
