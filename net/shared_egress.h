// The limit of all that this peer sends: sessions that want to write take turns, one slice each, in
// the order in which they asked, so that no link starves another.
// Thread: network. Lifetime: outlives all sessions that were given it.
#pragma once

#include <deque>
#include <memory>

#include "ako/clock.h"
#include "net/asio.h"
#include "net/pacing.h"

namespace ako {

class Session;

class SharedEgress {
  public:
    SharedEgress(asio::io_context& io, const Clock& clock, double mbit)
        : clock_(clock), bucket_(mbit), timer_(io) {}

    bool limited() const { return bucket_.limited(); }
    double mbit() const { return bucket_.mbit(); }
    std::size_t slice() const { return bucket_.slice(); }

    /// May a slice be written now? If not, Session::turn() is called once, when it may.
    bool take_turn(const std::shared_ptr<Session>& session);
    void spend(std::size_t bytes) { bucket_.spend(bytes, clock_.now()); }

  private:
    void arm();
    void serve();

    const Clock& clock_;
    TokenBucket bucket_;
    asio::steady_timer timer_;
    bool armed_ = false;
    std::deque<std::weak_ptr<Session>> waiting_;  ///< each session at most once
};

}  // namespace ako
