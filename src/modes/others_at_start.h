// What a peer of the mode `ako` has heard of the others before its own first round: who is there,
// who has begun, who goes on with an earlier run. Decides nothing: AkoBeginning does. Compute
// thread only.
#pragma once

#include <cstdint>
#include <string>

#include "ako/frame.h"
#include "ako/threads.h"
#include "ako/types.h"
#include "src/exchange/mode_settings.h"
#include "src/exchange/roster.h"

namespace ako {

class OthersAtStart {
  public:
    /// Both outlive this.
    OthersAtStart(const ModeSettings& settings, const Roster& roster)
        : settings_(settings),
          roster_(roster),
          have_from_(settings.checkpoints.empty() ? 0 : peer_bit(settings.self)),
          lowest_process_(settings.process_id) {}

    /// The first Status of a session.
    void heard_first(PeerIndex from, const Status& status);
    /// Until this peer has begun: how `from` starts.
    void heard_start(PeerIndex from, const Status& status);
    /// While this peer waits: `from` may tell of rounds that this peer was not there for.
    void heard_of_run(PeerIndex from, const Status& status);

    /// Somebody has told of such rounds, as far as is known by now.
    bool run_there() const { return run_there_ || (told_of_ & ~met_at_zero_) != 0; }
    /// There is a run for certain: by the word of one that made its rounds, or it was kept.
    bool run_certain() const { return run_there_; }
    /// From now on there is one for certain, whatever is heard.
    void keep_run_there() { run_there_ = true; }
    /// Is the first word on its way of somebody of whose rounds others have told? What they tell
    /// may be newer than that word, and that one decides.
    bool awaits_own_word() const;
    /// Somebody who can be reached has made a round.
    bool train() const;
    /// Somebody goes on with an earlier run.
    bool resume() const { return resuming_ != 0 || keeps_going_on_; }
    /// From now on that is so, though those who said it have begun.
    void keep_going_on() { keeps_going_on_ = keeps_going_on_ || goes_on(); }
    /// So does this peer.
    bool goes_on() const { return settings_.resumes || (settings_.resumes_if_any && resume()); }
    /// Everybody who has a session has said how it is.
    bool heard_all() const;
    /// Has each of those who are here a session with all of them, as far as they have said?
    bool all_have_sessions() const;
    /// Has everybody been heard of before its first round?
    bool met_all() const;
    /// Peers that are not there, or have never said how they are.
    PeerSet absent() const;
    /// Why those who are here cannot begin together, for people; empty if they can.
    std::string why_apart() const;
    /// The lowest of the processes that begin anew, this one included.
    std::uint64_t lowest_process() const { return lowest_process_; }

  private:
    const ModeSettings& settings_;
    const Roster& roster_;
    bool run_there_ = false;
    bool keeps_going_on_ = false;
    PeerSet met_at_zero_ = 0;  ///< before their first round: what they have made since came here
    PeerSet told_of_ = 0;      ///< others have told of rounds of these, not met by then
    // Processes that were heard of before this one has begun, and had not begun either.
    PeerSet resuming_ = 0;  ///< to go on with an earlier run
    PeerSet anew_ = 0;      ///< with one that begins now
    PeerSet have_from_;     ///< with a checkpoint to go on from
    std::uint64_t lowest_process_;
};

}  // namespace ako
