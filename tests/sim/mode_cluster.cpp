// See mode_cluster.h.
#include "tests/sim/mode_cluster.h"

#include <algorithm>
#include <atomic>

#include "tests/sim/violation.h"

namespace ako::sim {
namespace {

constexpr Time life_timeout = ms(150);
constexpr Time heartbeat = ms(30);
/// For which a peer that ends stays to say goodbye; longer than a heartbeat, as in GroupExchange.
constexpr Time goodbye = ms(100);
constexpr Time poll_interval = ms(10);
constexpr Time wait_step = ms(1);
/// Of virtual time, after which somebody hangs.
constexpr Time deadline = std::chrono::seconds(600);

ModeSettings settings_of(const ModeScenario& scenario, PeerIndex self) {
    ModeSettings settings = scenario.settings;
    settings.self = self;
    settings.log = [](const std::string&) {};
    settings.exchange.heartbeat_ms = heartbeat / ms(1);
    settings.exchange.life_timeout_ms = life_timeout / ms(1);
    return settings;
}

}  // namespace

struct ModeCluster::Peer {
    Peer(const ModeScenario& scenario, PeerIndex self, std::span<const float> initial, World& world,
         SimNetwork& network)
        : settings(settings_of(scenario, self)),
          clock(world, ms(1000) * settings.self),
          transport(network, settings.self, clock),
          exchange(
              settings, 0,
              [&](const ModeSettings& given, Mailbox& mailbox, Transport& over, const Clock&) {
                  return std::make_unique<BucketMode>(given, scenario.buckets(), initial, mailbox,
                                                      over);
              },
              transport, clock, interrupts),
          gradient(initial.size()) {}

    const ModeSettings settings;
    PeerClock clock;
    SimTransport transport;
    std::atomic<int> interrupts = 0;
    GroupExchange exchange;
    std::vector<float> gradient;
    Round pushed = 0;  ///< whole gradients
    bool ended = false;
    bool training = true;
    ModeEnd end;
};

ModeCluster::ModeCluster(const ModeScenario& scenario, std::span<const float> initial,
                         SimGradient gradient)
    : scenario_(scenario),
      gradient_(std::move(gradient)),
      random_(scenario.seed),
      network_(world_, random_, scenario.settings.peer_count(), life_timeout) {
    network_.set_payload_max(scenario.payload_max);
    const auto count = static_cast<PeerIndex>(scenario.settings.peer_count());
    for (PeerIndex peer = 0; peer < count; ++peer) {
        peers_.push_back(std::make_unique<Peer>(scenario, peer, initial, world_, network_));
        for (PeerIndex other = 0; other < count; ++other) {
            LinkQuality& quality = network_.quality(peer, other) = scenario.quality;
            quality.delay = random_.time(quality.delay / 2, quality.delay * 2);
        }
    }
    if (scenario.slow_link)
        network_.quality(*scenario.slow_link, (*scenario.slow_link + 1) % count).bytes_per_second /=
            10;
    for (PeerIndex peer = 0; peer < count; ++peer) {
        world_.at(random_.time(ms(0), ms(50)), [this, peer] {
            peers_[peer]->exchange.start();
            poll(peer);
            begin(peer);
        });
        const ModePlan& plan = scenario.peers[peer];
        if (plan.killed_at)
            world_.at(*plan.killed_at, [this, peer, plan] { kill(peer, plan.killed_silently); });
    }
}

ModeCluster::~ModeCluster() { network_.drop_all(); }

void ModeCluster::kill(PeerIndex peer, bool silently) {
    if (peers_[peer]->ended) return;
    peers_[peer]->ended = true;  // and stays `dead`
    peers_[peer]->training = false;
    network_.kill(peer, silently);
    if (!silently) return;
    // The others miss it one after the other, for they heard from it last at different times.
    for (PeerIndex other = 0; other < peers_.size(); ++other)
        if (other != peer)
            world_.after(life_timeout - random_.time(ms(0), heartbeat),
                         [=, this] { network_.cut(peer, other, deadline); });
}

void ModeCluster::poll(PeerIndex peer) {
    if (peers_[peer]->ended) return;
    network_.poll(peer);
    world_.after(poll_interval, [this, peer] { poll(peer); });
}

Time ModeCluster::step_time(PeerIndex peer) {
    const auto layers = static_cast<std::int64_t>(peers_[peer]->settings.layers.size());
    const Time usual = scenario_.peers[peer].round_time / (2 * layers);
    return random_.time(usual * 8 / 10, usual * 12 / 10);
}

void ModeCluster::begin(PeerIndex peer) {
    Peer& p = *peers_[peer];
    if (p.ended) return;
    const std::optional<Round> stops_at = scenario_.peers[peer].stops_at;
    if (stops_at && p.exchange.round() >= *stops_at) p.exchange.request_stop(StopReason::requested);
    const std::optional<Next> next = p.exchange.step_begin();
    if (!next) return world_.after(wait_step, [this, peer] { begin(peer); });
    switch (next->kind) {
        case Next::Kind::train:
            return forward(peer, 0);
        case Next::Kind::give_up:
            if (next->ending != Ending::broken)
                throw Violation("a peer cannot train: " + next->why);
            return leave(peer, ModeEnd::Kind::broken, next->why);
        case Next::Kind::finish:
            p.training = false;
            return finish(peer);
    }
}

void ModeCluster::measure_gap(PeerIndex peer) {
    const Round own = peers_[peer]->pushed;
    Round slowest = own;
    for (const PeerIndex worker : peers_[peer]->settings.workers())
        if (peers_[worker]->training) slowest = std::min(slowest, peers_[worker]->pushed);
    widest_gap_ = std::max(widest_gap_, own - slowest);
}

void ModeCluster::forward(PeerIndex peer, std::size_t layer) {
    Peer& p = *peers_[peer];
    if (p.ended) return;
    if (layer < p.settings.layers.size()) {
        const bool current = p.exchange.step_await(p.settings.layers[layer]);
        world_.after(current ? step_time(peer) : wait_step,
                     [=, this] { forward(peer, current ? layer + 1 : layer); });
        return;
    }
    measure_gap(peer);
    gradient_(peer, p.exchange.round(), p.exchange.replica(), p.gradient);
    backward(peer, layer);
}

void ModeCluster::backward(PeerIndex peer, std::size_t layers_left) {
    Peer& p = *peers_[peer];
    if (p.ended) return;
    if (layers_left > 0) {
        p.exchange.gradient_ready(p.settings.layers[layers_left - 1], p.gradient);
        if (layers_left == 1) ++p.pushed;
        world_.after(step_time(peer), [=, this] { backward(peer, layers_left - 1); });
        return;
    }
    const RoundResult result{p.settings.training.batch_per_peer, 0.5F};
    if (!p.exchange.end_round(p.gradient, result)) throw Violation("a finite gradient was refused");
    begin(peer);
}

void ModeCluster::finish(PeerIndex peer) {
    Peer& p = *peers_[peer];
    if (p.ended) return;
    if (!p.exchange.step_finish()) return world_.after(wait_step, [this, peer] { finish(peer); });
    if (p.settings.role(peer) == Role::worker) p.end.parameters.resize(p.gradient.size());
    p.exchange.leave();
    p.end.report = p.exchange.report(p.end.parameters);
    leave(peer, ModeEnd::Kind::finished, "");
}

void ModeCluster::leave(PeerIndex peer, ModeEnd::Kind kind, const std::string& why) {
    world_.after(goodbye, [=, this] { end(peer, kind, why); });
}

void ModeCluster::end(PeerIndex peer, ModeEnd::Kind kind, const std::string& why) {
    Peer& p = *peers_[peer];
    if (p.ended) return;
    p.ended = true;
    p.training = false;
    p.end.kind = kind;
    p.end.why = why;
    p.end.at = world_.now();
    network_.kill(peer, false);
}

std::vector<ModeEnd> ModeCluster::run() {
    const auto over = [this] {
        return std::all_of(peers_.begin(), peers_.end(), [](const auto& p) { return p->ended; });
    };
    if (!world_.run(over, deadline)) throw Violation("a peer hangs");
    if (!network_.refusals().empty())
        throw Violation("a peer's own frame was refused: " + network_.refusals().front());
    std::vector<ModeEnd> ends;
    for (const auto& peer : peers_) ends.push_back(peer->end);
    return ends;
}

std::uint64_t ModeCluster::bytes_sent(PeerIndex peer) const {
    std::uint64_t sum = 0;
    for (PeerIndex other = 0; other < peers_.size(); ++other)
        sum += network_.bytes_delivered(peer, other);
    return sum;
}

std::uint64_t ModeCluster::bytes_received(PeerIndex peer) const {
    std::uint64_t sum = 0;
    for (PeerIndex other = 0; other < peers_.size(); ++other)
        sum += network_.bytes_delivered(other, peer);
    return sum;
}

}  // namespace ako::sim
