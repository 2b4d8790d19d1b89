#include "src/launch/restarts.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>

#include "ako/ending.h"

namespace ako {

namespace {

bool asks_to_end(int number) { return number == SIGINT || number == SIGTERM || number == SIGHUP; }

}  // namespace

bool Restarts::died(int exit) {
    if (exit < 0) return !asks_to_end(-exit);
    // Beyond the endings lie the statuses of a shell, and of ssh, around a peer (--in).
    return exit == exit_crash ||
           (exit > exit_interrupted && !asks_to_end(exit - shell_signal_offset));
}

std::string Restarts::cause(int exit) {
    if (exit >= 0) return fmt::format("exit {}", exit);
    const char* text = sigdescr_np(-exit);
    return fmt::format("signal {}{}{}", -exit, text == nullptr ? "" : ": ",
                       text == nullptr ? "" : text);
}

std::optional<double> Restarts::next(std::size_t peer, bool had_trained) {
    Peer& it = peers_[peer];
    if (it.made == most_) return std::nullopt;
    ++it.made;
    if (had_trained) it.pause_s = first_pause_s;
    const double pause = it.pause_s;
    it.pause_s = std::min(2 * pause, pause_max_s);
    return pause;
}

}  // namespace ako
