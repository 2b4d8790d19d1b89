// One attempt to connect to a name with one or several addresses, in the manner of RFC 8305 ("happy
// eyeballs"): the families take turns, the next address is tried when the one before has failed or
// has not answered for a moment, and whichever connects first is taken. An address that leads
// nowhere so costs a moment and not the attempt; and when all fail, what each of them said is said.
// Thread: network. Lifetime: shared by its dialler and by its pending handlers; one attempt each.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ako/types.h"
#include "net/address.h"
#include "net/asio.h"

namespace ako {

class Connector final : public std::enable_shared_from_this<Connector> {
  public:
    using Endpoint = asio::ip::tcp::endpoint;

    /// Exactly one of these is called, within tick() or from a handler, unless it is cancelled.
    struct Events {
        std::function<void(asio::ip::tcp::socket)> connected;
        std::function<void(const std::string& why)> failed;
    };

    /// How long an address may go without an answer before the next is tried beside it (RFC 8305,
    /// section 8): longer than a round trip, shorter than people notice.
    static constexpr Time next_after = std::chrono::milliseconds(250);
    /// More addresses than a machine has; those beyond are not tried.
    static constexpr std::size_t endpoints_max = 16;

    /// `address` is what was dialled, for messages, and `endpoints` what its name was looked up to,
    /// best first and at least one; each may take `timeout`.
    Connector(asio::io_context& io, Address address, std::vector<Endpoint> endpoints, Time timeout,
              Events events);

    /// Tries the next address when it is due, and gives up those that take too long. The first call
    /// begins the attempt. `excuse`: for so long this thread did not look.
    void tick(Time now, Time excuse);
    /// Closes what is under way; nobody is told.
    void cancel();

  private:
    /// What has become of one address.
    struct Try {
        enum class State { waiting, connecting, refused, absent, failed };

        Try(asio::io_context& io, Endpoint to) : endpoint(std::move(to)), socket(io) {}

        const Endpoint endpoint;
        asio::ip::tcp::socket socket;
        State state = State::waiting;
        Time deadline{};
        std::string why{};  ///< of the last three states
    };

    void try_next();
    void finish(Try& one, const asio::error_code& error);
    void give_up(Try& one, Try::State state, std::string why);
    void end();
    std::string result() const;

    const Address address_;
    const Time timeout_;
    const Events events_;
    std::vector<Try> tries_;  ///< in the order in which they are tried
    Time now_{};              ///< of the newest tick
    Time next_at_{};
    bool over_ = false;
};

/// Has this machine no way to such an address? Often it does not speak the family: in a plain
/// container `localhost` is also ::1 while IPv6 is off. That says nothing about the peer.
bool is_absent(const asio::error_code& error);

/// The same endpoints, the families in turn, that of the first one first.
std::vector<asio::ip::tcp::endpoint> families_in_turn(
    const std::vector<asio::ip::tcp::endpoint>& endpoints);

}  // namespace ako
