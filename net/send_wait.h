// What a session waits for before it writes on, and how long its frame has waited: for room in the
// socket, for a limit of what may be sent, or for its turn. A wait begins before the next frame is
// asked for, and is one of that frame: if there is none, nobody has waited.
//
// Pure, with explicit time; one thread at a time. Lifetime: that of its session.
#pragma once

#include <utility>

#include "ako/types.h"

namespace ako {

class SendWait {
  public:
    /// What is waited for calls the session when it comes.
    void begin(Time now) {
        on_ = true;
        since_ = now;
    }
    void end(Time now) {
        on_ = false;
        waited_ += now - since_;
    }
    bool on() const { return on_; }

    /// How long the frame has waited since the last call.
    Time take() { return std::exchange(waited_, Time{}); }
    /// There is no frame.
    void forget() { waited_ = {}; }

  private:
    bool on_ = false;
    Time since_{};
    Time waited_{};
};

}  // namespace ako
