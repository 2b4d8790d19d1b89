// What every peer says of itself, taken in and put together: in the modes with buckets, in which
// all end together and come to the same. Compute thread only.
#pragma once

#include <cstdint>
#include <optional>

#include "ako/exchange.h"
#include "ako/threads.h"
#include "src/group/mailbox.h"
#include "src/group/roster.h"

namespace ako {

/// Takes in who came and went, and what each has said since the last time; `own_round` is this
/// peer's.
void take_in(Roster& roster, Mailbox& mailbox, Round own_round) AKO_COMPUTE_THREAD;

/// What a peer itself knows of why training ended.
struct OwnStop {
    StopReason wish = StopReason::none;         ///< its own
    StopReason stopped_for = StopReason::none;  ///< what it stopped for
};

/// Into a report that has the samples of all: why training ended, for whom, and how far it came.
/// When everybody's digest is here so is its wish, which comes with it.
void report_stop(FinishReport& report, const Roster& roster, const OwnStop& own,
                 std::uint64_t sample_budget);

/// The newest of `own` and of those that were told.
std::optional<Verdict> newest_verdict(const Roster& roster, std::optional<Verdict> own);

}  // namespace ako
