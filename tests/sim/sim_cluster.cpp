// See sim_cluster.h.
#include "tests/sim/sim_cluster.h"

#include "src/learning_rate.h"

namespace ako::sim {
namespace {

constexpr Time life_timeout = ms(150);
constexpr Time poll_interval = ms(10);
constexpr Time wait_step = ms(4);
constexpr std::size_t batch = 1;
constexpr double finish_timeout_s = 6;
/// Longer than any cut and any hang, so that whoever can agree has had the time to.
constexpr Time deadline = std::chrono::seconds(40);

ModeSettings settings_of(const Scenario& scenario, PeerIndex self) {
    ModeSettings settings;
    settings.self = self;
    for (std::size_t peer = 0; peer < scenario.peers.size(); ++peer) {
        settings.peer_names.push_back(std::to_string(peer));
    }
    settings.block_elements = scenario.block_elements;
    settings.sample_budget = static_cast<std::uint64_t>(scenario.rounds * batch *
                                                        static_cast<double>(scenario.peers.size()));
    settings.log = [](const std::string&) {};
    settings.training.learning_rate = 0.05;
    settings.training.momentum = 0.5;
    settings.training.nesterov = scenario.nesterov;
    settings.training.weight_decay = 1e-3;
    ExchangeSettings& exchange = settings.exchange;
    exchange.rule = scenario.rule;
    exchange.partitions = scenario.peers[self].partitions;
    exchange.staleness_rounds_max = scenario.staleness_rounds_max;
    exchange.life_timeout_ms = static_cast<unsigned>(
        std::chrono::duration_cast<std::chrono::milliseconds>(life_timeout).count());
    exchange.start_wait_s = 0.4;
    exchange.start_peers_min = 1;
    exchange.heartbeat_ms = 30;
    exchange.want_timeout_ms = 40;
    exchange.finish_exchange_s = 0.5;
    exchange.finish_timeout_s = finish_timeout_s;
    exchange.finish_linger_s = 2.5;
    return settings;
}

}  // namespace

SimCluster::SimCluster(const Scenario& scenario)
    : scenario_(scenario),
      random_(scenario.seed ^ 0xA5A5A5A5),
      network_(world_, random_, scenario.peers.size(), life_timeout) {
    const std::size_t count = scenario.peers.size();
    network_.set_payload_max(scenario.block_elements * sizeof(float) * scenario.payload_blocks);
    partitions_.assign(count * count, 0.0);
    for (std::size_t k = 0; k < scenario.element_count; ++k) {
        initial_.push_back(static_cast<float>(random_.real(-1, 1)));
    }
    for (PeerIndex peer = 0; peer < count; ++peer) {
        std::vector<float> optimum;
        for (std::size_t k = 0; k < scenario.element_count; ++k) {
            optimum.push_back(static_cast<float>(random_.real(-1, 1)));
        }
        optima_.push_back(std::move(optimum));
        for (PeerIndex other = 0; other < count; ++other) {
            network_.quality(peer, other) = {scenario.bytes_per_second, scenario.delay,
                                             scenario.loss, scenario.reorder};
        }
    }
    if (scenario.slow_link) {
        network_.quality(scenario.slow_link->from, scenario.slow_link->to).bytes_per_second =
            scenario.slow_link->mbit * 1e6 / 8;
    }
    for (PeerIndex peer = 0; peer < count; ++peer) {
        const ModeSettings settings = settings_of(scenario, peer);
        peers_.push_back(std::make_unique<SimPeer>(settings, initial_, scenario.pool_bytes, world_,
                                                   network_, scenario.peers[peer].clock_offset));
        world_.at(scenario.peers[peer].starts_at, [this, peer] { start(peer); });
    }
    invariants_ =
        std::make_unique<Invariants>(count, peers_[0]->blocks, peers_[0]->settings.training);
    for (const Cut& cut : scenario.cuts) {
        world_.at(cut.at, [this, cut, count] {
            for (PeerIndex a = 0; a < count; ++a) {
                for (PeerIndex b = 0; b < count; ++b) {
                    if ((cut.one_side & peer_bit(a)) && !(cut.one_side & peer_bit(b))) {
                        network_.cut(a, b, cut.until);
                    }
                }
            }
        });
    }
    if (scenario.rates_change) change_rates();
}

void SimCluster::change_rates() {
    const auto peer = static_cast<PeerIndex>(random_.below(peers_.size()));
    const auto other = static_cast<PeerIndex>(random_.below(peers_.size()));
    network_.quality(peer, other).bytes_per_second = random_.real(5e3, 1e6);
    if (!someone_stopped_) world_.after(random_.time(ms(5), ms(40)), [this] { change_rates(); });
}

void SimCluster::start(PeerIndex peer) {
    SimPeer& p = *peers_[peer];
    network_.attach(peer, p.links, p.links, p.clock);
    const PeerPlan& plan = scenario_.peers[peer];
    if (plan.killed_at) {
        world_.at(std::max(*plan.killed_at, world_.now()),
                  [this, peer, plan] { kill(peer, plan.killed_silently); });
    }
    poll(peer);
    compute(peer);
}

void SimCluster::poll(PeerIndex peer) {
    const SimPeer::State state = peers_[peer]->state;
    if (state == SimPeer::State::dead || state == SimPeer::State::ended) return;
    network_.poll(peer);
    world_.after(poll_interval, [this, peer] { poll(peer); });
}

void SimCluster::kill(PeerIndex peer, bool silently) {
    SimPeer& p = *peers_[peer];
    if (p.state == SimPeer::State::ended) return;
    p.state = SimPeer::State::dead;
    network_.kill(peer, silently);
}

Time SimCluster::pause(PeerIndex peer) {
    const PeerPlan& plan = scenario_.peers[peer];
    const bool hangs = plan.hangs_at && world_.now() >= *plan.hangs_at &&
                       world_.now() < *plan.hangs_at + plan.hangs_for;
    return hangs ? *plan.hangs_at + plan.hangs_for - world_.now() : Time{0};
}

void SimCluster::compute(PeerIndex peer) {
    SimPeer& p = *peers_[peer];
    if (p.state == SimPeer::State::dead) return;
    if (const Time left = pause(peer); left > Time{0}) {
        world_.after(left, [this, peer] { compute(peer); });
        return;
    }
    const AkoPeer::Begin begin = p.half.begin_round(p.clock.now());
    invariants_->drained(p);
    network_.poll(peer);
    switch (begin.kind) {
        case AkoPeer::Begin::Kind::train:
            if (scenario_.steady) check_steady(peer);
            if (scenario_.bounded) check_bounded(peer);
            return train(peer);
        case AkoPeer::Begin::Kind::wait:
            return world_.after(wait_step, [this, peer] { compute(peer); });
        case AkoPeer::Begin::Kind::failed:
            throw Violation("a peer did not start: " + begin.why);
        case AkoPeer::Begin::Kind::stop:
            break;
    }
    if (!std::exchange(someone_stopped_, true)) first_stopped();
    if (scenario_.bounded) check_no_wait_timed_out(peer);
    p.state = SimPeer::State::finishing;
    finish(peer);
}

void SimCluster::check_steady(PeerIndex peer) {
    if (someone_stopped_) return;
    std::vector<unsigned> partitions;
    Time round_time{0};
    for (const PeerPlan& plan : scenario_.peers) {
        partitions.push_back(plan.partitions);
        round_time = std::max(round_time, plan.round_time * 11 / 10);
    }
    // What a round grants is sent within a round; then it is on its way.
    if (partitions[0] != 0) {
        invariants_->steady(*peers_[peer], partitions, round_time + scenario_.delay, world_.now());
    }
    const auto first = static_cast<Round>(scenario_.rounds / 2);  // by then all is warm
    const Round round = peers_[peer]->half.round();
    if (round <= first) return;
    for (PeerIndex to = 0; to < peers_.size(); ++to) {
        if (to != peer && !(peers_[peer]->half.link(to, peers_[peer]->clock.now()).age_ms > 0)) {
            throw Violation("the age of what comes from peer " + std::to_string(to) +
                            " is not known to peer " + std::to_string(peer));
        }
        double& mean = partitions_[peer * peers_.size() + to];
        mean += (peers_[peer]->links.observed_partitions(to) - mean) /
                static_cast<double>(round - first);
    }
}

void SimCluster::check_no_wait_timed_out(PeerIndex peer) const {
    if (peers_[peer]->half.peers_given_up() > 0) {
        throw Violation("I7: a wait ended by its time-out");
    }
}

void SimCluster::check_bounded(PeerIndex peer) const {
    const SimPeer& p = *peers_[peer];
    check_no_wait_timed_out(peer);
    for (const auto& other : peers_) {
        if (other->settings.self == peer) continue;
        // Of the true rounds, not of what this peer has heard of them.
        const Round held = p.half.ledger().held(other->settings.self).lowest.round;
        if (other->half.round() <= held + scenario_.staleness_rounds_max) continue;
        throw Violation("I7: peer " + std::to_string(peer) + " trains while it holds round " +
                        std::to_string(held) + " of peer " + std::to_string(other->settings.self) +
                        ", which has made " + std::to_string(other->half.round()));
    }
}

void SimCluster::train(PeerIndex peer) {
    SimPeer& p = *peers_[peer];
    const std::span<const float> replica = p.half.replica();
    std::vector<float> before(replica.begin(), replica.end());
    std::vector<float> gradient(before.size());
    for (std::size_t k = 0; k < before.size(); ++k) {
        gradient[k] = before[k] - optima_[peer][k] + static_cast<float>(random_.real(-0.1, 0.1));
    }
    const Time usual = scenario_.peers[peer].round_time;
    world_.after(random_.time(usual * 9 / 10, usual * 11 / 10), [&p, peer, before, gradient, this] {
        if (p.state == SimPeer::State::dead) return;
        const double rate = learning_rate_at(p.settings.training, p.half.progress());
        const Result<void> ended = p.half.end_round(gradient, {batch, 0.0f}, p.clock.now());
        if (!ended) throw Violation("a finite gradient was refused: " + ended.error().what);
        network_.poll(peer);
        invariants_->round_ended(p, gradient, before, rate, world_.now());
        compute(peer);
    });
}

void SimCluster::first_stopped() {
    if (scenario_.cut_at_finish) {
        for (PeerIndex a = 0; a < peers_.size(); ++a) {
            for (PeerIndex b = 0; b < peers_.size(); ++b) {
                const PeerSet side = scenario_.finish_cut_side;
                if ((side & peer_bit(a)) && !(side & peer_bit(b))) {
                    network_.cut(a, b, world_.now() + scenario_.finish_cut_for);
                }
            }
        }
    }
    if (scenario_.kill_at_finish) {
        world_.after(scenario_.finish_kill_after, [this] { kill(scenario_.finish_victim, false); });
    }
}

void SimCluster::first_accepted(PeerIndex peer) {
    if (!scenario_.cut_at_accept) return;
    for (PeerIndex other = 0; other < peers_.size(); ++other) {
        if (other != peer) network_.cut(peer, other, world_.now() + scenario_.accept_cut_for);
    }
}

void SimCluster::finish(PeerIndex peer) {
    SimPeer& p = *peers_[peer];
    if (p.state == SimPeer::State::dead) return;
    const bool over = p.half.step_finish(p.clock.now());
    if (!p.half.finish().accepted().none() && !std::exchange(someone_accepted_, true)) {
        first_accepted(peer);
    }
    if (!p.half.finish().decided().none() && !std::exchange(someone_decided_, true)) {
        if (scenario_.kill_at_decision) return kill(peer, false);
    }
    if (p.half.finish().adopted()) {
        invariants_->adopted(p);
    } else {
        invariants_->drained(p);
    }
    network_.poll(peer);
    if (!over) return world_.after(wait_step, [this, peer] { finish(peer); });
    p.anchor.resize(initial_.size());
    p.report = p.half.report(p.anchor, p.clock.now());
    p.outbox.close();
    network_.poll(peer);
    world_.after(ms(100), [this, peer] { end(peer); });
}

void SimCluster::end(PeerIndex peer) {
    SimPeer& p = *peers_[peer];
    if (p.state == SimPeer::State::dead) return;
    p.state = SimPeer::State::ended;
    network_.kill(peer, false);
}

bool SimCluster::over() const {
    for (const auto& peer : peers_) {
        if (peer->state != SimPeer::State::dead && peer->state != SimPeer::State::ended)
            return false;
    }
    return true;
}

bool SimCluster::agreement_is_due() const {
    // A majority of the file is there to the end, and the last cut leaves it time before
    // finish_timeout_s.
    std::size_t survivors = 0;
    for (const auto& peer : peers_) survivors += peer->state == SimPeer::State::ended;
    return survivors >= peers_.size() / 2 + 1;
}

double SimCluster::loss(std::span<const float> parameters) const {
    double sum = 0;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        double mean = 0;
        for (const auto& optimum : optima_) mean += optimum[k];
        mean /= static_cast<double>(optima_.size());
        sum += (parameters[k] - mean) * (parameters[k] - mean);
    }
    return sum / 2;
}

Outcome SimCluster::outcome() const {
    Outcome outcome;
    outcome.frames = network_.frames_delivered();
    outcome.blocks = invariants_->blocks_checked();
    outcome.seconds = std::chrono::duration<double>(world_.now()).count();
    outcome.loss_first = loss(initial_);
    outcome.partitions = partitions_;
    for (const auto& peer : peers_) {
        outcome.rounds += peer->half.round();
        if (peer->state == SimPeer::State::dead) {
            ++outcome.dead;
        } else if (peer->report->agreed) {
            ++outcome.agreed;
            outcome.loss_last = loss(peer->anchor);
        } else {
            ++outcome.not_agreed;
        }
    }
    return outcome;
}

Outcome SimCluster::run() {
    if (!world_.run([this] { return over(); }, deadline)) {
        throw Violation("a peer hangs: not over after " +
                        std::to_string(std::chrono::duration<double>(deadline).count()) + " s");
    }
    if (!network_.refusals().empty()) {
        throw Violation("a peer's own frame was refused: " + network_.refusals().front());
    }
    invariants_->ended(peers_);
    for (const auto& peer : peers_) {
        if (peer->half.blocks_refused() > 0) throw Violation("I1: a block came damaged");
        if (peer->report && !peer->report->agreed && agreement_is_due()) {
            const bool alone = outcome().agreed == 0;
            throw Violation(
                (alone ? "no agreement" : "I2: others finished with a cut, but no agreement") +
                std::string(" at peer ") + std::to_string(peer->settings.self) +
                " although a majority lived: " + peer->report->why_not);
        }
    }
    return outcome();
}

}  // namespace ako::sim
