// See faults.h.
#include "tests/sim/faults.h"

#include <algorithm>
#include <utility>

#include "tests/sim/ako_peer.h"

namespace ako::sim {
namespace {

/// Whoever stands still for so long again is not asked to stop: the others go on without it.
constexpr Time long_pause = std::chrono::seconds(1);

bool strikes_ways(FaultKind kind) {
    return kind == FaultKind::cut || kind == FaultKind::dark || kind == FaultKind::silence;
}

}  // namespace

Faults::Faults(const Scenario& scenario, SimCluster& cluster, Coverage& coverage,
               BeginAnew begin_anew)
    : scenario_(scenario),
      cluster_(cluster),
      world_(cluster.world()),
      random_(cluster.random()),
      network_(cluster.network()),
      coverage_(coverage),
      begin_anew_(std::move(begin_anew)),
      deferred_(scenario.peers.size()) {}

// ---- what lasts

void Faults::set_links() {
    for (PeerIndex from = 0; from < cluster_.size(); ++from) {
        for (PeerIndex to = 0; to < cluster_.size(); ++to) {
            LinkQuality& quality = network_.quality(from, to);
            const bool wide = scenario_.narrow_into && *scenario_.narrow_into != to;
            quality.bytes_per_second = wide ? 1e6 : scenario_.bytes_per_second;
            quality.delay = scenario_.delay;
            quality.reorder = scenario_.reorder;
            quality.loss = scenario_.amount(FaultKind::loss, 0);
            quality.flipped_bit = scenario_.amount(FaultKind::flip, 0);
            quality.not_finite = scenario_.amount(FaultKind::infinite, 0);
            quality.damaged_header = scenario_.amount(FaultKind::header, 0);
            for (const Fault& fault : scenario_.faults) {
                const bool hit = (fault.side & peer_bit(from)) && (fault.others & peer_bit(to));
                if (fault.kind == FaultKind::slow && hit) {
                    quality.bytes_per_second = fault.amount * 1e6 / 8;
                }
            }
        }
    }
}

void Faults::change_rates() {
    const auto peer = static_cast<PeerIndex>(random_.below(cluster_.size()));
    const auto other = static_cast<PeerIndex>(random_.below(cluster_.size()));
    network_.quality(peer, other).bytes_per_second = random_.real(5e3, 1e6);
    if (!someone_stopped_) world_.after(random_.time(ms(5), ms(40)), [this] { change_rates(); });
}

void Faults::begin() {
    set_links();
    if (scenario_.row_time() > from_seconds(scenario_.linger_s)) {
        coverage_.saw(Event::narrow_links);
    }
    for (const Fault& fault : scenario_.faults) {
        if (fault.kind == FaultKind::hurry) coverage_.saw(Event::hurried_end);
        if (fault.kind == FaultKind::rates) change_rates();
        if (is_lasting(fault.kind) || fault.kind == FaultKind::late) continue;
        if (fault.trigger == Trigger::begin) plan(fault, std::nullopt);
    }
}

// ---- when

void Faults::plan(const Fault& fault, std::optional<PeerIndex> who) {
    // Before anybody else can know of what has happened.
    if (fault.trigger != Trigger::begin && fault.at == Time{0}) return strike(fault, who);
    world_.after(fault.at, [this, fault, who] { strike(fault, who); });
}

void Faults::pulled(Trigger trigger, SimPeer& who) {
    const PeerSet bit = PeerSet{1} << static_cast<unsigned>(trigger);
    if (std::exchange(pulled_, pulled_ | bit) & bit) return;
    if (trigger == Trigger::stop) someone_stopped_ = true;
    for (const Fault& fault : scenario_.faults) {
        if (fault.trigger == trigger && !is_lasting(fault.kind)) plan(fault, who.settings.self);
    }
}

void Faults::started(SimPeer& peer) {
    const PeerIndex self = peer.settings.self;
    if (is_first(peer) && scenario_.starts_at(self) != scenario_.peers[self].starts_at) {
        std::optional<Phase> furthest;
        for (const auto& other : cluster_.processes()) {
            if (other.get() == &peer) continue;
            const auto phase = phase_of(static_cast<const AkoPeer&>(*other));
            if (phase) furthest = std::max(furthest.value_or(*phase), *phase);
        }
        if (furthest) coverage_.struck(FaultKind::late, *furthest);
    }
    for (const Fault& fault : std::exchange(deferred_[self], {})) strike(fault, self);
}

bool Faults::is_first(const SimPeer& peer) const {
    return std::none_of(cluster_.processes().begin(), cluster_.processes().end(),
                        [&](const std::unique_ptr<SimPeer>& other) {
                            return other.get() != &peer && other->begun &&
                                   other->settings.self == peer.settings.self;
                        });
}

void Faults::entered(const SimPeer& peer, Phase phase) {
    if (peer.clock.rate() != 1) coverage_.struck(FaultKind::drift, phase);
}

// ---- what

Strike& Faults::note(const Fault& fault, const SimPeer& peer) {
    const auto phase = phase_of(static_cast<const AkoPeer&>(peer));
    if (phase) coverage_.struck(fault.kind, *phase);
    const Time now = world_.now();
    struck_.push_back({fault.kind, peer.settings.self, now, now + fault.lasts, 0});
    return struck_.back();
}

void Faults::strike(const Fault& fault, std::optional<PeerIndex> who) {
    if (fault.kind == FaultKind::stop || fault.kind == FaultKind::target) {
        return wish_to_stop(fault);
    }
    const std::optional<PeerIndex> peer = fault.peer ? fault.peer : who;
    if (!peer && fault.side == 0) return;  // a text may forget to say whom
    if (strikes_ways(fault.kind)) {
        strike_ways(fault, fault.side != 0 ? fault.side : peer_bit(*peer));
    } else {
        strike_peer(fault, *peer);
    }
}

void Faults::strike_ways(const Fault& fault, PeerSet side) {
    const Time until = world_.now() + fault.lasts;
    const PeerSet others = fault.others != 0 ? fault.others : ~side;
    for (PeerIndex a = 0; a < cluster_.size(); ++a) {
        const bool concerned = ((side | others) & peer_bit(a)) && !cluster_[a].over();
        if (concerned && (fault.others == 0 || (side & peer_bit(a)))) {
            note(fault, cluster_[a]).side = side;
        }
        for (PeerIndex b = 0; b < cluster_.size(); ++b) {
            if (!(side & peer_bit(a)) || !(others & peer_bit(b)) || a == b) continue;
            if (fault.kind == FaultKind::cut) network_.cut(a, b, until);
            if (fault.kind != FaultKind::cut) network_.silence(a, b, until);
            if (fault.kind == FaultKind::dark) network_.silence(b, a, until);
        }
    }
}

void Faults::strike_peer(const Fault& fault, PeerIndex index) {
    SimPeer& peer = cluster_[index];
    if (!peer.begun) return deferred_[index].push_back(fault);
    switch (fault.kind) {
        case FaultKind::kill:
        case FaultKind::vanish:
            if (!peer.over()) note(fault, peer);
            return cluster_.kill(peer, fault.kind == FaultKind::vanish);
        case FaultKind::restart:
        case FaultKind::reboot:
            return begin_again(fault, peer);
        case FaultKind::second:
            if (peer.over()) return;
            note(fault, peer);
            return begin_anew_(index, true);
        case FaultKind::hang:
            if (peer.over()) return;
            hangs_until_[&peer] = note(fault, peer).until;
            return;
        case FaultKind::explode:
            if (peer.over()) return;
            note(fault, peer);
            explosions_[&peer] = fault.amount;
            return;
        case FaultKind::drift:
            return peer.clock.drift(fault.amount);
        case FaultKind::leave:
            return ask_to_leave(fault, static_cast<AkoPeer&>(peer));
        default:
            return stand_still(fault, peer);
    }
}

void Faults::ask_to_leave(const Fault& fault, AkoPeer& peer) {
    if (peer.over()) return;
    note(fault, peer);
    asked_ |= peer_bit(peer.settings.self);  // where nobody stays, all stop for it
    peer.half.request_leave();
}

void Faults::stand_still(const Fault& fault, SimPeer& peer) {
    if (peer.over()) return;
    note(fault, peer);
    if (fault.kind == FaultKind::suspend) peer.clock.stand_still(fault.lasts);
    network_.pause(*peer.transport.end(), world_.now() + fault.lasts);
}

void Faults::begin_again(const Fault& fault, SimPeer& peer) {
    if (peer.over() && peer.state != SimPeer::State::dead) return;  // nobody misses it
    note(fault, peer);
    cluster_.kill(peer, fault.kind == FaultKind::reboot);
    cluster_.one_more();
    world_.after(fault.lasts, [this, &peer] {
        cluster_.one_less();
        if (!cluster_.is_newest(peer)) return;  // another has begun meanwhile
        begin_anew_(peer.settings.self, false);
    });
}

Time Faults::hang(const SimPeer& peer) const {
    const auto found = hangs_until_.find(&peer);
    if (found == hangs_until_.end()) return Time{0};
    return std::max(found->second - world_.now(), Time{0});
}

double Faults::explosion(const SimPeer& peer) const {
    const auto found = explosions_.find(&peer);
    return found == explosions_.end() ? 1 : found->second;
}

// ---- wishes

void Faults::wish_to_stop(const Fault& wish) {
    bool waits = false;
    for (PeerIndex k = 0; k < cluster_.size(); ++k) {
        const auto peer = static_cast<PeerIndex>((*wish.peer + k) % cluster_.size());
        SimPeer& p = cluster_[peer];
        const Time soon = world_.now() + long_pause;
        if (p.state != SimPeer::State::training || !p.begun ||
            struck(FaultKind::pause, peer, soon, soon)) {
            continue;
        }
        if (network_.postpone(*p.transport.end(), [this, wish] { wish_to_stop(wish); })) return;
        // Asked before its first round, it gives up alone, and the others go on.
        if (!p.exchange.standing().round) {
            waits = true;
            continue;
        }
        const bool reached = wish.kind == FaultKind::target;
        coverage_.saw(reached ? Event::target_reached : Event::requested_stop);
        if (reached) p.exchange.announce({p.exchange.standing().progress, 0.99f, 0.01f});
        p.exchange.request_stop(reached ? StopReason::target_reached : StopReason::requested);
        asked_ |= peer_bit(peer);
        return insist(wish, peer);
    }
    if (waits) world_.after(ms(20), [this, wish] { wish_to_stop(wish); });
}

// Whoever hears of it from nobody, because who was asked has gone, is asked as well.
void Faults::insist(const Fault& wish, PeerIndex peer) {
    world_.after(ms(500), [this, wish, &p = cluster_[peer], peer] {
        if (p.over()) return wish_to_stop(wish);
        insist(wish, peer);
    });
}

// ---- what was

bool Faults::struck(FaultKind kind, PeerIndex peer, Time from, Time until) const {
    return std::any_of(struck_.begin(), struck_.end(), [&](const Strike& strike) {
        return strike.kind == kind && strike.peer == peer && strike.from <= until &&
               strike.until >= from;
    });
}

Time Faults::quiet_since() const {
    Time last{0};
    for (const Strike& strike : struck_) last = std::max(last, strike.until);
    return last;
}

}  // namespace ako::sim
