// See sim_network.h.
#include "tests/sim/sim_network.h"

#include <cstring>

namespace ako::sim {
namespace {

constexpr std::size_t header_bytes = 64;  // about what a Partial's header takes on the wire

}  // namespace

void SimTransport::start(FrameSource&, FrameSink&) {}
void SimTransport::notify() { network_.poll(self_); }
void SimTransport::wake(PeerIndex peer) { network_.pump(self_, peer); }
void SimTransport::resume(PeerIndex peer) { network_.resume(self_, peer); }
void SimTransport::copy_aside(PeerIndex peer) { network_.copy_aside(self_, peer); }

SimNetwork::SimNetwork(World& world, Random& random, std::size_t peer_count, Time life_timeout)
    : world_(world),
      random_(random),
      life_timeout_(life_timeout),
      ends_(peer_count),
      links_(peer_count * peer_count),
      pairs_(peer_count * peer_count) {}

void SimNetwork::attach(PeerIndex peer, FrameSource& source, FrameSink& sink, const Clock& clock) {
    ends_[peer] = {&source, &sink, &clock, true, false};
    for (PeerIndex other = 0; other < ends_.size(); ++other) {
        if (other != peer && ends_[other].alive) {
            world_.after(random_.time(ms(1), ms(10)), [=, this] { connect(peer, other); });
        }
    }
}

void SimNetwork::connect(PeerIndex a, PeerIndex b) {
    if (!ends_[a].alive || !ends_[b].alive || pair(a, b).up) return;
    if (world_.now() < pair(a, b).cut_until || !reads(a) || !reads(b)) {
        world_.after(random_.time(ms(10), ms(30)), [=, this] { connect(a, b); });
        return;
    }
    pair(a, b).up = true;
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
        Link& direction = link(from, to);
        direction.heard_at = world_.now();
        direction.ever_up = true;
        direction.told_lost = false;
        direction.said_bye = false;
        Hello hello;
        hello.process_id = from + 1;
        ends_[to].sink->session_up(from, hello);
    }
    pump(a, b);
    pump(b, a);
}

void SimNetwork::end_session(PeerIndex a, PeerIndex b, const std::string& why) {
    if (!pair(a, b).up) return;
    pair(a, b).up = false;
    ++pair(a, b).epoch;
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
        Link& direction = link(from, to);
        direction.sending.reset();
        direction.stalled.clear();
        direction.last_arrival = world_.now();
        if (!reads(to)) continue;
        ends_[to].sink->session_down(from, why);
        world_.at(direction.heard_at + life_timeout_,
                  [this, at = to, peer = from] { check_lost(at, peer); });
    }
    world_.after(random_.time(ms(5), ms(30)), [=, this] { connect(a, b); });
}

void SimNetwork::check_lost(PeerIndex at, PeerIndex peer) {
    Link& direction = link(peer, at);
    if (!reads(at) || pair(at, peer).up || direction.said_bye || direction.told_lost) return;
    if (world_.now() < direction.heard_at + life_timeout_) return;
    direction.told_lost = true;
    ends_[at].sink->peer_lost(peer, "no byte for the life time-out");
}

void SimNetwork::cut(PeerIndex a, PeerIndex b, Time until) {
    pair(a, b).cut_until = std::max(pair(a, b).cut_until, until);
    end_session(a, b, "cut off");
}

void SimNetwork::kill(PeerIndex peer, bool silent) {
    if (!ends_[peer].alive) return;
    ends_[peer].silent = true;
    const auto reset = [this, peer] {
        for (PeerIndex other = 0; other < ends_.size(); ++other) {
            if (other != peer) end_session(peer, other, "reset");
        }
        ends_[peer].alive = false;
    };
    if (silent) {
        world_.after(life_timeout_, reset);
    } else {
        reset();
    }
}

void SimNetwork::pump(PeerIndex from, PeerIndex to) {
    Link& direction = link(from, to);
    if (!reads(from) || !pair(from, to).up || direction.sending) return;
    if (!direction.stalled.empty()) return;  // as TCP's window does
    direction.sending = ends_[from].source->next(to, payload_max_);
    if (!direction.sending) return;
    direction.aside.clear();
    const auto bytes = static_cast<double>(direction.sending->payload.size() + header_bytes);
    const Time takes(static_cast<std::int64_t>(bytes / direction.quality.bytes_per_second * 1e9));
    world_.after(takes, [=, this, epoch = pair(from, to).epoch] { sent(from, to, epoch); });
}

void SimNetwork::copy_aside(PeerIndex from, PeerIndex to) {
    Link& direction = link(from, to);
    if (!direction.sending) return;
    direction.aside.assign(direction.sending->payload.begin(), direction.sending->payload.end());
    direction.sending->payload = direction.aside;
    direction.sending->keeps_alive.reset();
}

void SimNetwork::sent(PeerIndex from, PeerIndex to, std::uint64_t epoch) {
    if (pair(from, to).epoch != epoch) return;
    Link& direction = link(from, to);
    Delivery delivery{std::move(direction.sending->header),
                      {direction.sending->payload.begin(), direction.sending->payload.end()}};
    // Whoever lets go of the buffer may ask for more at once, so the slot is free before that.
    BufferRef released = std::move(direction.sending->keeps_alive);
    direction.sending.reset();
    if (random_.chance(direction.quality.loss)) {
        return end_session(from, to, "a frame was lost");
    }
    Time arrival = world_.now() + direction.quality.delay;
    if (std::holds_alternative<Partial>(delivery.header) &&
        random_.chance(direction.quality.reorder)) {
        if (random_.chance(0.5)) {
            world_.at(arrival, [=, this]() mutable { deliver(from, to, epoch, delivery); });
        }
        arrival += random_.time(ms(0), 4 * direction.quality.delay + ms(20));
    } else {
        arrival = std::max(arrival, direction.last_arrival);
        direction.last_arrival = arrival;
    }
    world_.at(arrival, [=, this, delivery = std::move(delivery)]() mutable {
        deliver(from, to, epoch, std::move(delivery));
    });
    released.reset();
    pump(from, to);
}

void SimNetwork::deliver(PeerIndex from, PeerIndex to, std::uint64_t epoch, Delivery delivery) {
    if (pair(from, to).epoch != epoch || !reads(to)) return;
    Link& direction = link(from, to);
    direction.heard_at = world_.now();
    if (!direction.stalled.empty() || !hand_over(from, to, delivery)) {
        direction.stalled.push_back(std::move(delivery));
    }
}

bool SimNetwork::hand_over(PeerIndex from, PeerIndex to, Delivery& delivery) {
    FrameSink& sink = *ends_[to].sink;
    if (auto complaint = sink.refuse(from, delivery.header, delivery.payload.size())) {
        refusals_.push_back(*complaint);
        return true;
    }
    const auto destination = sink.reserve(from, delivery.header, delivery.payload.size());
    if (!destination) return false;
    if (!delivery.payload.empty()) {
        std::memcpy(destination->memory.data(), delivery.payload.data(), delivery.payload.size());
    }
    if (std::holds_alternative<Bye>(delivery.header)) link(from, to).said_bye = true;
    ++frames_delivered_;
    link(from, to).bytes_delivered += delivery.payload.size();
    sink.arrived(from, std::move(delivery.header), *destination, ends_[to].clock->now());
    return true;
}

void SimNetwork::resume(PeerIndex at, PeerIndex from) {
    Link& direction = link(from, at);
    while (!direction.stalled.empty() && hand_over(from, at, direction.stalled.front())) {
        direction.stalled.pop_front();
    }
    pump(from, at);
}

void SimNetwork::poll(PeerIndex peer) {
    if (reads(peer)) ends_[peer].sink->poll(ends_[peer].clock->now());
}

}  // namespace ako::sim
