// What the time of one peer's end is spent on: the final exchange itself, waiting for peers that
// are not there, and serving others once it has adopted the cut. Compute thread only.
#pragma once

#include "ako/types.h"
#include "src/agreement/finish.h"

namespace ako {

class EndTimes {
  public:
    void begin(Time now) { looked_at_ = now; }

    /// Last in each step of the final exchange. `over`: the cut is adopted here, or given up. What
    /// one look finds, the time until the next one was spent on.
    void look(const Finish& finish, bool over, Time now) {
        const Time passed = now - looked_at_;
        looked_at_ = now;
        if (over_) after_ += passed;
        if (missed_ != 0) {
            waiting_ += passed;
            waited_for_ |= missed_;
        } else {
            (over_ ? serving_ : exchange_) += passed;
        }
        over_ = over;
        missed_ = finish.missed(now);
    }

    Time exchange() const { return exchange_; }
    Time waiting() const { return waiting_; }
    Time serving() const { return serving_; }
    /// The part of waiting and serving that came once it was over here.
    Time after() const { return after_; }
    PeerSet waited_for() const { return waited_for_; }

  private:
    Time looked_at_{};
    bool over_ = false;
    PeerSet missed_ = 0;  ///< when last looked

    Time exchange_{};
    Time waiting_{};
    Time serving_{};
    Time after_{};
    PeerSet waited_for_ = 0;
};

}  // namespace ako
