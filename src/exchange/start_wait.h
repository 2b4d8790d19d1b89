// The wait for the first round: until all peers are there, or for `start_wait_s`; then enough of
// them must be. A peer that is not to wait at all still looks round: as long as dials are under
// way, the others may train already. Compute thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "ako/transport.h"
#include "ako/types.h"
#include "src/exchange/mode_settings.h"

namespace ako {

class StartWait {
  public:
    /// Without `peers_min` peers, this one included, training does not begin.
    StartWait(const ModeSettings& settings, std::size_t peers_min)
        : own_name_(settings.peer_names[settings.self]),
          peer_count_(settings.peer_count()),
          peers_min_(peers_min),
          patience_(settings.times().start_wait) {}

    enum class State { waits, over, failed };
    /// `absent`: how many peers are not there; `unanswered`: no dial to some of them has ended.
    State look(std::size_t absent, bool unanswered, Time now) {
        if (!since_) since_ = now;
        if (absent == 0) return State::over;
        const bool looks_round = unanswered && patience_ == Time{0} && now - *since_ < dial_timeout;
        if (now - *since_ < patience_ || looks_round) return State::waits;
        present_ = peer_count_ - absent;
        return present_ >= peers_min_ ? State::over : State::failed;
    }

    /// The reason for `failed`, for people.
    std::string why_not() const {
        return "only " + std::to_string(present_) + " of " + std::to_string(peer_count_) +
               " peers came within start_wait_s, at least " + std::to_string(peers_min_) +
               " are needed: what became of each attempt to connect is in log-" + own_name_ +
               ".txt in the run folder; start the others sooner, or change exchange.start_wait_s "
               "or exchange.start_peers_min in the cluster file";
    }

  private:
    const std::string own_name_;
    const std::size_t peer_count_;
    const std::size_t peers_min_;
    const Time patience_;
    std::optional<Time> since_;
    std::size_t present_ = 0;
};

}  // namespace ako
