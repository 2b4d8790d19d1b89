// How a peer of the mode `ako` comes to its first round, and what its row begins with.
//
//   waiting   for all peers, or for enough of them after `start_wait_s`, and for the initial
//             parameters if they are another peer's; then its row begins at zero, or all go on
//             together from what each has of an earlier start (a checkpoint)
//   joining   somebody had made rounds when this peer met it, or goes on from a checkpoint as this
//             one does: it takes in the rows of the run, its own among them (Joining), and claims
//             its own row in an incarnation above all others
//   begun     the own row is this process's: it may train
//   failed    too few came, its name is another's, or others go on from another run's checkpoints
//
// From begun it goes back to joining when it hears that another process has taken its row over, or
// has begun one of its name apart from it: at most `rivals_max` times, for two processes that go by
// one name would else drive each other out for ever. Told the time; waits for nothing. Compute
// thread only.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ako/ending.h"
#include "ako/frame.h"
#include "ako/threads.h"
#include "ako/types.h"
#include "src/exchange/mode_settings.h"
#include "src/exchange/roster.h"
#include "src/exchange/start_wait.h"
#include "src/modes/initial_handover.h"
#include "src/modes/others_at_start.h"
#include "src/rows/initial_values.h"
#include "src/rows/joining.h"
#include "src/rows/rows.h"

namespace ako {

class AkoBeginning {
  public:
    enum class State { waiting, joining, begun, failed };
    static constexpr unsigned rivals_max = 3;

    /// All outlive this.
    AkoBeginning(const ModeSettings& settings, Rows& rows, Roster& roster, InitialValues& initial,
                 const Joining::Send& send);

    State state() const { return state_; }
    /// On its way into a run, or to going on with one from checkpoints: it makes no rounds yet.
    bool takes_in() const {
        return state_ == State::joining || (state_ == State::waiting && goes_on()) ||
               handover_.takes();
    }
    /// It waits for nobody but for the initial parameters: for its own, or while others take them.
    bool passes_initial() const { return handover_.passes(); }
    /// With what it or others have of an earlier start, all together.
    bool goes_on() const { return others_.goes_on(); }
    /// Does it take nothing of lost peers from others? While it joins, for it does so itself; and
    /// while it begins anew where somebody goes on, for that is on a disk and no run.
    bool leaves_relays() const {
        return state_ == State::joining ||
               (state_ == State::waiting && !goes_on() && others_.resume());
    }
    /// The rows are those of a checkpoint of this run; before anything else.
    void restored(std::uint64_t run_id) { run_id_ = run_id; }
    /// See Status.
    std::uint64_t run_id() const { return run_id_; }
    /// Goes on. `unanswered`: see StartWait.
    State step(bool unanswered, Time now) AKO_COMPUTE_THREAD;
    /// Goes on with taking over the initial parameters, or giving them to the others. True: it is
    /// done. Else not yet, or it has failed.
    bool step_initial(Time now) AKO_COMPUTE_THREAD;
    /// The training is over before this peer has begun. A row that nobody has made is its own, and
    /// nothing; any other it leaves as it is to the cut, and claims nothing.
    void stop(Time now) AKO_COMPUTE_THREAD;
    /// Somebody has told of rounds that this peer was not there for, as far as is known by now.
    bool run_there() const { return others_.run_there(); }
    /// Why it failed, for people, and how the run ends for this peer.
    const std::string& why_not() const { return why_not_; }
    Ending ending() const { return ending_; }

    /// The first frame of a session of `peer`.
    void begin_session(PeerIndex peer, bool new_process, Time now) {
        joining_.begin_session(peer, new_process, now);
    }
    /// `from` says this, which Roster knows already; `first` in its session.
    void heard(PeerIndex from, const Status& status, bool first, Time now) AKO_COMPUTE_THREAD;
    void heard(PeerIndex from, const Versions& versions, Time now) {
        joining_.heard(from, versions, now);
    }
    /// A Partial came, whatever becomes of its blocks.
    void arrived(PeerIndex from, const Partial& partial, Time at) {
        joining_.arrived(from, partial, at);
    }
    void lacks(PeerIndex from, const Lack& lack, Time now) { joining_.lacks(from, lack, now); }
    /// Blocks of the own row in this version are not taken.
    bool refuses(Version version) const { return joining_.is_aside(version.incarnation); }
    void ledger_changed() { joining_.ledger_changed(); }

  private:
    void wait(bool unanswered, Time now) AKO_COMPUTE_THREAD;
    /// All are there, or enough of them, or there is a run. Else not yet, or it has failed.
    bool start_is_over(bool unanswered, Time now) AKO_COMPUTE_THREAD;
    void join(Time now) AKO_COMPUTE_THREAD;
    void meet_rival(PeerIndex from, Rival rival, Time now) AKO_COMPUTE_THREAD;
    void claim(Time now) AKO_COMPUTE_THREAD;
    /// Peers that can be reached, have something of the own row, and have not answered.
    PeerSet silent_holders() const;
    /// While it joins: whose rows are held in part, where all go on from their disks and some are
    /// not here.
    PeerSet rows_in_part() const;
    void fail(Ending ending, std::string why);
    /// An earlier process has made rounds under this name, as far as anybody has said.
    bool had_process_before() const;
    void hear_run_id(PeerIndex from, const Status& status);
    void say_what_comes();
    void say_joined(Time now, PeerSet in_part);
    std::string progress_text() const;
    const std::string& own_name() const { return settings_.peer_names[settings_.self]; }

    const ModeSettings& settings_;
    Rows& rows_;
    Roster& roster_;

    StartWait start_wait_;
    OthersAtStart others_;
    InitialHandover handover_;
    Joining joining_;
    State state_ = State::waiting;
    bool start_is_over_ = false;          ///< enough came, or there is a run
    std::optional<Time> could_begin_at_;  ///< if those that are to go on had met
    std::uint64_t run_id_ = 0;
    bool said_what_comes_ = false;
    unsigned rivals_ = 0;
    std::string why_not_;
    Ending ending_ = Ending::failed;
};

}  // namespace ako
