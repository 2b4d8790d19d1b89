#include "src/screen/run_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "ako/ending.h"

namespace ako {

namespace {

/// A peer that has said nothing for so many seconds is shown as silent.
constexpr double silence_noted_s = 2.5;
/// Lines come once a second and peer; the pace over less than some of them says little.
constexpr double pace_known_s = 3;

std::string end_text(int exit) {
    if (exit < 0) return fmt::format("ended by signal {}", -exit);
    switch (exit) {
        case exit_ok:
            return "done";
        case exit_stopped_early:
            return "stopped early";
        case exit_interrupted:
            return "interrupted";
        case exit_left:
            return "left, the others go on";
        case exit_start_up:
            return "could not start (exit 2)";
        case exit_numbers:
            return "a loss, gradient or update is not to be trusted (exit 3)";
        case exit_no_agreement:
            return "no agreement, or replicas that differ (exit 4)";
        case exit_broken:
            return "could not go on without a peer (exit 5)";
        case exit_not_written:
            return "results could not be written (exit 6)";
        case exit_not_learned:
            return "the model has learned nothing (exit 8)";
        default:
            return fmt::format("ended, exit {}", exit);
    }
}

/// The event that a line tells of: its first clause of three words or more, without the reasons
/// that differ from peer to peer. "peer d is lost", "peer d: session ended", or all of it.
std::string_view event_of(std::string_view text) {
    for (std::size_t end = text.find(": "); end != std::string_view::npos;
         end = text.find(": ", end + 2)) {
        const std::string_view clause = text.substr(0, end);
        if (std::count(clause.begin(), clause.end(), ' ') >= 2) return clause;
    }
    return text;
}

/// Has this peer said what the entry tells of?
bool is_told_by(const LogEntry& entry, const std::string& name) {
    return entry.name == name ||
           std::find(entry.others.begin(), entry.others.end(), name) != entry.others.end();
}

}  // namespace

bool has_finished(const MetricsLine& line) {
    return line.phase == "evaluating" || line.phase == "done";
}

std::string phase_text(const MetricsLine& line) {
    if (line.phase == "waiting")
        return line.waiting_for.empty()
                   ? std::string("waiting")
                   : fmt::format("waiting for {}", fmt::join(line.waiting_for, ", "));
    if (line.phase == "joining") return "joining the run";
    if (line.phase == "finishing") return "final exchange";
    if (line.phase == "evaluating") return "evaluating the result";
    return line.phase;
}

RunState::RunState(std::string run, double epochs, const std::vector<std::string>& peer_names,
                   std::optional<std::size_t> own)
    : run_(std::move(run)), epochs_(epochs), own_(own) {
    for (const std::string& name : peer_names) {
        peers_.emplace_back();
        peers_.back().name = name;
    }
}

void RunState::take_line(std::size_t peer, MetricsLine line, double seconds) {
    progress_ = std::max(progress_, line.progress);
    if (line.phase == "training" && line.progress > 0 && training_began_ < 0) {
        training_began_ = seconds;
        progress_began_ = line.progress;
    }
    if (line.accuracy && line.accuracy_at && *line.accuracy_at > accuracy_at_) {
        accuracy_at_ = *line.accuracy_at;
        accuracy_.add(accuracy_at_, *line.accuracy);
    }
    if (own_) take_links(line);
    PeerState& state = peers_[peer];
    state.line = std::move(line);
    state.heard = true;
    state.heard_at = seconds;
}

void RunState::take_told(std::size_t peer, const LinkLine& link, double seconds) {
    peers_[peer].told = link;
    peers_[peer].told_s = seconds;
    peers_[peer].line.round = link.round;
    peers_[peer].line.samples = link.samples;
}

void RunState::take_start(std::size_t peer) {
    PeerState& state = peers_[peer];
    state.exit.reset();
    state.starts_at.reset();
    state.heard = false;
    state.line.egress_bytes = state.line.ingress_bytes = 0;
    ++state.restarts;
}

void RunState::take_links(const MetricsLine& line) {
    for (const LinkLine& link : line.links) {
        const auto peer =
            std::find_if(peers_.begin(), peers_.end(),
                         [&link](const PeerState& state) { return state.name == link.peer; });
        if (peer == peers_.end()) continue;
        peer->seen = link;
        peer->heard |= link.presence != Presence::absent || link.round > 0;
        peer->line.round = link.round;
        peer->line.samples = link.samples;
        peer->line.samples_per_s = link.samples_per_s;
        peer->line.egress_bytes = link.egress_bytes;
        peer->line.ingress_bytes = link.ingress_bytes;
        peer->line.egress_mbit = link.egress_mbit;
        peer->line.ingress_mbit = link.ingress_mbit;
    }
}

void RunState::take_accuracy(double accuracy) {
    final_accuracy_ = accuracy;
    accuracy_.add(progress_, accuracy);
}

void RunState::take_finished(const std::vector<std::string>& names) {
    for (PeerState& peer : peers_)
        peer.finished = std::find(names.begin(), names.end(), peer.name) != names.end();
}

void RunState::take_log(LogEntry entry) {
    const auto same = std::find_if(log_.rbegin(), log_.rend(), [&entry](const LogEntry& before) {
        return entry.seconds - before.seconds <= same_event_s && !is_told_by(before, entry.name) &&
               event_of(before.text) == event_of(entry.text);
    });
    if (same != log_.rend()) {
        same->others.push_back(entry.name);
        return;
    }
    log_.push_back(std::move(entry));
    if (log_.size() <= log_max) return;
    log_.pop_front();
    ++log_dropped_;
}

void RunState::refresh(double seconds) {
    seconds_ = seconds;
    for (PeerState& peer : peers_) refresh_peer(peer);
    const bool any_trains = std::any_of(peers_.begin(), peers_.end(), [](const PeerState& peer) {
        return peer.mood == PeerState::Mood::trains;
    });
    last_loss_ = newest_loss();
    if (any_trains && last_loss_) loss_.add(progress_, *last_loss_);
    phase_ = phase_of_all();
}

std::string RunState::phase_of_all() const {
    if (const PeerState* one = own()) {
        if (one->exit) return "done";
        return one->heard ? phase_text(one->line) : "starting";
    }
    // As long as one trains, the run does; else it does what the first that still works does. A
    // peer that is silent says nothing about the others.
    const PeerState* shown = nullptr;
    bool all_ended = true;
    for (const PeerState& peer : peers_) {
        all_ended &= peer.exit.has_value();
        if (peer.exit || peer.mood == PeerState::Mood::ill) continue;
        if (shown == nullptr || peer.mood == PeerState::Mood::trains) shown = &peer;
        if (peer.mood == PeerState::Mood::trains) break;
    }
    if (shown == nullptr) return all_ended ? "done" : "no peer says anything";
    return shown->heard ? phase_text(shown->line) : "starting";
}

std::optional<double> RunState::newest_loss() const {
    double sum = 0;
    int count = 0;
    for (const PeerState& peer : peers_) {
        if (peer.mood != PeerState::Mood::trains || !peer.loss()) continue;
        sum += *peer.loss();
        ++count;
    }
    return count == 0 ? last_loss_ : std::optional(sum / count);
}

void RunState::refresh_peer(PeerState& peer) const {
    using Mood = PeerState::Mood;
    const auto set = [&peer](Mood mood, std::string doing) {
        peer.mood = mood;
        peer.doing = std::move(doing);
    };
    if (peer.exit && peer.starts_at)
        return set(Mood::ill, fmt::format("{}, starts again in {:.0f} s", end_text(*peer.exit),
                                          std::max(0.0, std::ceil(*peer.starts_at - seconds_))));
    if (peer.exit) {
        const bool as_asked =
            went_well(*peer.exit) || *peer.exit == exit_interrupted || *peer.exit == exit_left;
        return set(as_asked ? Mood::ended : Mood::ill, end_text(*peer.exit));
    }
    if (peer.seen) return refresh_seen(peer);
    if (!peer.heard && peer.told) return refresh_told(peer);
    if (!peer.heard)
        return set(Mood::waits, own_ && &peer != own() ? "not heard of yet"
                                : peer.restarts > 0    ? "starting again"
                                                       : "starting");
    if (silent(peer) && own_)  // which is this very process
        return set(Mood::waits, fmt::format("in one round for {:.0f} s", seconds_ - peer.heard_at));
    if (silent(peer))
        return set(Mood::ill, fmt::format("silent for {:.0f} s{}", seconds_ - peer.heard_at,
                                          said_by_others(peer)));
    if (peer.line.phase == "training") return set(Mood::trains, "");
    set(peer.line.phase == "done" ? Mood::ended : Mood::waits, phase_text(peer.line));
}

void RunState::refresh_told(PeerState& peer) {
    using Mood = PeerState::Mood;
    const PeerStanding standing = standing_of(*peer.told);
    peer.mood = is_trouble(standing)             ? Mood::ill
                : standing == PeerStanding::left ? Mood::ended
                                                 : Mood::waits;
    const std::string text = standing_text(standing, peer.told_s, peer.told->why);
    peer.doing = standing == PeerStanding::advancing || standing == PeerStanding::slow
                     ? std::string("does not answer here; others say that it trains")
                     : text + " (as others say)";
}

void RunState::refresh_seen(PeerState& peer) const {
    using Mood = PeerState::Mood;
    const auto set = [&peer](Mood mood, std::string doing) {
        peer.mood = mood;
        peer.doing = std::move(doing);
    };
    if (peer.finished) return set(Mood::ended, "finished with the same parameters");
    const std::string& phase = peers_[*own_].line.phase;
    const PeerStanding standing = standing_of(*peer.seen);
    const std::string text =
        standing_text(standing, peers_[*own_].line.time - peer.seen->since, peer.seen->why);
    switch (standing) {
        case PeerStanding::connected:
        case PeerStanding::joining:
        case PeerStanding::still:
        case PeerStanding::advancing:
        case PeerStanding::slow:
            // What it does is known by its rounds alone.
            if (phase != "training" && phase != "serving")
                return set(Mood::waits, words(PeerStanding::connected));
            if (standing == PeerStanding::advancing) return set(Mood::trains, "");
            return set(standing == PeerStanding::slow ? Mood::trains : Mood::waits, text);
        case PeerStanding::absent:
        case PeerStanding::down:
            return set(Mood::waits, text);
        case PeerStanding::lost:
        case PeerStanding::gone:
        case PeerStanding::ended:
            return set(Mood::ill, text);
        case PeerStanding::left:
            return set(Mood::ended, text);
    }
}

bool RunState::silent(const PeerState& peer) const {
    // The evaluation of the result is one call that writes no lines.
    return seconds_ - peer.heard_at > silence_noted_s && !has_finished(peer.line);
}

std::string RunState::said_by_others(const PeerState& peer) const {
    std::array<int, presences.size()> votes{};
    int others = 0;
    for (const PeerState& other : peers_) {
        // Whoever has finished has left everybody, and does not look any more.
        if (&other == &peer || !other.heard || other.exit || silent(other)) continue;
        if (has_finished(other.line)) continue;
        for (const LinkLine& link : other.line.links) {
            if (link.peer != peer.name || link.presence == Presence::absent) continue;
            ++votes[static_cast<std::size_t>(link.presence)];
            ++others;
        }
    }
    if (others == 0) return "";
    const auto most = std::max_element(votes.begin(), votes.end());
    return fmt::format(" ({} of {} others: {})", *most, others,
                       word(presences[static_cast<std::size_t>(most - votes.begin())]));
}

std::optional<double> RunState::seconds_left() const {
    const double made = progress_ - progress_began_;
    if (training_began_ < 0 || made <= 0 || phase_ != "training") return std::nullopt;
    if (seconds_ - training_began_ < pace_known_s) return std::nullopt;
    return (seconds_ - training_began_) * (1 - progress_) / made;
}

std::size_t RunState::peers_at_work() const {
    return static_cast<std::size_t>(
        std::count_if(peers_.begin(), peers_.end(), [](const PeerState& peer) {
            if (peer.seen) return peer.seen->live;
            return !peer.exit && peer.heard && peer.mood != PeerState::Mood::ill;
        }));
}

std::optional<double> RunState::newest_accuracy() const {
    if (final_accuracy_) return final_accuracy_;
    const PeerState* newest = nullptr;
    for (const PeerState& peer : peers_) {
        if (!peer.line.accuracy) continue;
        if (newest == nullptr || peer.line.accuracy_at > newest->line.accuracy_at) newest = &peer;
    }
    return newest == nullptr ? std::nullopt : newest->line.accuracy;
}

}  // namespace ako
