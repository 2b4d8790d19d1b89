// See sim_cluster.h.
#include "tests/sim/sim_cluster.h"

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
    const PeerIndex self = peer->settings.self;
    peers_.push_back(std::move(peer));
    world_.at(starts_at, [this, self] { start(self); });
}

void SimCluster::begin_anew(std::unique_ptr<SimPeer> peer) {
    const PeerIndex self = peer->settings.self;
    former_.push_back(std::exchange(peers_[self], std::move(peer)));
    start(self);
}

void SimCluster::start(PeerIndex peer) {
    peers_[peer]->exchange.start();
    observer_.started(peer);
    poll(peer);
    make(peer, &SimCluster::begin);
}

void SimCluster::kill(PeerIndex peer, bool silently) {
    SimPeer& p = *peers_[peer];
    if (p.over()) return;
    p.state = SimPeer::State::dead;
    network_.kill(peer, silently);
    observer_.died(peer, silently);
}

void SimCluster::after(PeerIndex peer, Time delay, std::function<void()> what) {
    world_.after(delay, [process = peers_[peer].get(), this, peer, what = std::move(what)] {
        if (peers_[peer].get() == process) what();
    });
}

// ---- the network thread

void SimCluster::poll(PeerIndex peer) {
    if (peers_[peer]->over()) return;
    network_.poll(peer);
    after(peer, pace_.poll_interval, [this, peer] { poll(peer); });
}

// ---- the compute thread

void SimCluster::step_after(PeerIndex peer, Time delay, Step step) {
    after(peer, delay, [this, peer, step] { make(peer, step); });
}

void SimCluster::make(PeerIndex peer, Step step) {
    if (peers_[peer]->over()) return;
    if (network_.postpone(peer, [this, peer, step] { make(peer, step); })) return;
    (this->*step)(peer);
}

bool SimCluster::idles(PeerIndex peer, Step step) {
    const Time left = work_.idle_time(*peers_[peer]);
    if (left <= Time{0}) return false;
    step_after(peer, left, step);
    return true;
}

void SimCluster::begin(PeerIndex peer) {
    if (idles(peer, &SimCluster::begin)) return;
    SimPeer& p = *peers_[peer];
    const std::optional<Next> next = p.exchange.step_begin();
    observer_.began(peer, next);
    if (!next) return step_after(peer, pace_.wait_step, &SimCluster::begin);
    switch (next->kind) {
        case Next::Kind::train:
            p.layer = 0;
            return forward(peer);
        case Next::Kind::give_up:
            if (next->ending != Ending::broken) {
                throw Violation("a peer cannot train: " + next->why);
            }
            p.why = next->why;
            return step_after(peer, pace_.goodbye, &SimCluster::end);
        case Next::Kind::finish:
            p.state = SimPeer::State::finishing;
            return finish(peer);
    }
}

void SimCluster::forward(PeerIndex peer) {
    SimPeer& p = *peers_[peer];
    while (p.layer < p.layers.size()) {
        if (!p.exchange.step_await(p.layers[p.layer])) {
            return step_after(peer, pace_.wait_step, &SimCluster::forward);
        }
        ++p.layer;
        const Time takes = work_.forward_time(p);
        if (takes > Time{0}) return step_after(peer, takes, &SimCluster::forward);
    }
    p.loss = work_.gradient(p);
    p.learned = work_.learned(p);
    backward(peer);
}

void SimCluster::backward(PeerIndex peer) {
    SimPeer& p = *peers_[peer];
    if (p.layer == 0) return end_round(peer);
    --p.layer;
    if (const auto* gradient = std::get_if<Gradient>(&p.learned)) {
        p.exchange.gradient_ready(p.layers[p.layer], gradient->values);
    }
    if (p.layer == 0) observer_.gave_gradient(peer);
    step_after(peer, work_.backward_time(p), &SimCluster::backward);
}

void SimCluster::end_round(PeerIndex peer) {
    SimPeer& p = *peers_[peer];
    const RoundResult result{p.settings.training.batch_per_peer, p.loss};
    const Result<void> ended = p.exchange.end_round(p.learned, result);
    if (!ended) throw RefusedGradient(ended.error().what);
    observer_.ended_round(peer);
    begin(peer);
}

void SimCluster::finish(PeerIndex peer) {
    if (idles(peer, &SimCluster::finish)) return;
    SimPeer& p = *peers_[peer];
    const bool done = p.exchange.step_finish();
    observer_.finishes(peer);
    if (p.over()) return;  // it was killed
    if (!done) return step_after(peer, pace_.wait_step, &SimCluster::finish);
    p.exchange.leave();
    if (p.settings.role(peer) == Role::worker) p.parameters.resize(p.gradient.size());
    p.report = p.exchange.report(p.parameters);
    step_after(peer, pace_.goodbye, &SimCluster::end);
}

void SimCluster::end(PeerIndex peer) {
    SimPeer& p = *peers_[peer];
    p.state = p.report ? SimPeer::State::ended : SimPeer::State::broken;
    p.ended_at = world_.now();
    network_.kill(peer, false);
}

bool SimCluster::over() const {
    for (PeerIndex peer = 0; peer < peers_.size(); ++peer) {
        if (!peers_[peer]->over() && observer_.awaited(peer)) return false;
    }
    return true;
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
