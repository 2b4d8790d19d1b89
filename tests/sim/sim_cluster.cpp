// See sim_cluster.h.
#include "tests/sim/sim_cluster.h"

#include "src/numbers/learning_rate.h"
#include "tests/sim/sim_times.h"

namespace ako::sim {
namespace {

constexpr std::size_t batch = 1;

/// Longer than any cut, any hang and, for whoever trains alone, the whole budget, so that whoever
/// can agree has had the time to.
Time deadline_of(const Scenario& scenario) {
    const auto rounds = scenario.rounds * static_cast<double>(scenario.peers.size());
    const double alone = std::chrono::duration<double>(scenario.slowest_round()).count() * rounds;
    // Who was to stop all may die before.
    const bool may_be_alone = scenario.second_life || scenario.stop_wish;
    return std::chrono::seconds(40) + (may_be_alone ? from_seconds(alone) : Time{0});
}

unsigned whole_ms(Time time) {
    return static_cast<unsigned>(
        std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

ModeSettings settings_of(const Scenario& scenario, PeerIndex self, std::uint64_t process_id) {
    ModeSettings settings;
    settings.self = self;
    settings.process_id = process_id;
    for (std::size_t peer = 0; peer < scenario.peers.size(); ++peer) {
        settings.peer_names.push_back(std::to_string(peer));
    }
    settings.block_elements = scenario.block_elements;
    settings.sample_budget = static_cast<std::uint64_t>(scenario.rounds * batch *
                                                        static_cast<double>(scenario.peers.size()));
    settings.log = [](const std::string&) {};
    settings.training.batch_per_peer = batch;
    settings.training.learning_rate = 0.05;
    settings.training.momentum = 0.5;
    settings.training.nesterov = scenario.nesterov;
    settings.training.weight_decay = 1e-3;
    ExchangeSettings& exchange = settings.exchange;
    exchange.rule = scenario.rule;
    exchange.partitions = scenario.peers[self].partitions;
    exchange.staleness_rounds_max = scenario.staleness_rounds_max;
    exchange.life_timeout_ms = whole_ms(life_timeout);
    exchange.start_wait_s = 0.4;
    exchange.start_peers_min = 1;
    exchange.heartbeat_ms = scenario.heartbeat_ms;
    exchange.want_timeout_ms = whole_ms(want_timeout);
    exchange.finish_exchange_s = std::chrono::duration<double>(scenario.finish_exchange).count();
    exchange.finish_timeout_s = std::chrono::duration<double>(finish_timeout).count();
    exchange.finish_linger_s = scenario.linger_s;
    return settings;
}

}  // namespace

SimCluster::SimCluster(const Scenario& scenario)
    : scenario_(scenario),
      random_(scenario.seed ^ 0xA5A5A5A5),
      network_(world_, random_, scenario.peers.size(), life_timeout),
      faults_(
          scenario_, world_, random_, network_, coverage_, peers_,
          [this](PeerIndex peer, bool silently) { kill(peer, silently); },
          [this](PeerIndex peer) { restart(peer); }),
      promises_(scenario_, world_, network_, peers_, coverage_) {
    network_.watch(coverage_, scenario.block_elements * sizeof(float),
                   [this](PeerIndex from, PeerIndex to, const Header& header) {
                       promises_.arrived(from, to, header);
                   });
    const std::size_t count = scenario.peers.size();
    network_.set_header_bytes(scenario.header_bytes);
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
    }
    for (PeerIndex peer = 0; peer < count; ++peer) {
        peers_.push_back(make_peer(peer, peer + 1));
        world_.at(scenario.peers[peer].starts_at, [this, peer] { start(peer); });
    }
    invariants_ =
        std::make_unique<Invariants>(count, peers_[0]->blocks, peers_[0]->settings.training);
    faults_.begin();
}

std::unique_ptr<SimPeer> SimCluster::make_peer(PeerIndex peer, std::uint64_t process_id) {
    return std::make_unique<SimPeer>(settings_of(scenario_, peer, process_id), initial_,
                                     scenario_.pool_bytes, world_, network_,
                                     scenario_.peers[peer].clock_offset);
}

void SimCluster::start(PeerIndex peer) {
    SimPeer& p = *peers_[peer];
    p.exchange.start();
    promises_.started(peer);
    if (!is_second(peer)) faults_.started(peer);
    poll(peer);
    compute(peer);
}

void SimCluster::restart(PeerIndex peer) {
    if (peers_[peer]->state != SimPeer::State::dead) return;  // it had ended before
    coverage_.saw(Event::second_life);
    first_life_ = std::move(peers_[peer]);
    peers_[peer] = make_peer(peer, peers_.size() + peer + 1);
    invariants_->begins_anew(peer);
    promises_.begins_anew(peer);
    start(peer);
}

void SimCluster::after(PeerIndex peer, Time delay, std::function<void()> what) {
    world_.after(delay, [process = peers_[peer].get(), this, peer, what = std::move(what)] {
        if (peers_[peer].get() == process) what();
    });
}

void SimCluster::poll(PeerIndex peer) {
    const SimPeer::State state = peers_[peer]->state;
    if (state == SimPeer::State::dead || state == SimPeer::State::ended) return;
    network_.poll(peer);
    after(peer, poll_interval, [this, peer] { poll(peer); });
}

void SimCluster::kill(PeerIndex peer, bool silently) {
    SimPeer& p = *peers_[peer];
    if (p.state == SimPeer::State::ended || p.state == SimPeer::State::dead) return;
    coverage_.saw(silently ? Event::silent_death : Event::death);
    p.state = SimPeer::State::dead;
    promises_.died(peer);
    network_.kill(peer, silently);
}

void SimCluster::compute(PeerIndex peer) {
    SimPeer& p = *peers_[peer];
    if (p.state == SimPeer::State::dead) return;
    if (network_.postpone(peer, [this, peer] { compute(peer); })) return;
    if (const Time left = faults_.hang(peer); left > Time{0}) {
        after(peer, left, [this, peer] { compute(peer); });
        return;
    }
    const std::optional<Next> next = p.exchange.step_begin();
    invariants_->drained(p);
    promises_.drained(peer);
    if (!next) {
        if (p.half.started()) coverage_.saw(Event::staleness_wait);
        return after(peer, wait_step, [this, peer] { compute(peer); });
    }
    switch (next->kind) {
        case Next::Kind::train:
            if (scenario_.steady) check_steady(peer);
            if (scenario_.bounded) check_bounded(peer);
            promises_.trains(peer);
            return train(peer);
        case Next::Kind::give_up:
            throw Violation("a peer did not start: " + next->why);
        case Next::Kind::finish:
            break;
    }
    promises_.stopped(peer);
    if (!std::exchange(someone_stopped_, true)) faults_.first_stopped();
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
        mean += (peers_[peer]->traffic.observed_partitions(to) - mean) /
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
        const Round held = p.half.ledger().held(row_of(other->settings.self)).lowest.round;
        if (other->half.round() <= held + scenario_.staleness_rounds_max) continue;
        throw Violation("I7: peer " + std::to_string(peer) + " trains while it holds round " +
                        std::to_string(held) + " of peer " + std::to_string(other->settings.self) +
                        ", which has made " + std::to_string(other->half.round()));
    }
}

void SimCluster::train(PeerIndex peer) {
    SimPeer& p = *peers_[peer];
    const std::span<const float> replica = p.exchange.replica();
    std::vector<float> before(replica.begin(), replica.end());
    std::vector<float> gradient(before.size());
    for (std::size_t k = 0; k < before.size(); ++k) {
        gradient[k] = before[k] - optima_[peer][k] + static_cast<float>(random_.real(-0.1, 0.1));
    }
    const Time usual = scenario_.peers[peer].round_time;
    after(peer, random_.time(usual * 9 / 10, usual * 11 / 10),
          [=, this] { end_round(peer, before, gradient); });
}

void SimCluster::end_round(PeerIndex peer, const std::vector<float>& before,
                           const std::vector<float>& gradient) {
    SimPeer& p = *peers_[peer];
    if (p.state == SimPeer::State::dead) return;
    if (network_.postpone(peer, [=, this] { end_round(peer, before, gradient); })) return;
    const double rate = learning_rate_at(p.settings.training, p.half.progress());
    const Result<void> ended = p.exchange.end_round(gradient, {batch, 0.0f});
    if (!ended) throw Violation("a finite gradient was refused: " + ended.error().what);
    invariants_->round_ended(p, gradient, before, rate, world_.now());
    promises_.round_ended(peer);
    compute(peer);
}

void SimCluster::finish(PeerIndex peer) {
    SimPeer& p = *peers_[peer];
    if (p.state == SimPeer::State::dead) return;
    if (network_.postpone(peer, [this, peer] { finish(peer); })) return;
    if (const Time left = faults_.hang(peer); left > Time{0}) {
        return after(peer, left, [this, peer] { finish(peer); });
    }
    if (scenario_.peers[peer].hurried) p.interrupts = 1;
    const bool over = p.exchange.step_finish();
    promises_.finishes(peer);
    if (!p.half.finish().accepted().none() && !std::exchange(someone_accepted_, true)) {
        faults_.first_accepted(peer);
    }
    if (!p.half.finish().decided().none() && !std::exchange(someone_decided_, true)) {
        faults_.first_decided(peer);
        if (p.state == SimPeer::State::dead) return;
    }
    if (p.half.finish().adopted()) {
        invariants_->adopted(p);
        promises_.adopted(peer);
    } else {
        invariants_->drained(p);
    }
    promises_.drained(peer);
    if (!over) return after(peer, wait_step, [this, peer] { finish(peer); });
    p.exchange.leave();
    p.anchor.resize(initial_.size());
    p.report = p.exchange.report(p.anchor);
    after(peer, goodbye, [this, peer] { end(peer); });
}

void SimCluster::end(PeerIndex peer) {
    SimPeer& p = *peers_[peer];
    if (p.state == SimPeer::State::dead) return;
    if (network_.postpone(peer, [this, peer] { end(peer); })) return;
    p.state = SimPeer::State::ended;
    network_.kill(peer, false);
}

bool SimCluster::over() const {
    for (PeerIndex peer = 0; peer < peers_.size(); ++peer) {
        const SimPeer::State state = peers_[peer]->state;
        // A second process that nobody lets in may train for as long as it likes.
        if (is_second(peer) || state == SimPeer::State::dead || state == SimPeer::State::ended) {
            continue;
        }
        return false;
    }
    return true;
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
    outcome.coverage = coverage_;
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
    const Time deadline = deadline_of(scenario_);
    if (!world_.run([this] { return over(); }, deadline)) {
        throw Violation("a peer hangs: not over after " +
                        std::to_string(std::chrono::duration<double>(deadline).count()) + " s");
    }
    for (const auto& peer : peers_) {
        if (!peer->report) peer->state = SimPeer::State::dead;  // a second process, still at it
    }
    if (!network_.refusals().empty()) {
        throw Violation("a peer's own frame was refused: " + network_.refusals().front());
    }
    for (const auto side : {Promises::Side::first, Promises::Side::second}) {
        invariants_->ended(peers_, [&](PeerIndex peer) { return promises_.side(peer) == side; });
    }
    std::uint64_t refused = 0;
    for (const auto& peer : peers_) refused += peer->half.blocks_refused();
    coverage_.saw(Event::refused_block, refused);
    const std::uint64_t harmed =
        coverage_.times(Event::flipped_bit) + coverage_.times(Event::not_finite_block);
    if (refused > 0 && harmed == 0) throw Violation("I1: a block came damaged");
    promises_.ended();
    return outcome();
}

}  // namespace ako::sim
