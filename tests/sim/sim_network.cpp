// See sim_network.h.
#include "tests/sim/sim_network.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "src/numbers/checksum.h"
#include "tests/sim/violation.h"

namespace ako::sim {

void SimTransport::start(FrameSource& source, FrameSink& sink) {
    network_.attach(self_, source, sink, clock_, process_id_);
}
std::vector<LinkCounters> SimTransport::counters() const {
    std::vector<LinkCounters> counters(network_.peer_count());
    for (PeerIndex peer = 0; peer < counters.size(); ++peer) {
        if (peer == self_ || !network_.refuses(peer, self_)) continue;
        counters[peer].last_error = "nobody listens: connection refused";
    }
    return counters;
}
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

void SimNetwork::attach(PeerIndex peer, FrameSource& source, FrameSink& sink, const Clock& clock,
                        std::uint64_t process_id) {
    second_life_ |= ends_[peer].source != nullptr;
    if (process_id == 0) process_id = peer + 1;
    ends_[peer] = {&source, &sink, &clock, process_id, true, false, false, false, Time{0}, {}};
    for (PeerIndex other = 0; other < ends_.size(); ++other) {
        if (other != peer && ends_[other].alive) {
            world_.after(random_.time(ms(1), ms(10)), [=, this] { connect(peer, other); });
        }
    }
}

void SimNetwork::connect(PeerIndex a, PeerIndex b) {
    if (!ends_[a].alive || !ends_[b].alive || pair(a, b).up) return;
    if (world_.now() < pair(a, b).cut_until || !runs(a) || !runs(b) || silenced(a, b) ||
        silenced(b, a)) {
        world_.after(random_.time(ms(10), ms(30)), [=, this] { connect(a, b); });
        return;
    }
    if (!admitted(a, b)) {
        count(Event::second_refused);
        world_.after(random_.time(ms(20), ms(60)), [=, this] { connect(a, b); });
        return;
    }
    pair(a, b).up = true;
    pair(a, b).up_at = world_.now();
    pair(a, b).refused = false;
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
        Link& direction = link(from, to);
        direction.heard_at = world_.now();
        if (std::exchange(direction.ever_up, true)) count(Event::session_again);
        direction.told_lost = false;
        direction.said_bye = false;
        if (ends_[from].process_id != from + 1) count(Event::second_admitted);
        ends_[to].sink->session_up(from, hello_of(from));
    }
    pump(a, b);
    pump(b, a);
}

Hello SimNetwork::hello_of(PeerIndex peer) const {
    Hello hello;
    hello.process_id = ends_[peer].process_id;
    return hello;
}

bool SimNetwork::admitted(PeerIndex a, PeerIndex b) {
    return !ends_[a].sink->admit(b, hello_of(b)) && !ends_[b].sink->admit(a, hello_of(a));
}

bool SimNetwork::refused_by_right(PeerIndex from, PeerIndex to, const std::string& complaint) {
    const auto of = [&](const char* words) { return complaint.find(words) != std::string::npos; };
    const bool of_life = second_life_ && of("another process");
    const bool of_damage = link(from, to).flipped && of("did not match its checksum");
    if (!of_life && !of_damage) return false;
    count(of_life ? Event::second_parted : Event::damage_parted);
    pair(from, to).refused = true;
    world_.after(Time{0}, [=, this, epoch = pair(from, to).epoch] {
        if (pair(from, to).epoch == epoch) end_session(from, to, complaint);
    });
    return true;
}

void SimNetwork::end_session(PeerIndex a, PeerIndex b, const std::string& why) {
    if (!pair(a, b).up) return;
    pair(a, b).up = false;
    ++pair(a, b).epoch;
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
        Link& direction = link(from, to);
        direction.sending.reset();
        direction.stalled.clear();
        direction.silenced.clear();
        direction.last_arrival = world_.now();
        if (!postpone(to, [=, this, at = to, peer = from] { tell_down(at, peer, why); })) {
            tell_down(to, from, why);
        }
    }
    world_.after(random_.time(ms(5), ms(30)), [=, this] { connect(a, b); });
}

void SimNetwork::tell_down(PeerIndex at, PeerIndex peer, const std::string& why) {
    if (!lives(at)) return;
    ends_[at].sink->session_down(peer, why, world_.now() - link(peer, at).heard_at);
    world_.at(link(peer, at).heard_at + life_timeout_, [=, this, process = ends_[at].process_id] {
        if (ends_[at].process_id == process) check_lost(at, peer);
    });
}

void SimNetwork::check_life(PeerIndex at) {
    for (PeerIndex peer = 0; peer < ends_.size(); ++peer) {
        if (peer == at || !pair(at, peer).up) continue;
        Link& direction = link(peer, at);
        if (direction.sending && lives(peer) && !ends_[peer].paused && !silenced(peer, at)) {
            direction.heard_at = world_.now();  // bytes of a long frame come all the time
        }
        if (!direction.stalled.empty()) direction.heard_at = world_.now();  // not read by choice
        if (world_.now() < direction.heard_at + life_timeout_) continue;
        count(Event::silence_noticed);
        end_session(at, peer, "no byte for the life time-out");
    }
}

void SimNetwork::check_lost(PeerIndex at, PeerIndex peer) {
    Link& direction = link(peer, at);
    if (!lives(at) || pair(at, peer).up || direction.said_bye || direction.told_lost) return;
    if (postpone(at, [=, this] { check_lost(at, peer); })) return;
    const Time lost_at = direction.heard_at + life_timeout_;
    if (world_.now() < lost_at) {  // it stood still, and that time does not count
        return world_.at(lost_at, [=, this] { check_lost(at, peer); });
    }
    direction.told_lost = true;
    ends_[at].sink->peer_lost(peer, "no byte for the life time-out");
}

void SimNetwork::cut(PeerIndex a, PeerIndex b, Time until) {
    pair(a, b).cut_until = std::max(pair(a, b).cut_until, until);
    end_session(a, b, "cut off");
}

void SimNetwork::silence(PeerIndex from, PeerIndex to, Time until) {
    Link& direction = link(from, to);
    direction.silent_until = std::max(direction.silent_until, until);
    world_.at(direction.silent_until, [=, this] { end_silence(from, to); });
}

void SimNetwork::end_silence(PeerIndex from, PeerIndex to) {
    if (silenced(from, to)) return;
    for (Delivery& delivery : std::exchange(link(from, to).silenced, {})) {
        deliver(from, to, pair(from, to).epoch, std::move(delivery));
    }
    pump(from, to);
}

void SimNetwork::pause(PeerIndex peer, Time until) {
    if (!runs(peer)) return;
    ends_[peer].paused = true;
    ends_[peer].paused_at = world_.now();
    world_.at(until, [=, this] { resume_process(peer); });
}

void SimNetwork::resume_process(PeerIndex peer) {
    End& end = ends_[peer];
    end.paused = false;
    for (PeerIndex other = 0; other < ends_.size(); ++other) {
        if (other == peer) continue;
        // Nobody can be heard while one does not listen.
        Link& direction = link(other, peer);
        const Time stood = world_.now() - std::max(end.paused_at, direction.heard_at);
        direction.heard_at += std::max(stood, Time{0});
    }
    for (const auto& what : std::exchange(end.postponed, {})) what();
    for (PeerIndex other = 0; other < ends_.size(); ++other) {
        if (other == peer) continue;
        resume(peer, other);
        pump(peer, other);
    }
}

bool SimNetwork::postpone(PeerIndex peer, std::function<void()> what) {
    if (!ends_[peer].paused || !lives(peer)) return false;
    ends_[peer].postponed.push_back(std::move(what));
    return true;
}

void SimNetwork::kill(PeerIndex peer, bool silent) {
    if (!ends_[peer].alive) return;
    ends_[peer].silent = true;
    ends_[peer].vanished = silent;
    ends_[peer].postponed.clear();
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

bool SimNetwork::refuses(PeerIndex peer, PeerIndex dialler) const {
    const End& end = ends_[peer];
    return !end.alive && !end.vanished && world_.now() >= pair(peer, dialler).cut_until &&
           !silenced(peer, dialler) && !silenced(dialler, peer);
}

void SimNetwork::pump(PeerIndex from, PeerIndex to) {
    Link& direction = link(from, to);
    if (!runs(from) || !pair(from, to).up || direction.sending) return;
    if (!direction.stalled.empty() || !direction.silenced.empty()) return;  // as TCP's window does
    direction.sending = ends_[from].source->next(to, payload_max_);
    if (!direction.sending) return;
    direction.aside.clear();
    const auto bytes = static_cast<double>(direction.sending->payload.size() + header_bytes_);
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
    if (postpone(from, [=, this] { sent(from, to, epoch); })) return;
    Link& direction = link(from, to);
    Delivery delivery{std::move(direction.sending->header),
                      {direction.sending->payload.begin(), direction.sending->payload.end()}};
    // Whoever lets go of the buffer may ask for more at once, so the slot is free before that.
    BufferRef released = std::move(direction.sending->keeps_alive);
    direction.sending.reset();
    if (random_.chance(direction.quality.loss)) return lose(from, to, delivery);
    check_intact(from, delivery);
    harm(direction, delivery);
    Time arrival = world_.now() + direction.quality.delay;
    if (std::holds_alternative<Partial>(delivery.header) &&
        random_.chance(direction.quality.reorder)) {
        count(Event::reordering);
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

void SimNetwork::lose(PeerIndex from, PeerIndex to, const Delivery& delivery) {
    count(Event::loss);
    // Half of them in the middle: the receiver had made room already.
    FrameSink& sink = *ends_[to].sink;
    if (random_.chance(0.5) && runs(to) && !silenced(from, to) && link(from, to).stalled.empty() &&
        !sink.refuse(from, delivery.header, delivery.payload.size())) {
        if (auto room = sink.reserve(from, delivery.header, delivery.payload.size())) {
            count(Event::abandoned_frame);
            sink.abandoned(from, *room);
        }
    }
    end_session(from, to, "a frame was lost");
}

void SimNetwork::check_intact(PeerIndex from, const Delivery& delivery) const {
    const auto* partial = std::get_if<Partial>(&delivery.header);
    if (partial == nullptr || block_bytes_ == 0) return;
    std::span<const std::byte> rest(delivery.payload);
    for (const std::uint32_t checksum : partial->checksums) {
        const auto block = rest.first(std::min(block_bytes_, rest.size()));
        if (crc32c(block) != checksum) {
            throw Violation("I1: a block of peer " + std::to_string(partial->origin.place()) +
                            " left peer " + std::to_string(from) + " damaged");
        }
        rest = rest.subspan(block.size());
    }
}

void SimNetwork::harm(Link& direction, Delivery& delivery) {
    const LinkQuality& quality = direction.quality;
    auto* partial = std::get_if<Partial>(&delivery.header);
    if (partial == nullptr) return;
    if (random_.chance(quality.flipped_bit)) {
        count(Event::flipped_bit);
        direction.flipped = true;
        delivery.payload[random_.below(delivery.payload.size())] ^= std::byte{1}
                                                                    << random_.below(8);
    } else if (partial->checksums.size() == 1 && random_.chance(quality.not_finite)) {
        count(Event::not_finite_block);
        const float infinite = std::numeric_limits<float>::infinity();
        std::memcpy(delivery.payload.data(), &infinite, sizeof(infinite));
        partial->checksums[0] = crc32c(std::span<const std::byte>(delivery.payload));
    }
}

void SimNetwork::deliver(PeerIndex from, PeerIndex to, std::uint64_t epoch, Delivery delivery) {
    if (pair(from, to).epoch != epoch || !lives(to)) return;
    Link& direction = link(from, to);
    if (silenced(from, to)) return direction.silenced.push_back(std::move(delivery));
    direction.heard_at = world_.now();
    if (random_.chance(direction.quality.damaged_header)) {
        count(Event::damaged_header);
        return end_session(from, to, "a header came damaged");
    }
    if (ends_[to].paused || !direction.stalled.empty() || !hand_over(from, to, delivery)) {
        if (!ends_[to].paused) count(Event::stalled_link);
        direction.stalled.push_back(std::move(delivery));
    }
}

bool SimNetwork::hand_over(PeerIndex from, PeerIndex to, Delivery& delivery) {
    if (pair(from, to).refused) return true;
    FrameSink& sink = *ends_[to].sink;
    if (auto complaint = sink.refuse(from, delivery.header, delivery.payload.size())) {
        if (!refused_by_right(from, to, *complaint)) refusals_.push_back(*complaint);
        return true;
    }
    const auto destination = sink.reserve(from, delivery.header, delivery.payload.size());
    if (!destination) return false;
    if (!delivery.payload.empty()) {
        std::memcpy(destination->memory.data(), delivery.payload.data(), delivery.payload.size());
    }
    if (std::holds_alternative<Bye>(delivery.header)) link(from, to).said_bye = true;
    if (watcher_) watcher_(from, to, delivery.header);
    ++frames_delivered_;
    link(from, to).bytes_delivered += delivery.payload.size();
    sink.arrived(from, std::move(delivery.header), *destination, ends_[to].clock->now());
    return true;
}

void SimNetwork::resume(PeerIndex at, PeerIndex from) {
    Link& direction = link(from, at);
    while (runs(at) && !direction.stalled.empty() &&
           hand_over(from, at, direction.stalled.front())) {
        direction.stalled.pop_front();
    }
    pump(from, at);
}

void SimNetwork::poll(PeerIndex peer) {
    if (!runs(peer)) return;
    check_life(peer);
    ends_[peer].sink->poll(ends_[peer].clock->now());
}

}  // namespace ako::sim
