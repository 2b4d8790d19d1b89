// What becomes of this peer's row where others are absent, or come back after they trained apart
// from it: by how much own updates are scaled, whom own progress stands in for, and what of the own
// row gives way to those that are back, during training and in the final exchange. Compute thread
// only.
#pragma once

#include "ako/threads.h"
#include "src/modes/ako_parts.h"
#include "src/rows/attendance.h"

namespace ako {

class AkoMeetings {
  public:
    /// `parts` outlives this.
    explicit AkoMeetings(AkoParts& parts)
        : parts_(parts), attendance_(parts.roster, parts.settings.times().life_timeout) {}

    /// The row is claimed.
    void begin(Time now) {
        attendance_.begin(now);
        kept_share_ = 1;
    }
    /// Looks who takes part and who is back, to whom own growth gives way with the next change of
    /// the own row.
    void meet(Time now) AKO_COMPUTE_THREAD;
    /// A round begins: scales what it gives, and stands in for those who advance.
    void begin_round(Time now) AKO_COMPUTE_THREAD;
    /// What the updates of the newest round were multiplied by.
    double scale() const { return scale_; }
    const Attendance& attendance() const { return attendance_; }
    /// The own row has changed, and what was to give way has.
    void row_changed() { kept_share_ = 1; }

    // The final exchange.
    /// The own row may still give way, to rows that must not count twice.
    void meet_at_the_end(Time now) AKO_COMPUTE_THREAD;
    /// One more round adds nothing but what rounding has cut off so far. Returns false if that
    /// cannot be.
    bool close_row(Time now) AKO_COMPUTE_THREAD;

  private:
    bool may_add_nothing() const AKO_COMPUTE_THREAD;
    bool add_nothing(Time now) AKO_COMPUTE_THREAD;

    AkoParts& parts_;
    Attendance attendance_;
    double scale_ = 1;
    double kept_share_ = 1;  ///< of what was learned apart, once that has given way
};

}  // namespace ako
