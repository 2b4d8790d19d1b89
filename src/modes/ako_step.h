// How a peer of the mode `ako` keeps step with the others before each round: whether they wait for
// each other at all (StalenessChoice, in AkoParts), whether this one has to now (StalenessBound),
// and what follows for its rows, for what is sent and for what it says. Compute thread only.
#pragma once

#include "ako/threads.h"
#include "src/modes/ako_parts.h"
#include "src/modes/ako_word.h"
#include "src/rows/staleness_bound.h"

namespace ako {

class AkoStep {
  public:
    /// Both outlive this.
    AkoStep(AkoParts& parts, AkoWord& word)
        : parts_(parts),
          word_(word),
          bound_(parts.settings.times().life_timeout, parts.rows.ledger(), parts.roster) {}

    /// Has the next round to wait? Ask again after the next event. Neither ends nor leaves.
    bool must_wait(Time now) AKO_COMPUTE_THREAD;
    /// The run begins, or begins anew.
    void begin() AKO_COMPUTE_THREAD;

  private:
    void choose(Time now) AKO_COMPUTE_THREAD;
    void count_marks() AKO_COMPUTE_THREAD;
    void count_waiting(Time now) AKO_COMPUTE_THREAD;

    AkoParts& parts_;
    AkoWord& word_;
    StalenessBound bound_;
    bool held_back_ = false;
    std::uint64_t number_ = 0;  ///< of the choice since which waiting is counted
    Time since_{}, looked_at_{}, waited_{};
};

}  // namespace ako
