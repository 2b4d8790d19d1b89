// The first frames of a connection, until both ends have agreed that the session stands:
//
//     dialler   --- Hello -->   listener     checks it
//               <-- Hello ---                (or Reject, and the session ends)
//     checks it --- Hello -->   the session stands at both ends (or Reject)
//
// The third frame is why the listener never takes a session for standing that the dialler has
// given up meanwhile. With a cluster key each of the three carries a proof (net/cluster_key.h),
// which is checked before all else in it but the protocol.
// Thread: network. Lifetime: owned by the transport until over().
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "net/hello_check.h"
#include "net/session.h"

namespace ako {

class Handshake;

/// What the transport makes of a handshake.
class HandshakeHost {
  public:
    virtual ~HandshakeHost() = default;

    struct Decision {
        enum class Kind { go_on, refuse, drop };
        Kind kind = Kind::go_on;
        Reject reject;  ///< what `refuse` answers
    };
    /// All fields of the Hello match: may this session go on? Asked when the other end has said who
    /// it is, and, if it dialled, again when it has confirmed: much may have happened in between.
    virtual Decision judge(Handshake& handshake) = 0;
    /// The other end dialled, was answered, and is yet to confirm: with a key it may still be
    /// anybody who has recorded a greeting.
    virtual void answered(Handshake& handshake) = 0;
    /// The session stands: take it.
    virtual void stands(Handshake& handshake) = 0;
    /// It came to nothing. `refused`: one of the two said Reject.
    virtual void failed(Handshake& handshake, const std::string& why, bool refused) = 0;
};

class Handshake final : public SessionHost {
  public:
    /// `dialled`: the peer, if it was we who dialled.
    Handshake(HandshakeHost& host, const HelloTerms& terms, std::shared_ptr<Session> session,
              std::optional<PeerIndex> dialled, Time deadline);

    void begin();
    /// Closes the connection without a word to anyone.
    void drop();
    /// Gives up when the time is over. `excuse`: for so long this thread did not look.
    void tick(Time now, Time excuse);

    /// Nothing more will happen; the session is closed or somebody else's.
    bool over() const { return stage_ == Stage::over; }
    /// A dial that waits for its answer, or an answer that waits for the dialler's word.
    bool pending() const { return stage_ == Stage::hello || stage_ == Stage::confirmation; }
    bool dialled() const { return dialled_.has_value(); }
    /// It was not we who dialled, and nothing has come yet.
    bool silent() const { return !dialled_ && stage_ == Stage::hello; }
    /// The other end dialled and has proved that it means now: judge() is asked the second time.
    bool confirmed() const { return confirmed_; }
    /// The other end, once it is identified (or was dialled).
    std::optional<PeerIndex> peer() const { return peer_; }
    const Hello& hello() const { return hello_; }
    /// Once the other end has refused this process because another one is live under its name:
    /// where that one is. Otherwise empty.
    const std::string& name_taken_by() const { return name_taken_by_; }
    /// The field of the Hello by which one end has refused the other; empty: none has, or with a
    /// cluster key none that has proved that it holds it.
    const std::string& refused_field() const { return refused_field_; }
    const std::shared_ptr<Session>& session() const { return session_; }

    std::optional<OutFrame> next(Session&) override { return std::nullopt; }
    void sent(Session&, std::size_t) override {}
    std::optional<std::string> refuse(Session&, const Header& header, std::size_t bytes) override;
    std::optional<Destination> reserve(Session&, const Header&, std::size_t) override;
    void arrived(Session& session, Header header, Destination, Time) override;
    void abandoned(Session&, Destination) override {}
    void ended(Session&, const std::string& why) override;

  private:
    enum class Stage { hello, confirmation, refused, over };

    void take_hello(const Hello& hello);
    void take_confirmation(const Hello& hello);
    bool passes_judgement();
    std::optional<Reject> check_first(const Hello& hello) const;
    void refuse_with(const Reject& reject);
    /// "at b", or "there" while nobody has said who it is.
    std::string other() const;
    void make_own_hello();
    /// Sends the own Hello, with the proof of this step.
    void say_hello(ClusterKey::Step step);

    HandshakeHost& host_;
    const HelloTerms& terms_;
    const std::shared_ptr<Session> session_;
    const std::optional<PeerIndex> dialled_;
    Time deadline_;
    std::optional<PeerIndex> peer_;
    Hello own_;    ///< from make_own_hello() on
    Hello hello_;  ///< the first of the other end
    Stage stage_ = Stage::hello;
    bool confirmed_ = false;
    std::string name_taken_by_;
    std::string refused_field_;
};

}  // namespace ako
