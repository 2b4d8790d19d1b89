// When to say whom one waits for: peers may be started many minutes apart, and what keeps them away
// changes meanwhile. So it is said when it changes, looked at every few seconds, and otherwise once
// a minute. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ako/transport.h"
#include "ako/types.h"

namespace ako {

class WaitingLine {
  public:
    static constexpr Time look_interval = std::chrono::seconds(5);
    static constexpr Time repeat_interval = std::chrono::seconds(60);

    /// Is it time to look? Not before one interval has passed since the first question: peers that
    /// are started together are there by then.
    bool due(Time now) {
        if (!looked_at_) looked_at_ = now;
        if (now - *looked_at_ < look_interval) return false;
        looked_at_ = now;
        return true;
    }

    /// Is this line to be said now? Counts as said if so.
    bool news(const std::string& line, Time now) {
        if (said_at_ && line == said_ && now - *said_at_ < repeat_interval) return false;
        said_ = line;
        said_at_ = now;
        return true;
    }

  private:
    std::optional<Time> looked_at_;
    std::optional<Time> said_at_;
    std::string said_;
};

/// "waiting for b (connection refused), c": the peers, each with why its last connection ended.
inline std::string waiting_for(const std::vector<PeerIndex>& missing,
                               const std::vector<std::string>& names,
                               const std::vector<LinkCounters>& counters) {
    std::string line;
    for (const PeerIndex peer : missing) {
        line += (line.empty() ? "waiting for " : ", ") + names[peer];
        if (!counters[peer].last_error.empty()) line += " (" + counters[peer].last_error + ")";
    }
    return line;
}

}  // namespace ako
