// When a session may write, and how much at a time: a slice, once its link's limit allows one and
// then, in turn with the other sessions, the limit of all that this peer sends. Nothing is limited
// before set() is called.
//
// Thread: network. Lifetime: that of its session; what it is set to outlives the session's end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "ako/clock.h"
#include "net/pacing.h"
#include "net/shared_egress.h"

namespace ako {

class Session;

class SendLimits {
  public:
    void set(TokenBucket& link, SharedEgress& all);

    /// When the link's limit allows a slice; `now` or earlier: at once.
    Time link_ready_at(Time now) const { return link_ == nullptr ? now : link_->ready_at(now); }
    /// Does the limit of all allow this session a slice? If not, Session::turn() is called once,
    /// when it does.
    bool take_turn(Session& session);
    /// The session that waited has its turn, until take_turn() uses it up or this is taken back.
    void set_turn(bool has_turn) { has_turn_ = has_turn; }

    /// How many bytes to write at a time.
    std::size_t slice() const {
        return link_ == nullptr ? std::numeric_limits<std::size_t>::max()
                                : std::min(link_->slice(), all_->slice());
    }
    /// So much was written.
    void spend(std::size_t bytes, const Clock& clock);

  private:
    TokenBucket* link_ = nullptr;
    SharedEgress* all_ = nullptr;
    bool has_turn_ = false;
};

}  // namespace ako
