// The configured pair of this peer and one other: its session while there is one, dialling while
// there is none, its limit, its report, and whether the other still lives.
// Thread: network, except counters() (any). Lifetime: that of the transport.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ako/transport.h"
#include "net/handshake.h"
#include "net/link_report.h"
#include "net/own_dial.h"
#include "net/pacing.h"
#include "net/peer_life.h"
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
    OwnDial& own_dial() { return own_dial_; }
    LinkReport& report() { return report_; }

    // While up:
    const Hello& hello() const { return hello_; }
    bool dialled_here() const { return dialled_here_; }
    const std::string& remote() const { return session_->remote(); }
    /// Has nothing come for the life time-out, whether we read or not?
    bool quiet() const;

    /// Takes the session of a handshake; the old one and the own dial, if there are any, end.
    void adopt(Handshake& handshake);

    /// Looks whether the peer lives, and dials it. `excuse`: for so long this thread did not look.
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
    /// `refused`: one end refused the other by a Hello's field, which both sides must show.
    void note(const std::string& why, bool refused = false);
    LinkCounters counters() const { return report_.counters(); }

    std::optional<OutFrame> next(Session&) override;
    void sent(Session&, std::size_t bytes) override;
    std::optional<std::string> refuse(Session&, const Header& header, std::size_t bytes) override;
    std::optional<Destination> reserve(Session&, const Header& header, std::size_t bytes) override;
    void arrived(Session&, Header header, Destination destination, Time at) override;
    void abandoned(Session&, Destination destination) override;
    void ended(Session&, const std::string& why) override;

  private:
    void check_life(Time now, Time excuse);
    void look_at_path(Time now);

    const PeerIndex peer_;
    const std::string name_;
    LinkContext& context_;
    OwnDial own_dial_;
    PeerLife life_;
    TokenBucket bucket_;
    LinkRate rate_;
    std::shared_ptr<Session> session_;
    Hello hello_;
    bool dialled_here_ = false;
    Time up_since_{};
    Time path_at_{};                   ///< when the kernel was asked last
    std::vector<std::string> logged_;  ///< by note() since the last session
    LinkReport report_;
};

}  // namespace ako
