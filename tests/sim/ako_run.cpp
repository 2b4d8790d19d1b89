// See ako_run.h.
#include "tests/sim/ako_run.h"

#include <utility>

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
    settings.training.learning_rate = scenario.learning_rate;
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

AkoRun::AkoRun(const Scenario& scenario, RoundCheck* check)
    : scenario_(scenario),
      check_(check),
      cluster_(scenario.seed ^ 0xA5A5A5A5, scenario.peers.size(), life_timeout,
               {poll_interval, wait_step, goodbye}, *this, *this),
      peers_(cluster_),
      quadratic_(cluster_.random(), scenario.element_count, scenario.peers.size()),
      faults_(scenario_, cluster_, coverage_, [this](PeerIndex peer) { restart(peer); }),
      promises_(scenario_, cluster_, coverage_),
      departures_(cluster_, scenario.peers.size(), coverage_),
      stays_(scenario_, cluster_),
      invariants_(scenario.peers.size(), Blocks(scenario.element_count, scenario.block_elements),
                  settings_of(scenario, 0, 1).training),
      begun_(scenario.peers.size()),
      own_(scenario.own_optimizers ? scenario.peers.size() : 0, make_optimizer()) {
    SimNetwork& network = cluster_.network();
    network.watch(coverage_, scenario.block_elements * sizeof(float),
                  [this](PeerIndex from, PeerIndex to, const Header& header) {
                      promises_.arrived(from, to, header);
                  });
    network.set_header_bytes(scenario.header_bytes);
    network.set_payload_max(scenario.block_elements * sizeof(float) * scenario.payload_blocks);
    for (PeerIndex peer = 0; peer < scenario.peers.size(); ++peer) {
        cluster_.add(make_peer(peer, peer + 1), scenario.peers[peer].starts_at);
    }
    faults_.begin();
}

std::unique_ptr<AkoPeer> AkoRun::make_peer(PeerIndex peer, std::uint64_t process_id) {
    return std::make_unique<AkoPeer>(settings_of(scenario_, peer, process_id), quadratic_.initial(),
                                     scenario_.pool_bytes, cluster_,
                                     scenario_.peers[peer].clock_offset);
}

void AkoRun::restart(PeerIndex peer) {
    if (peers_[peer]->state != SimPeer::State::dead) return;  // it had ended before
    coverage_.saw(Event::second_life);
    second_ = peer;
    invariants_.begins_anew(peer);
    promises_.begins_anew(peer);
    departures_.begins_anew(peer);
    if (scenario_.own_optimizers) own_[peer] = make_optimizer();
    cluster_.begin_anew(make_peer(peer, peers_.size() + peer + 1));
}

// ---- what they compute

float AkoRun::gradient(SimPeer& peer) {
    const PeerIndex self = peer.settings.self;
    const std::span<const float> replica = peer.exchange.replica();
    begun_[self].replica.assign(replica.begin(), replica.end());
    begun_[self].rate = learning_rate_at(peer.settings.training, peer.exchange.standing().progress);
    quadratic_.gradient(self, replica, cluster_.random(), peer.gradient);
    return 0;
}

AkoRun::OwnOptimizer AkoRun::make_optimizer() const {
    return {Sgd(scenario_.element_count, settings_of(scenario_, 0, 1).training),
            std::vector<float>(scenario_.element_count)};
}

Learned AkoRun::learned(SimPeer& peer) {
    if (!scenario_.own_optimizers) return Gradient{peer.gradient};
    const PeerIndex self = peer.settings.self;
    OwnOptimizer& own = own_[self];
    own.step.step({0, scenario_.element_count}, peer.gradient, begun_[self].replica,
                  begun_[self].rate, own.update);
    coverage_.saw(Event::update);
    return Update{own.update};
}

Time AkoRun::backward_time(const SimPeer& peer) {
    const Time usual = scenario_.peers[peer.settings.self].round_time;
    return cluster_.random().time(usual * 9 / 10, usual * 11 / 10);
}

Time AkoRun::idle_time(const SimPeer& peer) { return faults_.hang(peer.settings.self); }

// ---- what they do

void AkoRun::started(PeerIndex peer) {
    promises_.started(peer);
    if (peer != second_) faults_.started(peer);
}

void AkoRun::died(PeerIndex peer, bool silently) {
    coverage_.saw(silently ? Event::silent_death : Event::death);
    promises_.died(peer);
    stays_.died(peer, silently);
}

void AkoRun::began(PeerIndex peer, const std::optional<Next>& next) {
    invariants_.drained(*peers_[peer]);
    promises_.drained(peer);
    departures_.drained(peer);
    if (!next) {
        if (peers_[peer]->half.started()) coverage_.saw(Event::staleness_wait);
        return;
    }
    switch (next->kind) {
        case Next::Kind::train:
            if (check_ != nullptr) {
                check_->may_train(peers_, peer, invariants_, cluster_.world().now());
            }
            return promises_.trains(peer);
        case Next::Kind::give_up:
            throw Violation("a peer did not start: " + next->why);
        case Next::Kind::finish:
            return stopped(peer, next->why);
    }
}

void AkoRun::ended_round(PeerIndex peer) {
    const AkoPeer& p = *peers_[peer];
    const Begun& begun = begun_[peer];
    invariants_.round_ended(p, p.gradient, begun.replica, begun.rate, cluster_.world().now());
    if (!p.half.rows().gave_way().empty()) coverage_.saw(Event::gave_way);
    promises_.round_ended(peer);
}

void AkoRun::stopped(PeerIndex peer, const std::string& why) {
    promises_.stopped(peer);
    departures_.stopped(peer, why);
    if (!std::exchange(someone_stopped_, true)) faults_.first_stopped();
    if (check_ != nullptr) check_->stopped(peers_, peer);
    if (scenario_.peers[peer].hurried) peers_[peer]->interrupts = 1;
}

void AkoRun::finishes(PeerIndex peer) {
    const AkoPeer& p = *peers_[peer];
    const Finish& finish = p.half.finish();
    if (invariants_.finishes(p, cluster_.world().now())) coverage_.saw(Event::gave_way_at_end);
    promises_.finishes(peer);
    if (!finish.accepted().none() && !std::exchange(someone_accepted_, true)) {
        faults_.first_accepted(peer);
    }
    if (!finish.decided().none() && !std::exchange(someone_decided_, true)) {
        faults_.first_decided(peer);
        if (p.over()) return;
    }
    if (finish.adopted()) {
        invariants_.adopted(p);
        promises_.adopted(peer);
        stays_.adopted(peer);
    } else {
        invariants_.drained(p);
    }
    promises_.drained(peer);
    departures_.drained(peer);
}

// ---- at the end

void AkoRun::check_refused_blocks() {
    std::uint64_t refused = 0;
    for (PeerIndex peer = 0; peer < peers_.size(); ++peer) {
        refused += peers_[peer]->half.blocks_refused();
    }
    coverage_.saw(Event::refused_block, refused);
    const std::uint64_t harmed =
        coverage_.times(Event::flipped_bit) + coverage_.times(Event::not_finite_block);
    if (refused > 0 && harmed == 0) throw Violation("I1: a block came damaged");
}

Outcome AkoRun::outcome() const {
    Outcome outcome;
    outcome.frames = cluster_.network().frames_delivered();
    outcome.blocks = invariants_.blocks_checked();
    outcome.seconds = std::chrono::duration<double>(cluster_.world().now()).count();
    outcome.loss_first = quadratic_.loss(quadratic_.initial());
    outcome.coverage = coverage_;
    for (PeerIndex peer = 0; peer < peers_.size(); ++peer) {
        const AkoPeer& p = *peers_[peer];
        outcome.rounds += p.half.round();
        if (p.state == SimPeer::State::dead) {
            ++outcome.dead;
        } else if (p.report->agreed) {
            ++outcome.agreed;
            outcome.loss_last = quadratic_.loss(p.parameters);
        } else {
            ++outcome.not_agreed;
        }
    }
    return outcome;
}

Outcome AkoRun::run() {
    cluster_.run(deadline_of(scenario_));
    for (PeerIndex peer = 0; peer < peers_.size(); ++peer) {
        AkoPeer& p = *peers_[peer];
        if (!p.report) p.state = SimPeer::State::dead;  // a second process, still at it
    }
    for (const auto side : {Promises::Side::first, Promises::Side::second}) {
        invariants_.ended(peers_, [&](PeerIndex peer) { return promises_.side(peer) == side; });
    }
    check_refused_blocks();
    promises_.ended(faults_.asked());
    stays_.ended();
    return outcome();
}

}  // namespace ako::sim
