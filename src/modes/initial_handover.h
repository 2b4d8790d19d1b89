// How a peer of the mode `ako` comes to the initial parameters of the run, where they are not the
// same for all: the lowest peer of the file gives its own to the others, which take them over. What
// they are and which blocks lack, InitialValues knows. Compute thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ako/frame.h"
#include "ako/types.h"
#include "src/exchange/mode_settings.h"
#include "src/exchange/roster.h"
#include "src/rows/initial_values.h"
#include "src/rows/joining.h"

namespace ako {

class InitialHandover {
  public:
    /// All outlive this.
    InitialHandover(const ModeSettings& settings, const Roster& roster, InitialValues& initial,
                    Joining::Send send);

    enum class State { goes_on, done, failed };
    /// Goes on with taking them over, or giving them. `run_there`: somebody has made rounds, for
    /// certain.
    State step(bool run_there, Time now);
    /// The reason for `failed`, for people.
    std::string why_not() const;
    /// It takes them from another peer.
    bool takes() const { return takes_; }
    /// It takes them, or waits while others take its own.
    bool passes() const { return takes_ || gives_since_; }
    /// This peer begins: nothing is taken any more.
    void end() { takes_ = false; }

    /// `status` is of a peer that trains from other initial parameters, and of the two of us this
    /// peer has to give way. Those who have come less far do, so that one process with other values
    /// does not end a run.
    bool gives_way_to(const Status& status) const;

  private:
    bool has_given(Time now);
    void say_takes();
    /// Samples that all peers with these values have trained on; this one's too, if it has them.
    std::uint64_t samples_from(const Digest& initial) const;

    const ModeSettings& settings_;
    const Roster& roster_;
    InitialValues& initial_;
    const Joining::Send send_;
    bool takes_ = false;
    bool said_takes_ = false;
    std::optional<Time> gives_since_;  ///< its own, which are the run's
};

}  // namespace ako
