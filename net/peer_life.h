// Whether the other peer of a link lives, as far as its sessions tell: it is met with the first of
// them, it may say that it leaves, and it is lost when nothing has come for the life time-out.
//
// Pure, with explicit time; one thread at a time. Lifetime: that of its link.
#pragma once

#include <optional>
#include <string>

#include "ako/types.h"

namespace ako {

class PeerLife {
  public:
    explicit PeerLife(Time life_timeout) : life_timeout_(life_timeout) {}

    void session_up();
    /// It said Bye.
    void said_bye() { left_ = true; }
    /// Its session has ended, of which nothing had come since `silent_since`. Returns what to say
    /// of it: `why`, unless it has left.
    const std::string& session_down(Time silent_since, const std::string& why);

    /// What people must know of a session that has been silent for so long; nothing: no news.
    std::optional<std::string> news_of_silence(Time silence);
    /// While there is no session: for so long this thread did not look.
    void excuse(Time gap, Time now);
    /// While there is no session: the reason, if the peer is lost from now on. Only once.
    std::optional<std::string> becomes_lost(Time now);

  private:
    const Time life_timeout_;
    Time silent_since_{};  ///< the newest byte, once there is no session
    bool met_ = false;     ///< there has been a session
    bool left_ = false;
    bool lost_ = false;
    bool silence_named_ = false;  ///< since this session is silent
    std::string session_error_;   ///< why the newest session ended
};

}  // namespace ako
