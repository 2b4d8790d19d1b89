// See elastic_run.h.
#include "tests/sim/elastic_run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tests/sim/sim_times.h"
#include "tests/sim/violation.h"

namespace ako::sim {
namespace {

constexpr std::size_t batch = 4;
constexpr Time heartbeat = ms(30);
constexpr Pace pace{poll_interval, ms(1), goodbye};
/// Somebody hangs if a run takes more virtual time than this.
constexpr Time deadline = std::chrono::seconds(300);
/// Steps are sums of at most so many bits, and parameters of some hundred of them.
constexpr double rounding_max = 2e-2;
/// Small buckets, so that small models have several.
constexpr std::size_t bucket_bytes_min = 64;
constexpr std::size_t bucket_bytes_split = 256;

double weight(PeerIndex peer) { return std::pow(3.0, peer); }

/// The mean of the weights of every set of peers, by the set.
std::vector<double> means_of(std::size_t peers) {
    std::vector<double> means(std::size_t{1} << peers);
    for (std::size_t set = 1; set < means.size(); ++set) {
        double sum = 0;
        for (PeerIndex peer = 0; peer < peers; ++peer)
            if (set & peer_bit(peer)) sum += weight(peer);
        means[set] = sum / std::popcount(set);
    }
    return means;
}

const char* word(ElasticFault::Kind kind) {
    constexpr const char* words[] = {"kill",    "kill_silently", "start", "pause",       "cut",
                                     "isolate", "leave",         "hang",  "reach_target"};
    return words[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string ElasticFault::text() const {
    return std::string(word(kind)) + " " + std::to_string(peer) + " at " +
           std::to_string(at / ms(1)) + " ms for " + std::to_string(lasts / ms(1));
}

ElasticRun::ElasticRun(const ElasticScenario& scenario)
    : scenario_(scenario),
      initial_(scenario.element_count()),
      buckets_(scenario.layers, scenario.element_count(), bucket_bytes_min, bucket_bytes_split),
      means_(means_of(scenario.peers)),
      cluster_(scenario.seed, scenario.peers, life_timeout, pace, *this, *this),
      leaves_(scenario.peers),
      hangs_(scenario.peers) {
    SimNetwork& network = cluster_.network();
    network.set_payload_max(scenario.payload_max);
    for (PeerIndex from = 0; from < scenario.peers; ++from) {
        for (PeerIndex to = 0; to < scenario.peers; ++to) {
            network.quality(from, to) = scenario.quality;
            network.quality(from, to).delay =
                cluster_.random().time(scenario.quality.delay / 2, scenario.quality.delay * 2);
        }
    }
    for (PeerIndex peer = 0; peer < scenario.peers; ++peer) {
        const bool late = !scenario.late.empty() && scenario.late[peer];
        const Time begins = late ? *scenario.late[peer] : cluster_.random().time(ms(0), ms(50));
        cluster_.add(make_peer(peer), begins);
    }
    for (const ElasticFault& fault : scenario.faults) {
        if (fault.kind == ElasticFault::Kind::start) cluster_.one_more();
        cluster_.world().at(fault.at, [this, fault] { strike(fault); });
    }
}

ModeSettings ElasticRun::settings_of(PeerIndex peer, std::uint64_t process) const {
    ModeSettings settings;
    settings.self = peer;
    settings.process_id = process;
    for (std::size_t k = 0; k < scenario_.peers; ++k)
        settings.peer_names.push_back("p" + std::to_string(k));
    settings.layers = scenario_.layers;
    settings.straight_bytes_max = scenario_.straight_bytes_max;
    settings.sample_budget = batch * scenario_.peers * scenario_.rounds;
    settings.training.batch.local = batch;
    settings.training.learning_rate = 1;
    settings.training.momentum = scenario_.momentum;
    settings.training.nesterov = false;
    if (scenario_.shared_batch) {
        settings.training.batch.global_target = batch * scenario_.peers + 1;
        settings.training.batch.schedule = {BatchScheduleKind::steps, {0.5}, 2};
        settings.training.schedule.kind = RateScheduleKind::cosine;
    }
    settings.exchange.mode = Mode::ring;
    settings.exchange.elastic = true;
    settings.exchange.start_peers_min = scenario_.members_min;
    settings.exchange.start_wait_s = scenario_.start_wait_s;
    settings.exchange.finish_timeout_s = scenario_.finish_timeout_s;
    settings.exchange.heartbeat_ms = heartbeat / ms(1);
    settings.exchange.life_timeout_ms = life_timeout / ms(1);
    settings.leaves = [this, peer] { return leaves_[peer]; };
    settings.log = [this, peer](const std::string& line) {
        if (!scenario_.shows_logs) return;
        std::printf("%8.3f p%u: %s\n", seconds_of(cluster_.world().now()), peer, line.c_str());
    };
    return settings;
}

std::unique_ptr<SimPeer> ElasticRun::make_peer(PeerIndex peer) {
    return std::make_unique<SimPeer>(
        settings_of(peer, ++processes_ * 1000 + peer), initial_.size(), 0,
        [this](const ModeSettings& settings, Mailbox& mailbox, Transport& transport,
               const Clock& clock) {
            return std::make_unique<ElasticMode>(settings, buckets_, initial_, mailbox, transport,
                                                 clock);
        },
        cluster_.world(), cluster_.network(), ms(1000) * peer);
}

Time ElasticRun::layer_time(const SimPeer& peer) {
    const auto layers = static_cast<std::int64_t>(peer.layers.size());
    const Time usual = scenario_.round_time[peer.settings.self] / (2 * layers);
    return cluster_.random().time(usual * 8 / 10, usual * 12 / 10);
}

Time ElasticRun::idle_time(const SimPeer& peer) {
    return hangs_[peer.settings.self] ? Time(std::chrono::hours(1)) : Time{0};
}

// Every third round: asked again until it has settled, it says the same.
bool ElasticRun::settles(const SimPeer& peer) {
    const Standing standing = peer.exchange.standing();
    return scenario_.evaluates && standing.evaluates && (standing.round + scenario_.seed) % 3 == 0;
}

// ---- faults

// Somebody else is in the newest epoch that anybody else knows of, and holds the state.
bool ElasticRun::others_in(PeerIndex peer) const {
    std::uint32_t newest = 0;
    bool in = false;
    for (PeerIndex other = 0; other < cluster_.size(); ++other) {
        const SimPeer& process = cluster_[other];
        if (other == peer || !process.begun || process.over()) continue;
        if (hangs_[other] || leaves_[other]) continue;
        const EpochPlace place = compute(process).place();
        if (place.epoch > newest) in = false;
        newest = std::max(newest, place.epoch);
        in |= place.epoch == newest && place.in;
    }
    return in;
}

bool ElasticRun::somebody_ended() const {
    const auto& processes = cluster_.processes();
    return std::any_of(processes.begin(), processes.end(), [](const auto& process) {
        return process->state == SimPeer::State::ended ||
               process->state == SimPeer::State::finishing;
    });
}

void ElasticRun::strike(const ElasticFault& fault) {
    using Kind = ElasticFault::Kind;
    SimPeer& victim = cluster_[fault.peer];
    SimNetwork& network = cluster_.network();
    const Time until = cluster_.world().now() + fault.lasts;
    if (scenario_.shows_logs)
        std::printf("%8.3f %s\n", seconds_of(cluster_.world().now()), fault.text().c_str());
    switch (fault.kind) {
        case Kind::kill:
        case Kind::kill_silently:
            // With the last one that holds them the parameters would be gone.
            if (others_in(fault.peer)) cluster_.kill(fault.peer, fault.kind == Kind::kill_silently);
            return;
        case Kind::start:
            cluster_.one_less();
            // Where the run has ended they would begin another one.
            if (!victim.begun || !victim.over() || somebody_ended()) return;
            hangs_[fault.peer] = false;
            leaves_[fault.peer] = false;
            cluster_.begin_anew(make_peer(fault.peer));
            return;
        case Kind::pause:
            if (!victim.over() && victim.begun) network.pause(*victim.transport.end(), until);
            return;
        case Kind::cut:
            if (fault.peer != fault.other) network.cut(fault.peer, fault.other, until);
            return;
        case Kind::isolate:
            for (PeerIndex other = 0; other < cluster_.size(); ++other)
                if (other != fault.peer) network.cut(fault.peer, other, until);
            return;
        case Kind::leave:
            if (victim.over() || !others_in(fault.peer)) return;
            leaves_[fault.peer] = true;
            victim.interrupts = 1;
            return;
        case Kind::hang:
            hangs_[fault.peer] = true;
            return;
        case Kind::reach_target:
            if (!victim.over() && compute(victim).place().in)
                victim.exchange.request_stop(StopReason::target_reached);
            return;
    }
}

void ElasticRun::gave_up(SimPeer& peer, const Next& next) {
    if (scenario_.shows_logs)
        std::printf("%8.3f p%u gives up: %s\n", seconds_of(cluster_.world().now()),
                    peer.settings.self, next.why.c_str());
    if (next.ending == Ending::numbers) throw Violation("numbers: " + next.why);
    if (next.why.find("digest") != std::string::npos ||
        next.why.find("same parameters") != std::string::npos)
        throw Violation("what a newcomer took over is wrong: " + next.why);
}

bool ElasticRun::awaited(const SimPeer& peer) const { return !hangs_[peer.settings.self]; }

// ---- checks

float ElasticRun::gradient(SimPeer& peer) {
    const auto value = static_cast<float>(weight(peer.settings.self));
    std::fill(peer.gradient.begin(), peer.gradient.end(), value);
    return 0.5F;
}

// Whoever comes to the next round, or to the end, was in all the time: what it held before counts.
void ElasticRun::began(SimPeer& peer, const std::optional<Next>& next) {
    const Standing standing = peer.exchange.standing();
    if (!next || standing.joining) return;
    if (scenario_.shows_logs && next->kind == Next::Kind::finish)
        std::printf("%8.3f p%u ends after round %llu: %s\n", seconds_of(cluster_.world().now()),
                    peer.settings.self, static_cast<unsigned long long>(standing.round),
                    next->why.c_str());
    const ElasticCompute& half = compute(peer);
    if (next->kind == Next::Kind::train) begun_at_.emplace(standing.round, cluster_.world().now());
    if (next->kind == Next::Kind::give_up) return;
    if (newest_.count(&peer) == 0) trains_since_[peer.settings.self] = cluster_.world().now();
    // All up to this sync is in the parameters, and nothing beyond.
    const Round round = half.tally().sync;
    const bool whole = next->kind == Next::Kind::finish || round == standing.round;
    Seen& seen = newest_[&peer];
    if (!seen.parameters.empty() && round > seen.round) hold(peer, seen);
    if (!whole) return;
    seen.round = round;
    seen.parameters.assign(half.replica().begin(), half.replica().end());
}

void ElasticRun::hold(const SimPeer& peer, const Seen& seen) {
    const auto [place, first] = held_.emplace(seen.round, seen.parameters);
    if (!first) {
        if (place->second != seen.parameters)
            throw Violation("p" + std::to_string(peer.settings.self) +
                            " holds other parameters after round " + std::to_string(seen.round));
        return;
    }
    const auto before = held_.find(seen.round - 1);
    if (seen.round > 0 && before != held_.end())
        check_step(before->second, seen.parameters, seen.round);
}

void ElasticRun::check_step(const std::vector<float>& before, const std::vector<float>& after,
                            Round round) {
    if (scenario_.momentum != 0 || scenario_.shared_batch) return;
    for (std::size_t bucket = 0; bucket < buckets_.count(); ++bucket) {
        const Range range = buckets_[bucket];
        for (std::size_t k = range.first; k < range.first + range.count; ++k) {
            const double step = static_cast<double>(before[k]) - static_cast<double>(after[k]);
            const bool known = std::any_of(means_.begin() + 1, means_.end(), [step](double mean) {
                return std::abs(mean - step) < rounding_max;
            });
            if (!known)
                throw Violation("step " + std::to_string(step) + " of round " +
                                std::to_string(round) + " is the mean of no set of gradients");
        }
    }
}

ElasticOutcome ElasticRun::run() {
    cluster_.run(deadline);
    ElasticOutcome outcome;
    outcome.seconds = cluster_.world().now();
    const std::vector<float>* finished = nullptr;
    for (PeerIndex peer = 0; peer < cluster_.size(); ++peer) {
        SimPeer& p = cluster_[peer];
        const FinishReport report = p.report.value_or(FinishReport{});
        if (report.agreed) {
            if (!report.identical) throw Violation("digests of who finished together differ");
            if (finished != nullptr && *finished != p.parameters)
                throw Violation("two that finished hold other parameters");
            finished = &p.parameters;
        }
        outcome.ends.push_back({p.state, p.why + report.why_not, report, p.parameters, p.ended_at});
        outcome.epochs = std::max(outcome.epochs, compute(p).place().epoch);
    }
    outcome.finished = finished != nullptr;
    if (!outcome.finished && scenario_.finishes) throw Violation("nobody finished");
    outcome.begun_at = begun_at_;
    outcome.trains_since = trains_since_;
    Time last{0};
    for (const auto& [round, at] : begun_at_) {
        if (last != Time{0}) outcome.longest_pause = std::max(outcome.longest_pause, at - last);
        last = at;
        outcome.rounds = round + 1;
    }
    return outcome;
}

}  // namespace ako::sim
