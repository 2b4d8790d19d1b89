// A fault: one thing that is done to a simulated cluster, as a value. A scenario has a list of
// them, its schedule; everything that goes wrong in a run stands there, so that a failing run can
// be made with fewer of them (shrink.h), and written down in one line:
//
//     restart 2 @120 for 35; cut 0,3 @stop+10 for 200; silence 1>0 @33 for 50; loss *0.01
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ako/types.h"

namespace ako::sim {

/// What is done; to whom, `Fault` says.
enum class FaultKind : std::uint8_t {
    kill,      ///< the process ends; others see that at once
    vanish,    ///< it ends with its machine: others see nothing
    restart,   ///< it is killed, or dead already, and after a while another begins under its name
    reboot,    ///< the same, with its machine
    second,    ///< another process begins under its name, elsewhere, while it lives
    late,      ///< its first process begins at that time
    hang,      ///< its compute thread stands still, its network thread does not
    pause,     ///< the whole process stands still
    suspend,   ///< and its clock with it
    drift,     ///< its clock goes so many times as fast as the others'
    hurry,     ///< it is asked to end when it has stopped training: it does not wait for the lost
    leave,     ///< it is asked to leave, as by SIGTERM: the others go on without it
    explode,   ///< what its rounds give is so many times as large from then on
    cut,       ///< sessions with all others end and can not stand
    dark,      ///< nothing arrives from these peers at the others, nor from others at them
    silence,   ///< nothing arrives from these peers at those (or all others)
    stop,      ///< somebody is asked to stop: the first live peer from this one on
    target,    ///< or has reached the target
    loss,      ///< of every frame, with this probability; ends its session
    flip,      ///< of a bit of a payload, with this probability
    infinite,  ///< values of one block of a Partial, with this probability
    header,    ///< a frame's header comes damaged, with this probability; ends its session
    slow,      ///< one link, in Mbit/s
    rates,     ///< of every link change all the time
    pool,      ///< of ingress, in bytes; small ones make receivers stop reading
    count
};

/// What a fault waits for, beside its time.
enum class Trigger : std::uint8_t {
    begin,   ///< of the run
    join,    ///< somebody begins to join a run that goes on
    claim,   ///< somebody who joined has its row back
    stop,    ///< somebody has ended its last round
    accept,  ///< somebody has accepted a cut, and not said so yet
    decide,  ///< somebody knows the decision, and has not said so yet
    adopt,   ///< somebody has adopted the cut
    count
};

struct Fault {
    FaultKind kind = FaultKind::kill;
    std::optional<PeerIndex> peer;  ///< nothing: whoever pulled the trigger
    PeerSet side = 0;               ///< cut, dark, silence: these peers; 0: `peer`
    PeerSet others = 0;             ///< silence, slow: those; 0: all but `side`
    Trigger trigger = Trigger::begin;
    Time at{0};     ///< after the trigger
    Time lasts{0};  ///< where it ends by itself; of a restart, until the next process begins
    double amount = 0;

    bool operator==(const Fault&) const = default;
};

using Schedule = std::vector<Fault>;

const char* word(FaultKind kind);

std::string text(const Fault& fault);
std::string text(const Schedule& schedule);
/// Reads a text as above; throws std::invalid_argument with the part that it does not understand.
Schedule parse_schedule(std::string_view text);

/// Is it part of the run from its beginning to its end?
bool is_lasting(FaultKind kind);
/// Does it have a length that can be changed?
bool has_length(FaultKind kind);

}  // namespace ako::sim
