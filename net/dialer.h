// Dials one peer: looks up its name, connects to one of its addresses (net/connector.h), and after
// a failure waits longer each time. The name is looked up anew for every attempt, for a container
// that was started again has another address.
// Thread: network; look-ups run on a thread of Asio's, one after the other for all links. Lifetime:
// that of its link. A look-up cannot be called off: one that takes longer than its attempt goes on,
// and the next attempt has what it found; one that was cancelled ends unseen when the system's
// resolver gives up, and the io_context waits for that when it dies.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ako/types.h"
#include "net/address.h"
#include "net/asio.h"
#include "net/connector.h"

namespace ako {

class Dialer {
  public:
    /// One of these is called for every attempt that is not cancelled.
    using Events = Connector::Events;

    /// `connect_timeout`: of a look-up, and of each address that it finds. `patient`: waits a
    /// little longer, because the other end dials too and its session would stand.
    Dialer(asio::io_context& io, Time connect_timeout, bool patient, std::uint64_t seed,
           Events events);

    void set_address(Address address) { address_ = std::move(address); }
    const Address& address() const { return address_; }

    /// The first attempt is due at once; for the patient, after a while.
    void begin(Time now);
    /// Begins an attempt when it is due, and ends one that takes too long. `excuse`: for so long
    /// this thread did not look.
    void tick(Time now, Time excuse);
    /// Forgets the attempt, silently; the next is due after the shortest wait.
    void cancel(Time now);

    /// The next attempt waits twice as long as the last time.
    void back_off(Time now);
    /// The next attempt waits as long as any.
    void back_off_long(Time now);
    /// The next attempt comes within a second: what keeps this peer out may end at any moment.
    void try_again_soon(Time now);
    /// The next attempt waits as short as any.
    void settle() { failures_ = 0; }

  private:
    struct Attempt;
    using Endpoints = std::vector<asio::ip::tcp::endpoint>;

    void set_due(Time now);
    void dial(Time now);
    void look_up(const std::shared_ptr<Attempt>& attempt);
    void connect(Endpoints endpoints);
    void fail(const std::string& why);
    void fail_look_up(const std::string& why);
    void fail_slow_look_up();

    asio::io_context& io_;
    const Time connect_timeout_;
    const bool patient_;
    const Events events_;
    Address address_;
    std::minstd_rand random_;
    asio::ip::tcp::resolver resolver_;
    bool looking_up_ = false;  ///< also one whose attempt is over
    Endpoints found_late_;     ///< by a look-up whose attempt was over; for the next one
    std::shared_ptr<Attempt> attempt_;
    Time now_{};  ///< of the newest tick
    Time due_{};
    unsigned failures_ = 0;
};

}  // namespace ako
