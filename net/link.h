// Everything about one other peer: its session while there is one, its dialler while there is
// none, its limit, its counters, and whether it still lives.
// Thread: network, except counters() (any). Lifetime: that of the transport.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ako/threads.h"
#include "ako/transport.h"
#include "net/dialer.h"
#include "net/handshake.h"
#include "net/pacing.h"
#include "net/session.h"
#include "net/shared_egress.h"

namespace ako {

/// What all links share. `host` is set before the network thread starts.
struct LinkContext {
    const Clock& clock;
    SharedEgress& egress;
    Time life_timeout;
    std::function<void(const std::string&)> log;     ///< what people must know
    std::function<void(const std::string&)> detail;  ///< the ordinary course
    TransportHost* host = nullptr;
    bool stopping = false;
};

class Link final : public SessionHost {
  public:
    Link(PeerIndex peer, std::string name, double mbit, LinkContext& context,
         std::unique_ptr<Dialer> dialer);

    PeerIndex peer() const { return peer_; }
    bool up() const { return session_ != nullptr; }
    Dialer& dialer() { return *dialer_; }

    // While up:
    const Hello& hello() const { return hello_; }
    bool dialled_here() const { return dialled_here_; }
    const std::string& remote() const { return session_->remote(); }
    /// Has nothing come for the life time-out, whether we read or not?
    bool quiet() const;

    /// The handshake of the own dial, if there is one.
    Handshake* pending() const;
    /// Its own dial has connected so recently that one of the other end may cross it. One that
    /// nobody answers for longer, as where a process is stopped, keeps nobody out.
    bool dials_now() const;
    /// An own dial has connected; its handshake begins.
    void expect(const std::shared_ptr<Handshake>& handshake);
    void forget_pending() { pending_.reset(); }
    /// A dial of the peer, or of somebody who repeats what the peer once said, was answered and is
    /// to be confirmed. Own dials wait for that, so that two that cross do not both stand: not
    /// long, and once for each own dial, or greetings said again and again would hold the link
    /// down.
    void hold_back(const Handshake& answered);
    /// It came to nothing: own dials go on.
    void let_go(const Handshake& answered);

    /// Takes the session of a handshake; the old one and the own dial, if there are any, end.
    void adopt(Handshake& handshake);

    /// Life, and dialling. `excuse`: for so long this thread did not look.
    void tick(Time now, Time excuse);
    /// Sends what there is and ends the session; no new one comes.
    void drain();
    void end(const std::string& why);

    void wake();
    void resume();
    void copy_aside();

    /// Was this logged since the last session?
    bool has_noted(const std::string& why) const;
    /// Remembers why there is no session; logged unless it was logged since the last session.
    /// `refused`: by a Hello's field, which both sides must show.
    void note(const std::string& why, bool refused = false);
    /// One end has refused the other by this field of its Hello, or a frame of it.
    void count_reject(const std::string& field);
    /// How the newest dial ended: refused because another process is live under this peer's name,
    /// `where`; or otherwise, with nothing.
    void name_taken(const std::string& where);
    LinkCounters counters() const;

    std::optional<OutFrame> next(Session&) override;
    void sent(Session&, std::size_t bytes) override;
    std::optional<std::string> refuse(Session&, const Header& header, std::size_t bytes) override;
    std::optional<Destination> reserve(Session&, const Header& header, std::size_t bytes) override;
    void arrived(Session&, Header header, Destination destination, Time at) override;
    void abandoned(Session&, Destination destination) override;
    void ended(Session&, const std::string& why) override;

  private:
    void check_life(Time now, Time excuse);
    void name_silence(Time silence);
    void look_at_path(Time now);
    void set_error(const std::string& why);

    // Constant after construction.
    const PeerIndex peer_;
    const std::string name_;
    LinkContext& context_;
    const std::unique_ptr<Dialer> dialer_;

    // Network thread.
    TokenBucket bucket_;
    LinkRate rate_;
    std::weak_ptr<Handshake> pending_;
    Time expected_at_{};
    const Handshake* held_for_ = nullptr;  ///< compared only
    Time held_until_{};
    bool was_held_ = false;  ///< since the newest own dial
    std::shared_ptr<Session> session_;
    Hello hello_;
    bool dialled_here_ = false;
    Time up_since_{};
    Time silent_since_{};              ///< the newest byte, once there is no session
    bool known_ = false;               ///< there has been a session
    bool left_ = false;                ///< it said Bye
    bool lost_ = false;                ///< and the host was told so
    bool silence_named_ = false;       ///< of this session, in the log
    std::string session_error_;        ///< why the newest session ended
    Time path_at_{};                   ///< when the kernel was asked last
    PathFigures path_before_;          ///< as it was when the newest session came up
    std::vector<std::string> logged_;  ///< by note() since the last session

    // Any thread.
    LinkMeter meter_;
    std::atomic<std::uint64_t> sessions_{0};
    std::atomic<std::uint64_t> copies_aside_{0};
    std::atomic<bool> up_{false};
    mutable Mutex mutex_;
    PathFigures path_ AKO_GUARDED_BY(mutex_);
    std::string last_error_ AKO_GUARDED_BY(mutex_);
    std::map<std::string, std::uint64_t> rejects_ AKO_GUARDED_BY(mutex_);
    std::string name_taken_by_ AKO_GUARDED_BY(mutex_);
};

}  // namespace ako
