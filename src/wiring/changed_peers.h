// A checkpoint that another peer has made, perhaps of a run of other peers, more or fewer or by
// other names, as one that these peers go on from. The parameters and momentum of a mode in
// lockstep do not depend on how many peers made them: its rounds are counted anew, so that the run
// stands where it stood in samples of all together, and places in the data are shared out anew.
// Where a checkpoint holds more of its peers than that, the table of modes says why it stays with
// them. A value; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ako/checkpoint.h"
#include "src/config/cluster_settings.h"

namespace ako {

class ChangedPeers {
  public:
    using Names = std::vector<std::string>;

    /// Of the run that goes on.
    explicit ChangedPeers(const Settings& settings);

    /// Why these peers cannot go on from a checkpoint of others, for people; empty if they can.
    const std::string& why_not() const { return why_not_; }
    /// What it is called here: as it was, if these made it, else as no other checkpoint is, of
    /// whatever peers. May be of round 0, where the run had hardly begun, and then nothing can be
    /// gone on from.
    CheckpointId id(const CheckpointId& made, const Names& before) const;
    /// Makes of what one of the peers `before` had kept what another one, or each of these, would.
    void apply(Checkpoint& it, const Names& before) const;

  private:
    Names peers_;
    std::string why_not_;
    bool counts_rounds_;             ///< and not samples of all together
    Round local_rounds_;             ///< from one exchange to the next
    std::size_t round_samples_max_;  ///< of one peer
    bool averages_;                  ///< of learners, of which each peer has said how many it has
};

}  // namespace ako
