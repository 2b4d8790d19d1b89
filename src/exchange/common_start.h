// The common start of the modes in which all wait for each other: a run is begun by everybody anew,
// or gone on with from one checkpoint that everybody has. Before the first round each peer says in
// its Status which process it is and from which checkpoints it could go on. Once all have, everyone
// comes to the same by itself. Compute thread only; told what came, and never waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ako/frame.h"
#include "ako/types.h"
#include "src/exchange/mode_settings.h"
#include "src/exchange/roster.h"

namespace ako {

/// Has `peer` made a round, as far as the sender knows?
bool has_made(const Status& status, PeerIndex peer);
/// The sender, `peer`, waits for the first round of a run, as far as it says.
bool begins_anew(const Status& status, PeerIndex peer);
/// "a and b go on from a checkpoint, c begins anew: .."; neither is empty.
std::string mixed_start_text(const ModeSettings& settings, PeerSet going_on, PeerSet anew);

class CommonStart {
  public:
    /// Both outlive this.
    CommonStart(const ModeSettings& settings, const Roster& roster)
        : settings_(settings), roster_(roster) {}

    /// Peers of which nothing has come that says how they begin.
    std::vector<PeerIndex> silent() const;

    // Once nobody is silent.
    /// What all go on from; nothing if they begin anew, or if `why_not`.
    std::optional<CheckpointId> checkpoint() const { return newest_of(settings_.checkpoints); }
    /// Why they cannot begin together, for people: some begin anew and others go on, or no
    /// checkpoint is everybody's. Empty if they can.
    std::string why_not() const;
    /// The id of the run that begins now: the same for all peers, another at every start.
    std::uint64_t id() const;

    /// The newest of this peer's checkpoints that everybody says to have; nothing: there is none.
    std::optional<CheckpointId> newest_of(const std::vector<CheckpointId>& own) const;

  private:
    const std::vector<CheckpointId>& offered(PeerIndex peer) const;
    bool everybody_has(const CheckpointId& id) const;

    const ModeSettings& settings_;
    const Roster& roster_;
};

}  // namespace ako
