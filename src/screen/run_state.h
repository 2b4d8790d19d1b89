// The state of a run as people are shown it: the newest metrics line of every peer, what each does,
// the history for the plots, the newest log lines. Fed by `ako launch` with the lines of all peers,
// by `ako train` with those of one, which tell what that one knows of the others. Knows neither
// processes nor terminals. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "src/results/metrics_line.h"
#include "src/screen/history.h"

namespace ako {

struct PeerState {
    enum class Mood { trains, waits, ended, ill };

    std::string name;
    MetricsLine line;    ///< the newest
    bool heard = false;  ///< it is one that came
    /// What the one peer whose lines come knows of this one. Then `line` has no more than that: no
    /// phase, no links, and as bytes and rates those between the two.
    std::optional<LinkLine> seen;
    /// What others know of one whose own lines do not come, and for how long it has been so.
    std::optional<LinkLine> told;
    double told_s = 0;
    bool finished = false;    ///< with that peer, holding the same
    double heard_at = 0;      ///< seconds since the run began
    std::optional<int> exit;  ///< once it ended: exit status, or the negative number of a signal
    std::optional<double> starts_at;  ///< ended, and then started again: seconds
    unsigned restarts = 0;

    Mood mood = Mood::waits;
    std::string doing = "starting";  ///< instead of training; empty while it trains

    /// The loss of its newest rounds, as far as known.
    std::optional<double> loss() const { return seen ? seen->loss : line.loss; }
};

struct LogEntry {
    double seconds = 0;
    std::string name;
    std::string text;
    std::vector<std::string> others = {};  ///< who has said the same since
};

/// It has said goodbye to all: its links have ended, and nothing is wrong.
bool has_finished(const MetricsLine& line);
/// What a peer does by its newest line, for people.
std::string phase_text(const MetricsLine& line);

class RunState {
  public:
    /// Log lines that are kept for the end of the run; the peers' files have all of them.
    static constexpr std::size_t log_max = 1000;
    /// What several peers say within so many seconds is one event.
    static constexpr double same_event_s = 10;

    /// With `own` the lines of that peer alone come.
    RunState(std::string run, double epochs, const std::vector<std::string>& peer_names,
             std::optional<std::size_t> own = std::nullopt);

    void take_line(std::size_t peer, MetricsLine line, double seconds);
    /// What another peer's line says of one whose own do not come; that stands for `seconds`.
    void take_told(std::size_t peer, const LinkLine& link, double seconds);
    /// What others have just said joins their entry.
    void take_log(LogEntry entry);
    void take_exit(std::size_t peer, int exit) { peers_[peer].exit = exit; }
    /// One that has ended is to be started again then; nothing: it is not, or no more.
    void take_restart(std::size_t peer, std::optional<double> at) { peers_[peer].starts_at = at; }
    /// It was started again. How far it had come stays until it says more.
    void take_start(std::size_t peer);
    /// The accuracy of the final parameters: what the run came to.
    void take_accuracy(double accuracy);
    /// The names of those that finished with the one peer whose lines come.
    void take_finished(const std::vector<std::string>& names);
    /// Brings everything up to this moment. Before it is shown.
    void refresh(double seconds);

    const std::string& run() const { return run_; }
    double epochs() const { return epochs_; }
    double seconds() const { return seconds_; }
    const std::vector<PeerState>& peers() const { return peers_; }
    /// The one peer whose lines come, if it is only one's.
    const PeerState* own() const { return own_ ? &peers_[*own_] : nullptr; }
    /// 0 .. 1 of the sample budget.
    double progress() const { return progress_; }
    /// What the run as a whole does: "starting", "waiting for c, d", "training", ..
    const std::string& phase() const { return phase_; }
    /// What the training still takes at its pace so far; nothing when there is none yet or no more.
    std::optional<double> seconds_left() const;
    std::size_t peers_at_work() const;

    const History& loss() const { return loss_; }
    const History& accuracy() const { return accuracy_; }
    /// Mean over the peers that train; when none does any more, as it was.
    std::optional<double> newest_loss() const;
    std::optional<double> newest_accuracy() const;

    const std::deque<LogEntry>& log() const { return log_; }
    std::uint64_t log_dropped() const { return log_dropped_; }

  private:
    /// What a line of the one peer says of the others.
    void take_links(const MetricsLine& line);
    void refresh_peer(PeerState& peer) const;
    void refresh_seen(PeerState& peer) const;
    static void refresh_told(PeerState& peer);
    std::string phase_of_all() const;
    bool silent(const PeerState& peer) const;
    /// What most of those say that met the peer and are heard from: " (2 of 3 others: lost)".
    std::string said_by_others(const PeerState& peer) const;

    const std::string run_;
    const double epochs_;
    const std::optional<std::size_t> own_;
    std::vector<PeerState> peers_;
    double seconds_ = 0;
    double progress_ = 0;
    std::string phase_ = "starting";
    std::optional<double> last_loss_;
    History loss_;
    History accuracy_;
    double accuracy_at_ = -1;  ///< progress of the newest verdict
    std::optional<double> final_accuracy_;
    std::deque<LogEntry> log_;
    std::uint64_t log_dropped_ = 0;
    double training_began_ = -1;  ///< when progress was first above 0; and how much it was
    double progress_began_ = 0;
};

}  // namespace ako
