// See ako_run.h.
#include "tests/sim/ako_run.h"

#include <cstdio>
#include <utility>

#include "src/exchange/incarnation.h"
#include "src/numbers/learning_rate.h"
#include "tests/sim/sim_times.h"

namespace ako::sim {
namespace {

constexpr std::size_t batch = 1;

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
    settings.layers = scenario.layer_ranges();
    settings.sample_budget = static_cast<std::uint64_t>(scenario.rounds * batch *
                                                        static_cast<double>(scenario.peers.size()));
    settings.log = [](const std::string&) {};
    settings.training.batch.local = batch;
    settings.training.learning_rate = scenario.learning_rate;
    settings.training.momentum = 0.5;
    settings.training.nesterov = scenario.nesterov;
    settings.training.weight_decay = 1e-3;
    ExchangeSettings& exchange = settings.exchange;
    exchange.rule = scenario.rule;
    exchange.partitions = scenario.peers[self].partitions;
    exchange.precision = scenario.adaptive ? Precision::adaptive : Precision::float32;
    exchange.staleness_rounds_max = scenario.staleness_rounds_max;
    exchange.life_timeout_ms = whole_ms(life_timeout);
    exchange.start_wait_s = scenario.start_wait_s;
    exchange.start_peers_min = 1;
    exchange.heartbeat_ms = scenario.heartbeat_ms;
    exchange.finish_timeout_s = std::chrono::duration<double>(finish_timeout).count();
    exchange.leave_timeout_s = std::chrono::duration<double>(leave_timeout).count();
    ExchangeTimes times = times_of(exchange);
    times.finish_exchange = scenario.finish_exchange;
    times.finish_linger = from_seconds(scenario.linger_s);
    if (!scenario.observes_answers) times.answers_within = want_timeout;
    settings.times_instead = times;
    return settings;
}

std::string text(Ballot ballot) {
    return std::to_string(ballot.number) + "/" + std::to_string(ballot.proposer);
}

/// What a message of the agreement says, for people; empty for all other messages.
std::string said(const Header& header) {
    if (const auto* prepare = std::get_if<Prepare>(&header)) {
        return "Prepare " + text(prepare->ballot) + (prepare->regains ? " to have its vote" : "");
    }
    if (const auto* promise = std::get_if<Promise>(&header)) {
        return "Promise " + text(promise->ballot) + (promise->has_vote ? "" : " without a vote") +
               (promise->accepted_ballot.none() ? "" : ", accepted " + text(promise->accepted_cut));
    }
    if (const auto* accept = std::get_if<Accept>(&header)) {
        return "Accept " + text(accept->ballot) + ", cut " + text(accept->cut);
    }
    if (const auto* accepted = std::get_if<Accepted>(&header)) {
        return "Accepted " + text(accepted->ballot) + ", cut " + text(accepted->cut);
    }
    return "";
}

}  // namespace

AkoRun::AkoRun(const Scenario& scenario, RoundCheck* check)
    : scenario_(scenario),
      check_(check),
      process_ids_(scenario.seed ^ 0x5C5C5C5C),
      cluster_(scenario.seed ^ 0xA5A5A5A5, scenario.peers.size(), life_timeout,
               {poll_interval, wait_step, goodbye}, *this, *this),
      peers_(cluster_),
      quadratic_(cluster_.random(), scenario.element_count, scenario.peers.size()),
      faults_(scenario_, cluster_, coverage_,
              [this](PeerIndex peer, bool elsewhere) { begin_anew(peer, elsewhere); }),
      promises_(scenario_, cluster_, faults_, coverage_),
      departures_(cluster_, scenario.peers.size(), coverage_),
      stays_(scenario_, cluster_),
      invariants_(scenario.peers.size(), Blocks(scenario.element_count, scenario.block_elements),
                  settings_of(scenario, 0, 1).training),
      agreement_(cluster_, coverage_),
      joining_(cluster_, invariants_.history(), coverage_),
      liveness_(scenario_, cluster_, faults_),
      begun_(scenario.peers.size(), 0) {
    watch();
    for (PeerIndex peer = 0; peer < scenario.peers.size(); ++peer) {
        cluster_.add(make_peer(peer), scenario.starts_at(peer));
    }
    faults_.begin();
}

void AkoRun::watch() {
    SimNetwork& network = cluster_.network();
    network.watch(
        coverage_, Blocks(scenario_.element_count, scenario_.block_elements),
        [this](EndIndex from, const Header& header) {
            if (scenario_.shows_logs) {
                const ModeSettings& sender = process(from).settings;
                show(sender.self, sender.process_id, said(header));
            }
            agreement_.leaves(process(from), header);
        },
        [this](EndIndex from, EndIndex to, const Header& header) {
            const AkoPeer& sender = process(from);
            const AkoPeer& receiver = process(to);
            agreement_.arrived(receiver, header);
            joining_.arrived(sender, receiver, header);
            if (!counts(sender) || !counts(receiver)) return;
            promises_.arrived(sender.settings.self, receiver.settings.self, header);
        });
    network.set_header_bytes(scenario_.header_bytes);
    network.set_payload_max(scenario_.block_elements * sizeof(float) * scenario_.payload_blocks);
}

std::unique_ptr<AkoPeer> AkoRun::make_peer(PeerIndex peer) {
    ModeSettings settings = settings_of(scenario_, peer, process_ids_.next() | 1);
    settings.log = [this, peer, id = settings.process_id](const std::string& line) {
        if (check_ != nullptr) check_->said(line);
        if (scenario_.shows_logs) show(peer, id, line);
    };
    const auto pool = static_cast<std::size_t>(scenario_.amount(FaultKind::pool, 1 << 20));
    auto made = std::make_unique<AkoPeer>(settings, quadratic_.initial(), pool, cluster_,
                                          scenario_.peers[peer].clock_offset);
    if (scenario_.own_optimizers) states_[made.get()].own = make_optimizer();
    return made;
}

void AkoRun::show(PeerIndex peer, std::uint64_t process_id, const std::string& line) const {
    if (line.empty()) return;
    std::printf("%9.3f ms  %u/%03u  %s\n",
                std::chrono::duration<double, std::milli>(cluster_.world().now()).count(), peer,
                static_cast<unsigned>(process_of(process_id) % 1000), line.c_str());
}

void AkoRun::begin_anew(PeerIndex peer, bool elsewhere) {
    coverage_.saw(Event::restart);
    coverage_.saw(Event::elsewhere, elsewhere);
    coverage_.saw(Event::again, begun_[peer] >= 3);
    promises_.begins_anew(peer);
    departures_.begins_anew(peer);
    cluster_.begin_anew(make_peer(peer), elsewhere);
}

// ---- what they compute

float AkoRun::gradient(SimPeer& peer) {
    const PeerIndex self = peer.settings.self;
    const std::span<const float> replica = peer.exchange.replica();
    Begun& begun = states_[&peer].begun;
    begun.replica.assign(replica.begin(), replica.end());
    begun.rate = learning_rate_at(peer.settings.training, peer.exchange.standing().progress);
    quadratic_.gradient(self, replica, cluster_.random(), peer.gradient);
    if (const auto times = static_cast<float>(faults_.explosion(peer)); times != 1)
        for (float& element : peer.gradient) element *= times;
    return 0;
}

AkoRun::OwnOptimizer AkoRun::make_optimizer() const {
    return {Sgd(scenario_.element_count, settings_of(scenario_, 0, 1).training, {}),
            std::vector<float>(scenario_.element_count)};
}

Learned AkoRun::learned(SimPeer& peer) {
    if (!scenario_.own_optimizers) return Gradient{peer.gradient};
    State& state = states_[&peer];
    state.own->step.step({0, scenario_.element_count}, peer.gradient, state.begun.replica,
                         state.begun.rate, state.own->update);
    coverage_.saw(Event::update);
    return Update{state.own->update};
}

Time AkoRun::backward_time(const SimPeer& peer) {
    const Time usual = scenario_.peers[peer.settings.self].round_time /
                       static_cast<std::int64_t>(peer.layers.size());
    return cluster_.random().time(usual * 9 / 10, usual * 11 / 10);
}

// ---- what they do

void AkoRun::started(SimPeer& peer) {
    ++begun_[peer.settings.self];
    processes_.push_back(static_cast<const AkoPeer*>(&peer));  // in the order of their ends
    promises_.started(peer.settings.self);
    faults_.started(peer);
}

void AkoRun::died(SimPeer& peer, bool silently) {
    coverage_.saw(Event::refused_growth, faults_.explosion(peer) != 1);
    if (!counts(peer)) return;
    promises_.died(peer.settings.self);
    stays_.died(peer.settings.self, silently);
}

void AkoRun::left(SimPeer& process) {
    const auto& peer = static_cast<const AkoPeer&>(process);
    coverage_.saw(Event::left_early);
    coverage_.saw(Event::handed_over, !peer.report->handed_to.empty());
    liveness_.left(peer);
    if (!counts(peer)) return;
    promises_.left(peer.settings.self);
    stays_.died(peer.settings.self, false);
}

void AkoRun::gave_up(SimPeer& peer, const Next& next) {
    // One of two processes of one name may find that it is not wanted.
    const PeerIndex self = peer.settings.self;
    const bool asked = faults_.struck(FaultKind::leave, self, Time{0}, cluster_.world().now());
    if (begun_[self] < 2 && !asked) throw Violation("a peer did not start: " + next.why);
    coverage_.saw(Event::gave_up);
}

void AkoRun::stepped(AkoPeer& peer, bool stops) {
    const PeerIndex self = peer.settings.self;
    look_at_claim(peer, stops);
    if (peer.half.agreement().adopted()) {
        invariants_.adopted(peer);
    } else {
        invariants_.drained(peer);
    }
    joining_.drained(peer);
    agreement_.stepped(peer);
    liveness_.stepped(peer);
    if (counts(peer)) {
        promises_.drained(self);
        departures_.drained(self);
    }
    State& state = states_[&peer];
    const bool has_vote = peer.half.agreement().has_vote();
    coverage_.saw(Event::vote_regained, has_vote && !state.had_vote);
    state.had_vote = has_vote;
    const std::optional<Phase> phase = phase_of(peer);
    if (phase && phase != state.phase) {
        state.phase = phase;
        faults_.entered(peer, *phase);
        if (*phase == Phase::joining) faults_.pulled(Trigger::join, peer);
    }
}

void AkoRun::look_at_claim(AkoPeer& peer, bool stops) {
    if (peer.half.agreement().adopted()) return;  // its row is what the cut says
    State& state = states_[&peer];
    const Incarnation incarnation = peer.half.rows().claimed() ? peer.incarnation() : 0;
    if (incarnation == 0 && state.incarnation != 0) coverage_.saw(Event::overtaken);
    if (incarnation != 0 && incarnation != state.incarnation) {
        joining_.claimed(peer, invariants_.claimed(peer), stops);
        if (state.own) state.own = make_optimizer();  // what it carried is gone
        if (!begins(incarnation)) faults_.pulled(Trigger::claim, peer);
    }
    state.incarnation = incarnation;
}

void AkoRun::began(SimPeer& process, const std::optional<Next>& next) {
    auto& peer = static_cast<AkoPeer&>(process);
    stepped(peer, next && next->kind == Next::Kind::finish);
    if (peer.over()) return;
    if (!next) {
        if (peer.half.started()) coverage_.saw(Event::staleness_wait);
        return;
    }
    if (next->kind == Next::Kind::finish && peer.half.leaves()) return;
    if (next->kind == Next::Kind::finish) return stopped(peer, next->why);
    if (next->kind != Next::Kind::train) return;
    joining_.trains(peer);
    if (!counts(peer)) return;
    if (check_ != nullptr) {
        check_->may_train(peers_, peer.settings.self, invariants_, cluster_.world().now());
    }
    promises_.trains(peer.settings.self);
}

void AkoRun::gave_layer(SimPeer& process) {
    const auto& peer = static_cast<const AkoPeer&>(process);
    coverage_.saw(Event::early_blocks, invariants_.gave_part(peer));
}

void AkoRun::ended_round(SimPeer& process) {
    const auto& peer = static_cast<AkoPeer&>(process);
    const Begun& begun = states_[&process].begun;
    invariants_.gave(peer, values_of(peer.learned));
    invariants_.round_ended(peer, peer.gradient, begun.replica, begun.rate, cluster_.world().now());
    coverage_.saw(Event::gave_way, !peer.half.rows().gave_way().empty());
    if (counts(peer)) promises_.round_ended(peer.settings.self);
}

void AkoRun::stopped(AkoPeer& peer, const std::string& why) {
    const PeerIndex self = peer.settings.self;
    states_[&peer].stopped = true;
    coverage_.saw(Event::joined_to_end, !peer.half.rows().claimed());
    liveness_.stopped(peer);
    if (counts(peer)) {
        promises_.stopped(self);
        departures_.stopped(self, why);
        if (check_ != nullptr) check_->stopped(peers_, self);
    }
    if (scenario_.hurried(self)) peer.interrupts = 1;
    faults_.pulled(Trigger::stop, peer);
}

void AkoRun::finishes(SimPeer& process) {
    auto& peer = static_cast<AkoPeer&>(process);
    if (peer.half.leaves()) return stepped(peer, false);
    // Where nobody stays to go on without it, it stops for all.
    if (!states_[&peer].stopped) stopped(peer, "");
    const Finish& finish = peer.half.agreement();
    coverage_.saw(Event::gave_way_at_end, invariants_.finishes(peer, cluster_.world().now()));
    // What strikes then does so before anybody else can know.
    if (!finish.accepted().none()) faults_.pulled(Trigger::accept, peer);
    if (peer.over()) return;
    if (!finish.decided().none()) faults_.pulled(Trigger::decide, peer);
    if (peer.over()) return;
    if (finish.adopted()) {
        faults_.pulled(Trigger::adopt, peer);
        agreement_.adopted(peer);
        if (counts(peer)) {
            promises_.adopted(peer.settings.self);
            stays_.adopted(peer.settings.self);
        }
    }
    stepped(peer, true);
}

// ---- at the end

void AkoRun::check_refused_blocks() {
    std::uint64_t refused = 0;
    for (const auto& process : cluster_.processes()) {
        refused += static_cast<const AkoPeer&>(*process).half.arrivals().blocks_refused();
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
    for (const auto& process : cluster_.processes()) {
        const auto& peer = static_cast<const AkoPeer&>(*process);
        outcome.rounds += peer.half.round();
        if (!peer.report || peer.report->left) {
            ++outcome.dead;
        } else if (peer.report->agreed) {
            ++outcome.agreed;
            outcome.loss_last = quadratic_.loss(peer.parameters);
        } else {
            ++outcome.not_agreed;
            outcome.coverage.saw(Event::vote_missing, !peer.half.agreement().has_vote());
        }
    }
    return outcome;
}

Outcome AkoRun::run() {
    cluster_.run(deadline_of(scenario_));
    invariants_.ended(cluster_);
    check_refused_blocks();
    agreement_.ended();
    promises_.ended();
    stays_.ended();
    liveness_.ended();
    return outcome();
}

}  // namespace ako::sim
