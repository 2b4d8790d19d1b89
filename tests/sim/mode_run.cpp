// See mode_run.h.
#include "tests/sim/mode_run.h"

#include <algorithm>
#include <utility>

#include "ako/mode_table.h"
#include "src/modes/bucket_mode.h"
#include "src/modes/make_exchange.h"
#include "tests/sim/sim_times.h"
#include "tests/sim/violation.h"

namespace ako::sim {
namespace {

constexpr Time heartbeat = ms(30);
/// A compute half looks more often than in the mode `ako`, for it waits in every layer. The goodbye
/// is longer than a heartbeat, as in ModeExchange.
constexpr Pace pace{poll_interval, ms(1), goodbye};
/// Somebody hangs if a run takes more virtual time than this.
constexpr Time deadline = std::chrono::seconds(600);

ModeSettings settings_of(const ModeScenario& scenario, PeerIndex self) {
    ModeSettings settings = scenario.settings;
    settings.self = self;
    settings.log = [](const std::string&) {};
    settings.exchange.heartbeat_ms = heartbeat / ms(1);
    settings.exchange.life_timeout_ms = life_timeout / ms(1);
    settings.process_id = scenario.seed * 100 + self + 1;
    if (scenario.goes_on_from.empty()) return settings;
    const Checkpoint& from = scenario.goes_on_from[self];
    settings.checkpoints = {from.id};
    settings.read_checkpoint = [from](const CheckpointId&) { return from; };
    return settings;
}

/// A learner: its gradients are those of the scenario, in their order.
class SimLearner final : public Network {
  public:
    SimLearner(SimGradient gradient, PeerIndex number, std::size_t elements)
        : gradient_(std::move(gradient)), number_(number), elements_(elements) {}

    std::size_t parameter_count() const override { return elements_; }
    const std::vector<Tensor>& tensors() const override { return tensors_; }
    void initialize(std::uint64_t, std::span<float>) const override {}
    float gradient(const Batch&, std::span<const float> parameters, std::span<float> gradient,
                   const AwaitRange&, const RangeReady&) override {
        gradient_(number_, round_++, parameters, gradient);
        return 0.5F;
    }
    void skip(std::uint64_t gradients, std::size_t) override { round_ += gradients; }
    Evaluation evaluate(const Batch&, std::span<const float>) override { return {}; }

  private:
    const SimGradient gradient_;
    const PeerIndex number_;
    const std::size_t elements_;
    const std::vector<Tensor> tensors_;
    Round round_ = 0;
};

/// The clock of a processor whose speed changes after some rounds. Between two looks at the clock,
/// which are a learner's part of a round, 10 to 90 ms pass.
class ChangingClock final : public Clock {
  public:
    explicit ChangingClock(std::uint64_t seed) : random_(seed) {}
    Time now() const override {
        if (random_.chance(0.02)) step_ = random_.time(ms(10), ms(90));
        return at_ += step_;
    }

  private:
    mutable Random random_;
    mutable Time step_ = ms(50);
    mutable Time at_{0};
};

}  // namespace

ModeRun::ModeRun(const ModeScenario& scenario, std::span<const float> initial, SimGradient gradient)
    : scenario_(scenario),
      initial_(initial),
      gradient_(std::move(gradient)),
      cluster_(scenario.seed, scenario.settings.peer_count(), life_timeout, pace, *this, *this),
      learned_(scenario.settings.peer_count(), 0),
      given_(scenario.settings.peer_count(), 0),
      checkpoints_(scenario.settings.peer_count()) {
    set_links();
    for (PeerIndex peer = 0; peer < scenario.settings.peer_count(); ++peer) {
        if (has_learners(scenario.settings.training, scenario.settings.exchange))
            learners_.push_back(make_learners(peer));
        cluster_.add(make_peer(peer), cluster_.random().time(ms(0), ms(50)));
        const ModePlan& plan = scenario.peers[peer];
        if (!plan.killed_at) continue;
        cluster_.world().at(*plan.killed_at,
                            [this, peer, plan] { cluster_.kill(peer, plan.killed_silently); });
    }
    for (const Hitch& hitch : scenario_.hitches)
        cluster_.world().at(hitch.at, [this, hitch] { strike(hitch); });
}

std::unique_ptr<SimPeer> ModeRun::make_peer(PeerIndex peer) {
    return std::make_unique<SimPeer>(
        settings_of(scenario_, peer), initial_.size(),
        payload_bytes_max(scenario_.settings, initial_.size()),
        [this](const ModeSettings& settings, Mailbox& mailbox, Transport& transport,
               const Clock& clock) -> std::unique_ptr<Halves> {
            const ExchangeSettings& exchange = settings.exchange;
            if (exchange.mode == Mode::ako || entry_of(exchange).is_elastic())
                return make_halves(settings, {initial_.begin(), initial_.end()}, mailbox, transport,
                                   clock);
            return std::make_unique<BucketMode>(settings, scenario_.buckets(), initial_, mailbox,
                                                transport);
        },
        cluster_.world(), cluster_.network(), ms(1000) * peer);
}

void ModeRun::set_links() {
    SimNetwork& network = cluster_.network();
    network.set_payload_max(scenario_.payload_max);
    const auto count = static_cast<PeerIndex>(network.peer_count());
    for (PeerIndex peer = 0; peer < count; ++peer) {
        for (PeerIndex other = 0; other < count; ++other) {
            LinkQuality& quality = network.quality(peer, other) = scenario_.quality;
            quality.delay = cluster_.random().time(quality.delay / 2, quality.delay * 2);
        }
    }
    if (!scenario_.slow_link) return;
    const PeerIndex from = *scenario_.slow_link;
    network.quality(from, (from + 1) % count).bytes_per_second /= 10;
}

void ModeRun::strike(const Hitch& hitch) {
    SimPeer& peer = cluster_[hitch.peer];
    if (!peer.begun || peer.over()) return;
    SimNetwork& network = cluster_.network();
    const Time until = cluster_.world().now() + hitch.lasts;
    if (hitch.towards)
        network.silence(hitch.peer, *hitch.towards, until);
    else
        network.pause(*peer.transport.end(), until);
}

// ---- what they compute

Time ModeRun::layer_time(const SimPeer& peer) {
    const auto layers = static_cast<std::int64_t>(peer.layers.size());
    const Time usual = scenario_.peers[peer.settings.self].round_time / (2 * layers);
    return cluster_.random().time(usual * 8 / 10, usual * 12 / 10);
}

/// As the trainer: learners go on before the newest average is there, unless they begin anew at it.
void ModeRun::begins_round(SimPeer& peer) {
    restore_learners(peer);
    keep_checkpoint(peer);
    if (learners_.empty()) return;
    const Learners& learners = *learners_[peer.settings.self];
    if (!learners.begins_anew(peer.exchange.standing().progress)) learn(peer);
}

float ModeRun::gradient(SimPeer& peer) {
    measure_gap(peer.settings.self);
    if (!learners_.empty()) return 0.5F;  // see `learned`
    gradient_(peer.settings.self, peer.exchange.standing().round, peer.exchange.replica(),
              peer.gradient);
    return 0.5F;
}

std::unique_ptr<Learners> ModeRun::make_learners(PeerIndex peer) {
    TrainingSettings training = scenario_.settings.training;
    training.learners = scenario_.learners_of(peer);  // 0: auto
    const auto network = [this, first = scenario_.learners_before(peer)](std::size_t number) {
        return std::make_unique<SimLearner>(gradient_, static_cast<PeerIndex>(first + number),
                                            initial_.size());
    };
    networks_.push_back(network(0));
    LearnerOptions options;
    options.peers_together = scenario_.settings.peer_count();
    options.count_max = scenario_.adapts_to;
    return std::make_unique<Learners>(*networks_.back(), network, training, std::move(options),
                                      clock_of(peer));
}

const Clock& ModeRun::clock_of(PeerIndex peer) {
    if (scenario_.adapts_to == 0) return clock_;
    clocks_.push_back(std::make_unique<ChangingClock>(scenario_.seed * 100 + peer));
    return *clocks_.back();
}

void ModeRun::restore_learners(SimPeer& peer) {
    if (learners_.empty()) return;
    const auto from = peer.restored;
    if (from == nullptr) return;
    Learners& learners = *learners_[peer.settings.self];
    if (!learners.restore(*from)) throw Violation("learners refuse their checkpoint");
    learners.skip(from->id.round);
}

void ModeRun::learn(SimPeer& peer) {
    Learners& learners = *learners_[peer.settings.self];
    const Standing standing = peer.exchange.standing();
    learners.learn({{}, {}, learners.samples_per_round()}, peer.exchange.replica(),
                   standing.progress);
    learned_[peer.settings.self] = standing.round + 1;
    peer.samples = learners.samples_per_round();
}

Learned ModeRun::learned(SimPeer& peer) {
    if (learners_.empty()) return Gradient{peer.gradient};
    if (learned_[peer.settings.self] != peer.exchange.standing().round + 1) learn(peer);
    const std::size_t together = peer.exchange.standing().learners_together;
    return Update{learners_[peer.settings.self]->correct(peer.exchange.replica(), together)};
}

std::size_t ModeRun::learners(const SimPeer& peer) {
    return learners_.empty() ? 1 : learners_[peer.settings.self]->count();
}

// ---- what they do

void ModeRun::measure_gap(PeerIndex peer) {
    const Round own = given_[peer];
    Round slowest = own;
    for (const PeerIndex worker : scenario_.settings.workers()) {
        const bool trains = cluster_[worker].state == SimPeer::State::training;
        if (trains) slowest = std::min(slowest, given_[worker]);
    }
    widest_gap_ = std::max(widest_gap_, own - slowest);
}

/// Everything of the rounds before is settled (`settles`), and nothing of this one is made.
void ModeRun::keep_checkpoint(SimPeer& peer) {
    if (scenario_.keeps_after != peer.exchange.standing().round) return;
    Checkpoint& kept = checkpoints_[peer.settings.self];
    if (!peer.exchange.save(kept)) throw Violation("a checkpoint is refused");
    if (!learners_.empty()) learners_[peer.settings.self]->save(kept);
}

void ModeRun::ended_round(SimPeer& peer) {
    const std::optional<Round> stops_at = scenario_.peers[peer.settings.self].stops_at;
    if (stops_at && peer.exchange.standing().round >= *stops_at)
        peer.exchange.request_stop(StopReason::requested);
}

void ModeRun::died(SimPeer& victim, bool silently) {
    if (!silently) return;
    const PeerIndex peer = victim.settings.self;
    // The others miss it one after the other, for they heard from it last at different times.
    for (PeerIndex other = 0; other < cluster_.size(); ++other) {
        if (other == peer) continue;
        cluster_.world().after(life_timeout - cluster_.random().time(ms(0), heartbeat),
                               [=, this] { cluster_.network().cut(peer, other, deadline); });
    }
}

// ---- at the end

ModeOutcome ModeRun::run() {
    cluster_.run(deadline);
    ModeOutcome outcome;
    outcome.widest_gap = widest_gap_;
    outcome.checkpoints = std::move(checkpoints_);
    const SimNetwork& network = cluster_.network();
    for (PeerIndex peer = 0; peer < cluster_.size(); ++peer) {
        SimPeer& p = cluster_[peer];
        outcome.ends.push_back({p.state, p.why, p.ended_at, p.report.value_or(FinishReport{}),
                                std::move(p.parameters)});
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
        for (PeerIndex other = 0; other < cluster_.size(); ++other) {
            sent += network.bytes_delivered(peer, other);
            received += network.bytes_delivered(other, peer);
        }
        outcome.sent.push_back(sent);
        outcome.received.push_back(received);
    }
    return outcome;
}

}  // namespace ako::sim
