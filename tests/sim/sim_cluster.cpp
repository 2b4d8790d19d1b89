// See sim_cluster.h.
#include "tests/sim/sim_cluster.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tests/sim/violation.h"

namespace ako::sim {

SimCluster::SimCluster(std::uint64_t seed, std::size_t peer_count, Time life_timeout,
                       const Pace& pace, Work& work, Observer& observer)
    : pace_(pace),
      work_(work),
      observer_(observer),
      random_(seed),
      network_(world_, random_, peer_count, life_timeout) {}

// ---- processes

void SimCluster::add(std::unique_ptr<SimPeer> peer, Time starts_at) {
    SimPeer& added = *peer;
    processes_.push_back(std::move(peer));
    newest_.push_back(&added);
    world_.at(starts_at, [this, &added] { start(added); });
}

void SimCluster::begin_anew(std::unique_ptr<SimPeer> peer, bool elsewhere) {
    SimPeer& added = *peer;
    processes_.push_back(std::move(peer));
    newest_[added.settings.self] = &added;
    if (elsewhere) added.transport.move_elsewhere();
    start(added);
}

void SimCluster::start(SimPeer& peer) {
    peer.begun = true;
    peer.exchange.start();
    observer_.started(peer);
    poll(peer);
    make(peer, &SimCluster::begin);
}

void SimCluster::kill(SimPeer& peer, bool silently) {
    if (peer.over() || !peer.begun) return;
    peer.state = SimPeer::State::dead;
    network_.kill(*peer.transport.end(), silently);
    observer_.died(peer, silently);
}

// ---- the network thread

void SimCluster::poll(SimPeer& peer) {
    if (peer.over()) return;
    network_.poll(*peer.transport.end());
    world_.after(pace_.poll_interval, [this, &peer] { poll(peer); });
}

// ---- the compute thread

void SimCluster::step_after(SimPeer& peer, Time delay, Step step) {
    world_.after(delay, [this, &peer, step] { make(peer, step); });
}

void SimCluster::make(SimPeer& peer, Step step) {
    if (peer.over()) return;
    if (network_.postpone(*peer.transport.end(), [this, &peer, step] { make(peer, step); })) return;
    (this->*step)(peer);
}

bool SimCluster::idles(SimPeer& peer, Step step) {
    const Time left = work_.idle_time(peer);
    if (left <= Time{0}) return false;
    step_after(peer, left, step);
    return true;
}

void SimCluster::begin(SimPeer& peer) {
    if (idles(peer, &SimCluster::begin)) return;
    const std::optional<Next> next = peer.exchange.begin_round(at_once);
    observer_.began(peer, next);
    if (peer.over()) return;  // it was killed
    if (!next) return step_after(peer, pace_.wait_step, &SimCluster::begin);
    switch (next->kind) {
        case Next::Kind::train:
            peer.layer = 0;
            peer.samples = next->samples;
            peer.restored = next->restored;
            work_.begins_round(peer);
            return forward(peer);
        case Next::Kind::give_up:
            observer_.gave_up(peer, *next);
            peer.why = next->why;
            return step_after(peer, pace_.goodbye, &SimCluster::end);
        case Next::Kind::finish:
            peer.state = SimPeer::State::finishing;
            return finish(peer);
    }
}

void SimCluster::forward(SimPeer& peer) {
    while (peer.layer < peer.layers.size()) {
        if (!peer.exchange.await(peer.layers[peer.layer], Use::read, at_once)) {
            return step_after(peer, pace_.wait_step, &SimCluster::forward);
        }
        ++peer.layer;
        const Time takes = work_.forward_time(peer);
        if (takes > Time{0}) return step_after(peer, takes, &SimCluster::forward);
    }
    peer.loss = work_.gradient(peer);
    peer.learned = work_.learned(peer);
    backward(peer);
}

void SimCluster::backward(SimPeer& peer) {
    if (peer.layer == 0) return end_round(peer);
    if (const auto* gradient = std::get_if<Gradient>(&peer.learned)) {
        const Range layer = peer.layers[peer.layer - 1];
        if (!peer.exchange.await(layer, Use::give, at_once))
            return step_after(peer, pace_.wait_step, &SimCluster::backward);
        peer.exchange.gradient_ready(layer, gradient->values);
        observer_.gave_layer(peer);
    }
    --peer.layer;
    if (peer.layer == 0) observer_.gave_gradient(peer);
    step_after(peer, work_.backward_time(peer), &SimCluster::backward);
}

void SimCluster::end_round(SimPeer& peer) {
    const RoundResult result{peer.samples, peer.loss, {}, work_.learners(peer)};
    const Result<void> ended = peer.exchange.end_round(peer.learned, result);
    if (!ended && !work_.may_be_refused(peer)) throw RefusedGradient(ended.error().what);
    if (!ended) return kill(peer, false);
    observer_.ended_round(peer);
    settle(peer);
}

void SimCluster::settle(SimPeer& peer) {
    if (work_.settles(peer) && !peer.exchange.await({}, Use::keep, at_once))
        return step_after(peer, pace_.wait_step, &SimCluster::settle);
    begin(peer);
}

void SimCluster::finish(SimPeer& peer) {
    if (idles(peer, &SimCluster::finish)) return;
    const bool done = peer.exchange.finish(at_once);
    observer_.finishes(peer);
    if (peer.over()) return;  // it was killed
    if (!done) return step_after(peer, pace_.wait_step, &SimCluster::finish);
    peer.exchange.close();
    if (peer.settings.role(peer.settings.self) == Role::worker) {
        peer.parameters.resize(peer.gradient.size());
    }
    peer.report = peer.exchange.report(peer.parameters);
    if (peer.report->left) observer_.left(peer);
    step_after(peer, pace_.goodbye, &SimCluster::end);
}

void SimCluster::end(SimPeer& peer) {
    peer.state = !peer.report        ? SimPeer::State::broken
                 : peer.report->left ? SimPeer::State::left
                                     : SimPeer::State::ended;
    peer.ended_at = world_.now();
    network_.kill(*peer.transport.end(), false);
}

bool SimCluster::over() const {
    return expected_ == 0 && std::all_of(processes_.begin(), processes_.end(),
                                         [this](const std::unique_ptr<SimPeer>& peer) {
                                             return peer->over() || !observer_.awaited(*peer);
                                         });
}

void SimCluster::run(Time deadline) {
    if (!world_.run([this] { return over(); }, deadline)) {
        throw Violation("a peer hangs: not over after " +
                        std::to_string(std::chrono::duration<double>(deadline).count()) + " s");
    }
    if (!network_.refusals().empty()) {
        throw Violation("a peer's own frame was refused: " + network_.refusals().front());
    }
}

}  // namespace ako::sim
