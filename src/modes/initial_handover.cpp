// See initial_handover.h.
#include "src/modes/initial_handover.h"

#include <algorithm>
#include <utility>

#include "src/numbers/printed_number.h"

namespace ako {
namespace {

/// All take over its initial parameters, where they are not the same for all.
constexpr PeerIndex lowest_peer = 0;

}  // namespace

InitialHandover::InitialHandover(const ModeSettings& settings, const Roster& roster,
                                 InitialValues& initial, Joining::Send send)
    : settings_(settings), roster_(roster), initial_(initial), send_(std::move(send)) {}

InitialHandover::State InitialHandover::step(bool run_there, Time now) {
    if (initial_.known()) return has_given(now) ? State::done : State::goes_on;
    // Whoever has some has them from this peer's earlier process, and they count.
    const bool is_lowest = settings_.self == lowest_peer;
    if (is_lowest && initial_.holders() == 0 && !run_there && initial_.untouched()) {
        initial_.keep_own();
        gives_since_ = now;
        return has_given(now) ? State::done : State::goes_on;
    }
    takes_ = true;
    for (Puller::Ask& ask : initial_.step(now)) send_(ask.holder, std::move(ask.want));
    if (initial_.holders() != 0) say_takes();
    const bool stuck = now - initial_.moved_at() > settings_.times().finish_timeout;
    return stuck ? State::failed : State::goes_on;
}

std::string InitialHandover::why_not() const {
    return "the initial parameters, which all take over from peer " +
           settings_.peer_names[lowest_peer] + ", came no nearer for " +
           printed("%g s", settings_.exchange.finish_timeout_s) +
           (initial_.holders() == 0
                ? ", and nobody here has them: start that peer, or begin the run anew"
                : ": look at the network between them");
}

// It serves them while it waits, and between two rounds only once it trains. A peer that asks for
// nothing is not waited for.
bool InitialHandover::has_given(Time now) {
    if (!gives_since_) return true;
    bool all = true;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peer == settings_.self || !roster_.reachable(peer)) continue;
        all = all && roster_[peer].status && roster_[peer].status->start.initial;
    }
    const Time since = std::max(*gives_since_, initial_.asked_at());
    if (!all && now - since <= settings_.times().life_timeout) return false;
    gives_since_.reset();
    return true;
}

void InitialHandover::say_takes() {
    if (std::exchange(said_takes_, true)) return;
    const auto bytes = static_cast<double>(initial_.lacking() * settings_.block_elements * 4);
    settings_.log("takes over the initial parameters: " + printed("%.3g MB", bytes / 1e6) +
                  " to come from " + settings_.names(initial_.holders()));
}

bool InitialHandover::gives_way_to(const Status& status) const {
    if (!initial_.differ(status)) return false;
    const Digest& own = *initial_.said();
    const Digest& other = *status.start.initial;
    const std::uint64_t ours = samples_from(own), theirs = samples_from(other);
    return !(ours > theirs || (ours == theirs && own < other));
}

std::uint64_t InitialHandover::samples_from(const Digest& initial) const {
    std::uint64_t samples = 0;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const std::optional<Status>& status = roster_[peer].status;
        const bool own = peer == settings_.self;
        if (own ? initial_.said() == initial : status && status->start.initial == initial)
            samples += roster_[peer].samples;
    }
    return samples;
}

}  // namespace ako
