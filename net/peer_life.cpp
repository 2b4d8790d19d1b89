#include "net/peer_life.h"

#include <fmt/format.h>

#include <algorithm>

namespace ako {
namespace {

/// People wonder where a run that waits has got to before they would call a peer lost.
constexpr Time silence_named_after = std::chrono::seconds(2);

}  // namespace

void PeerLife::session_up() {
    met_ = true;
    left_ = lost_ = silence_named_ = false;
}

const std::string& PeerLife::session_down(Time silent_since, const std::string& why) {
    silent_since_ = silent_since;
    session_error_ = left_ ? "it left" : why;
    return session_error_;
}

std::optional<std::string> PeerLife::news_of_silence(Time silence) {
    if (life_timeout_ <= silence_named_after) return std::nullopt;  // then it is lost: that is said
    const bool silent = silence >= silence_named_after;
    if (silent == silence_named_) return std::nullopt;
    silence_named_ = silent;
    if (!silent) return "heard from again";
    return fmt::format("silent for {} ms; lost if it stays so for {} ms", whole_ms(silence),
                       whole_ms(life_timeout_));
}

void PeerLife::excuse(Time gap, Time now) { silent_since_ = std::min(silent_since_ + gap, now); }

std::optional<std::string> PeerLife::becomes_lost(Time now) {
    if (!met_ || left_ || lost_ || now - silent_since_ < life_timeout_) return std::nullopt;
    lost_ = true;
    return fmt::format("no byte for {} ms; the last session: {}", whole_ms(life_timeout_),
                       session_error_);
}

}  // namespace ako
