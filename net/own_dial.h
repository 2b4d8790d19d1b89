// Whether this peer dials another one now: its dialler, the handshake of the newest dial that has
// connected, and how long the dialler holds back for a dial of the other end, so that two that
// cross do not both stand.
//
// Thread: network. Lifetime: that of its link.
#pragma once

#include <memory>

#include "net/dialer.h"
#include "net/handshake.h"

namespace ako {

class OwnDial {
  public:
    explicit OwnDial(std::unique_ptr<Dialer> dialer) : dialer_(std::move(dialer)) {}

    Dialer& dialer() { return *dialer_; }

    /// The handshake of the own dial, if there is one.
    Handshake* pending() const;
    /// It has connected so recently that a dial of the other end may cross it. One that nobody
    /// answers for longer, as where a process is stopped, keeps nobody out.
    bool may_cross(Time now) const;
    /// An own dial has connected; its handshake begins.
    void expect(const std::shared_ptr<Handshake>& handshake, Time now);
    void forget_pending() { pending_.reset(); }

    /// A dial of the peer, or of somebody who repeats what the peer once said, was answered and is
    /// to be confirmed. Own dials wait for that: not long, and once for each own dial, or greetings
    /// said again and again would hold the link down.
    void hold_back(const Handshake& answered, Time now);
    /// It came to nothing: own dials go on.
    void let_go(const Handshake& answered);

    /// This handshake has brought a session: another one of the own dial ends.
    void settle(const Handshake& stands, Time now);
    /// Ends what is under way.
    void cancel(Time now);
    /// Dials when it is due, if it is `wanted` and nothing is under way. `excuse`: for so long this
    /// thread did not look.
    void tick(Time now, Time excuse, bool wanted);

  private:
    const std::unique_ptr<Dialer> dialer_;
    std::weak_ptr<Handshake> pending_;
    Time expected_at_{};
    const Handshake* held_for_ = nullptr;  ///< compared only
    Time held_until_{};
    bool was_held_ = false;  ///< since the newest own dial
};

}  // namespace ako
