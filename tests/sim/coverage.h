// What the runs of the simulator went through: how often each fault struck and each transition of
// the protocol was made. A fault that never strikes, or an answer of the protocol that is never
// given, proves nothing; so the counts are printed and `simulate --covered` fails on a zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/sim/fault.h"
#include "tests/sim/phase.h"

namespace ako::sim {

enum class Event : std::uint8_t {
    // what is done to the cluster, beside what has a phase
    loss,              ///< of a frame, and so of its session
    reordering,        ///< of a Partial, or a second copy of it
    flipped_bit,       ///< in a payload
    not_finite_block,  ///< with a checksum that fits
    damaged_header,    ///< ends its session
    requested_stop,
    target_reached,
    hurried_end,   ///< a peer does not wait for the lost
    narrow_links,  ///< a row takes longer than the linger
    restart,       ///< another process began under a name
    again,         ///< for at least the third time
    elsewhere,     ///< while another of its name lived
    // what comes of it
    session_again,
    second_refused,  ///< by somebody who has a session with another process of its name
    joined,          ///< a process has its row back, and trains on
    joined_to_end,   ///< or goes straight to the final exchange
    fresh_start,     ///< a process whose name had made rounds begins at zero: nobody knew of them
    overtaken,       ///< a process finds that another took its name over, or was before it
    gave_up,         ///< and gives up
    vote_regained,
    vote_missing,     ///< a run ended before a process had its vote back
    apart,            ///< a cut was accepted by one that did not know what it had forgotten
    damage_parted,    ///< a session ended because a block had come damaged
    silence_noticed,  ///< a session ended because nothing came over it
    abandoned_frame,  ///< a frame broke off after room for it was made
    stalled_link,     ///< a receiver had no room
    relayed_partial,
    refused_block,
    advance,     ///< a peer begins to stand in for another
    standstill,  ///< and ends to
    staleness_wait,
    gave_way,         ///< part of a row, to what was learned apart, in a round
    gave_way_at_end,  ///< or in the final exchange
    proposal,         ///< a Prepare arrived
    second_proposer,  ///< of another peer than all before
    outbid,           ///< a Promise names a newer ballot
    reproposal,       ///< an Accept for the cut of an older ballot
    cut_pulled,       ///< a block of exactly one version was asked for
    cut_overrides,    ///< a peer that adopted the cut held something newer
    long_pull,        ///< a peer adopted the cut by more than the linger after the first
    goodbye,
    early_blocks,    ///< a part of a round was posted before the rest of it was made
    update,          ///< a round ended with what the peer's own optimizer made
    gone,            ///< a peer takes another for gone: nobody listens where it was
    left_early,      ///< a peer left on purpose
    handed_over,     ///< when others held its whole row
    refused_growth,  ///< what a peer gave was far beyond what is usual, and it ended
    left_behind,     ///< a peer stops because all others went while it stood still or was cut off
    no_agreement,
    count
};

class Coverage {
  public:
    void saw(Event event, std::uint64_t times = 1) {
        times_[static_cast<std::size_t>(event)] += times;
    }
    std::uint64_t times(Event event) const { return times_[static_cast<std::size_t>(event)]; }
    /// A fault of this kind struck a process in this phase.
    void struck(FaultKind kind, Phase phase) { ++struck_[place(kind, phase)]; }
    Coverage& operator+=(const Coverage& other);

    /// For people, a few lines.
    std::string text() const;
    /// The events that never occurred, by name, and the faults that never struck in a phase; empty
    /// if all did.
    std::string never() const;

  private:
    static constexpr std::size_t phases = static_cast<std::size_t>(Phase::count);
    static constexpr std::size_t kinds = static_cast<std::size_t>(FaultKind::count);
    static std::size_t place(FaultKind kind, Phase phase) {
        return static_cast<std::size_t>(kind) * phases + static_cast<std::size_t>(phase);
    }
    static bool has_phases(FaultKind kind);

    std::array<std::uint64_t, static_cast<std::size_t>(Event::count)> times_{};
    std::array<std::uint64_t, kinds * phases> struck_{};
};

}  // namespace ako::sim
