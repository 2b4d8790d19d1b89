// Restarts: which of launch's peers are started again after their process has ended, how soon, and
// how often (`ako launch --restart N`). Pure; one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ako {

class Restarts {
  public:
    /// The first: a process that died has broken its sessions, and the others take the next one in
    /// at once. Each further one waits twice as long, unless the process that died had trained:
    /// what kills it before will most likely do so again.
    static constexpr double first_pause_s = 0.5;
    static constexpr double pause_max_s = 30;

    /// At most `most` for each peer.
    Restarts(std::size_t peer_count, unsigned most) : most_(most), peers_(peer_count) {}

    /// Did a process that ended so die? Not if it ended as one of its endings says
    /// (common/ako/ending.h), or by a signal that asks it to end. `exit`: its status, or the
    /// negative number of the signal.
    static bool died(int exit);
    /// "signal 9: Killed" or "exit 1".
    static std::string cause(int exit);

    /// Counts one more and returns the seconds until then; nothing if none is left.
    std::optional<double> next(std::size_t peer, bool had_trained);
    unsigned made(std::size_t peer) const { return peers_[peer].made; }
    unsigned most() const { return most_; }

  private:
    struct Peer {
        unsigned made = 0;
        double pause_s = first_pause_s;  ///< of the next
    };

    const unsigned most_;
    std::vector<Peer> peers_;
};

}  // namespace ako
