// See faults.h.
#include "tests/sim/faults.h"

#include <algorithm>
#include <utility>

namespace ako::sim {

Faults::Faults(const Scenario& scenario, SimCluster& cluster, Coverage& coverage, Restart restart)
    : scenario_(scenario),
      cluster_(cluster),
      world_(cluster.world()),
      random_(cluster.random()),
      network_(cluster.network()),
      coverage_(coverage),
      restart_(std::move(restart)),
      hung_(scenario.peers.size(), false) {}

void Faults::set_links() {
    for (PeerIndex from = 0; from < cluster_.size(); ++from) {
        for (PeerIndex to = 0; to < cluster_.size(); ++to) {
            LinkQuality& quality = network_.quality(from, to);
            const bool wide = scenario_.narrow_into && *scenario_.narrow_into != to;
            quality.bytes_per_second = wide ? 1e6 : scenario_.bytes_per_second;
            quality.delay = scenario_.delay;
            quality.loss = scenario_.loss;
            quality.reorder = scenario_.reorder;
            quality.flipped_bit = scenario_.flipped_bit;
            quality.not_finite = scenario_.not_finite;
            quality.damaged_header = scenario_.damaged_header;
        }
    }
    if (scenario_.slow_link) {
        network_.quality(scenario_.slow_link->from, scenario_.slow_link->to).bytes_per_second =
            scenario_.slow_link->mbit * 1e6 / 8;
    }
}

void Faults::begin() {
    set_links();
    for (const Cut& planned : scenario_.cuts) {
        world_.at(planned.at, [this, planned] { cut(planned.one_side, planned.until); });
    }
    for (const Silence& planned : scenario_.silences) {
        world_.at(planned.at, [this, planned] {
            coverage_.saw(Event::silence);
            network_.silence(planned.from, planned.to, planned.until);
        });
    }
    for (PeerIndex peer = 0; peer < cluster_.size(); ++peer) {
        if (scenario_.peers[peer].starts_at > ms(400)) coverage_.saw(Event::late_joiner);
        if (scenario_.peers[peer].hurried) coverage_.saw(Event::hurried_end);
    }
    if (scenario_.row_time() > from_seconds(scenario_.linger_s)) {
        coverage_.saw(Event::narrow_links);
    }
    if (scenario_.stop_wish) world_.at(scenario_.stop_wish->at, [this] { wish_to_stop(); });
    if (scenario_.rates_change) change_rates();
}

void Faults::started(PeerIndex peer) {
    const PeerPlan& plan = scenario_.peers[peer];
    if (plan.killed_at) {
        world_.at(std::max(*plan.killed_at, world_.now()),
                  [this, peer, plan] { cluster_.kill(peer, plan.killed_silently); });
    }
    if (scenario_.second_life && scenario_.second_life->peer == peer) {
        const Time dies_at = std::max(scenario_.second_life->killed_at, world_.now());
        world_.at(dies_at, [this, peer] { cluster_.kill(peer, false); });
        world_.at(dies_at + scenario_.second_life->again_after, [this, peer] { restart_(peer); });
    }
    if (plan.paused_at) {
        world_.at(std::max(*plan.paused_at, world_.now()), [this, peer] { pause(peer); });
    }
}

void Faults::pause(PeerIndex peer) {
    SimPeer& p = cluster_[peer];
    if (p.over()) return;
    const PeerPlan& plan = scenario_.peers[peer];
    coverage_.saw(Event::pause);
    if (plan.clock_stops) {
        coverage_.saw(Event::stopped_clock);
        p.clock.stand_still(plan.paused_for);
    }
    network_.pause(peer, world_.now() + plan.paused_for);
}

void Faults::wish_to_stop() {
    const StopWish& wish = *scenario_.stop_wish;
    bool waits = false;
    for (PeerIndex k = 0; k < cluster_.size(); ++k) {
        const auto peer = static_cast<PeerIndex>((wish.peer + k) % cluster_.size());
        SimPeer& p = cluster_[peer];
        if (p.state != SimPeer::State::training || scenario_.straggler == peer) continue;
        if (network_.postpone(peer, [this] { wish_to_stop(); })) return;
        // Asked before its first round, it gives up alone, and the others go on.
        if (p.exchange.standing().round == 0) {
            waits = true;
            continue;
        }
        const bool reached = wish.reason == StopReason::target_reached;
        coverage_.saw(reached ? Event::target_reached : Event::requested_stop);
        if (reached) p.exchange.announce({p.exchange.standing().progress, 0.99f, 0.01f});
        p.exchange.request_stop(wish.reason);
        asked_ |= peer_bit(peer);
        return insist(peer);
    }
    if (waits) world_.after(ms(20), [this] { wish_to_stop(); });
}

// Whoever hears of it from nobody, because who was asked has gone, is asked as well.
void Faults::insist(PeerIndex peer) {
    world_.after(ms(500), [this, peer] {
        if (cluster_[peer].over()) return wish_to_stop();
        insist(peer);
    });
}

void Faults::change_rates() {
    const auto peer = static_cast<PeerIndex>(random_.below(cluster_.size()));
    const auto other = static_cast<PeerIndex>(random_.below(cluster_.size()));
    network_.quality(peer, other).bytes_per_second = random_.real(5e3, 1e6);
    if (!someone_stopped_) world_.after(random_.time(ms(5), ms(40)), [this] { change_rates(); });
}

Time Faults::hang(PeerIndex peer) {
    const PeerPlan& plan = scenario_.peers[peer];
    const bool hangs = plan.hangs_at && world_.now() >= *plan.hangs_at &&
                       world_.now() < *plan.hangs_at + plan.hangs_for;
    if (!hangs) return Time{0};
    if (!hung_[peer]) coverage_.saw(Event::hang);
    hung_[peer] = true;
    return *plan.hangs_at + plan.hangs_for - world_.now();
}

void Faults::cut(PeerSet one_side, Time until) {
    coverage_.saw(Event::cut);
    for (PeerIndex a = 0; a < cluster_.size(); ++a) {
        for (PeerIndex b = 0; b < cluster_.size(); ++b) {
            if ((one_side & peer_bit(a)) && !(one_side & peer_bit(b))) network_.cut(a, b, until);
        }
    }
}

void Faults::cut_off(PeerIndex peer, Time time) { cut(peer_bit(peer), world_.now() + time); }

void Faults::first_stopped() {
    someone_stopped_ = true;
    if (scenario_.cut_at_finish) {
        cut(scenario_.finish_cut_side, world_.now() + scenario_.finish_cut_for);
    }
    if (scenario_.reset_at_finish) {
        world_.after(random_.time(ms(0), scenario_.slowest_round()),
                     [this] { cut_off(scenario_.finish_victim, Time{0}); });
    }
    if (scenario_.kill_at_finish) {
        world_.after(scenario_.finish_kill_after, [this] {
            cluster_.kill(scenario_.finish_victim, scenario_.finish_kill_silent);
        });
    }
}

void Faults::first_accepted(PeerIndex peer) {
    if (scenario_.cut_at_accept) cut_off(peer, scenario_.accept_cut_for);
}

void Faults::first_decided(PeerIndex peer) {
    if (scenario_.kill_at_decision) cluster_.kill(peer, false);
    if (scenario_.cut_at_decision) cut_off(peer, scenario_.decision_cut_for);
}

}  // namespace ako::sim
