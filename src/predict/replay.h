// The replay: what a round takes in a mode whose peers wait for each other, found by playing its
// events in virtual time. Played are the layers of every pass, buckets that are given and awaited,
// the messages of the mode's sync plan (src/modes/sync_plan.h) in the order in which a link sends
// them, links that are shared, and a transport whose processor time comes out of the same quota as
// the layers'. What is not played: frames (a message is one), acknowledgements, loss. Pure; any
// thread.
#pragma once

#include <cstddef>
#include <vector>

#include "ako/types.h"
#include "src/modes/sync_plan.h"

namespace ako {

/// One thing that a gradient does: `seconds` of processor, and then it awaits the parameters of a
/// range, or is ready with their gradient.
struct GradientStep {
    enum class Kind { await, ready, end };
    Kind kind = Kind::end;
    Range range;
    double seconds = 0;
};

struct ReplayMachine {
    bool trains = true;
    /// Processors that all threads of the peer may use at once, as a group's quota has it: with a
    /// period they run at full speed until cores * period_s is spent, and then wait for the next.
    double cores = 2;
    double period_s = 0;           ///< 0: no quota, or one that nobody feels
    double period_lost_s = 0;      ///< of a period's quota
    double compute_scale = 1;      ///< of all processor times
    double egress_s_per_byte = 0;  ///< of its link; 0: it takes no time
    double ingress_s_per_byte = 0;
};

struct ReplayInput {
    std::vector<ReplayMachine> machines;
    std::vector<GradientStep> gradient;  ///< the last is `end`
    double round_s = 0;                  ///< processor: of a round beside its gradient
    std::vector<Range> buckets;
    std::vector<SyncPlan> plans;  ///< [bucket]
    std::size_t rounds_per_sync = 1;
    /// What a sync gives is awaited before the next is given, and not by the layers that read it:
    /// at the end of the next round (`by_end`, all at once), or as its gradient is ready.
    bool ahead = false;
    bool by_end = false;         ///< buckets are given at the end of a round, all at once
    double send_s_per_byte = 0;  ///< processor
    double take_s_per_byte = 0;
    double send_s = 0;  ///< processor, of a message; likewise the next
    double take_s = 0;
    double latency_s = 0;  ///< from the last byte sent to the last that has come
    double spread = 0;     ///< standard deviation of the layers' times, as a share of them
};

struct ReplayResult {
    double round_s = 0;    ///< from one end of a round to the next, in the mean
    double compute_s = 0;  ///< of it computing, stalled by a quota or not: the slowest machine
    double wait_s = 0;     ///< awaiting others: the slowest machine
    /// [machine] Seconds of processor in a round, of all that is played.
    std::vector<double> busy_s;
    std::size_t events = 0;
};

/// Of as many rounds as it takes to become steady, the later ones count. No rounds (round_s 0): it
/// would take too long.
ReplayResult replay(const ReplayInput& input);

}  // namespace ako
