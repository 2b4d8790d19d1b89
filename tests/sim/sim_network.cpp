// See sim_network.h.
#include "tests/sim/sim_network.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "ako/payload.h"
#include "src/numbers/checksum.h"
#include "src/rows/coded_blocks.h"
#include "tests/sim/violation.h"

namespace ako::sim {

void SimTransport::start(TransportHost& host) {
    end_ = network_.attach(self_, {&host, &clock_, process_id_, elsewhere_});
}
std::vector<LinkCounters> SimTransport::counters() const {
    std::vector<LinkCounters> counters(network_.peer_count());
    for (PeerIndex peer = 0; peer < counters.size(); ++peer) {
        if (peer == self_) continue;
        counters[peer].up = network_.partner(*end_, peer).has_value();
        if (!counters[peer].up && network_.refuses(peer, *end_))
            counters[peer].last_error = "nobody listens: connection refused";
    }
    return counters;
}
void SimTransport::notify() { network_.poll(*end_); }
void SimTransport::wake(PeerIndex peer) {
    if (const auto other = network_.partner(*end_, peer)) network_.pump(*end_, *other);
}
void SimTransport::resume(PeerIndex peer) {
    if (const auto other = network_.partner(*end_, peer)) network_.resume(*end_, *other);
}
void SimTransport::copy_aside(PeerIndex peer) {
    if (const auto other = network_.partner(*end_, peer)) network_.copy_aside(*end_, *other);
}

SimNetwork::SimNetwork(World& world, Random& random, std::size_t peer_count, Time life_timeout)
    : world_(world),
      random_(random),
      peer_count_(peer_count),
      life_timeout_(life_timeout),
      qualities_(peer_count * peer_count),
      flipped_(peer_count * peer_count, false),
      bytes_delivered_(peer_count * peer_count, 0),
      newest_(peer_count),
      vanished_(peer_count, false) {
    for (Place place = 0; place < peer_count; ++place) places_.push_back(place);
}

// ---- processes

EndIndex SimNetwork::attach(PeerIndex name, Process process) {
    const EndIndex end = ends_.size();
    if (process.id == 0) process.id = name + 1;
    ends_.push_back(End{process, name, name, true, false, false, Time{0}, {}});
    if (process.elsewhere) {
        ends_[end].place = vanished_.size();
        vanished_.push_back(false);
    }
    vanished_[ends_[end].place] = false;
    places_[name] = ends_[end].place;
    newest_[name] = end;
    for (std::deque<Link>& links : links_) links.emplace_back();
    links_.emplace_back(end + 1);
    pairs_.emplace_back(end + 1);
    for (EndIndex other = 0; other < end; ++other) {
        if (!ends_[other].alive || !strangers(end, other)) continue;
        world_.after(random_.time(ms(1), ms(10)), [=, this] { connect(end, other); });
    }
    return end;
}

std::optional<EndIndex> SimNetwork::partner(EndIndex end, PeerIndex name) const {
    for (EndIndex other = ends_.size(); other-- > 0;) {
        if (name_of(other) == name && other != end && pair(end, other).up) return other;
    }
    return std::nullopt;
}

bool SimNetwork::cut_off(Place a, Place b) const {
    const auto found = cut_until_.find(std::minmax(a, b));
    return found != cut_until_.end() && world_.now() < found->second;
}

bool SimNetwork::silenced(Place from, Place to) const {
    const auto found = silent_until_.find({from, to});
    return found != silent_until_.end() && world_.now() < found->second;
}

bool SimNetwork::whole(PeerIndex a, PeerIndex b) const {
    const Place one = places_[a];
    const Place other = places_[b];
    return !cut_off(one, other) && !silenced(one, other) && !silenced(other, one);
}

void SimNetwork::connect(EndIndex a, EndIndex b) {
    if (!ends_[a].alive || !ends_[b].alive || pair(a, b).up) return;
    const bool reached =
        !cut_off(ends_[a].place, ends_[b].place) && !silenced_ends(a, b) && !silenced_ends(b, a);
    if (!reached || !runs(a) || !runs(b)) {
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
        ends_[to].host->session_up(name_of(from), hello_of(from));
    }
    pump(a, b);
    pump(b, a);
}

Hello SimNetwork::hello_of(EndIndex end) const {
    Hello hello;
    hello.process_id = ends_[end].id;
    return hello;
}

// As TransportCore::judge: the process that is here stays.
bool SimNetwork::admitted(EndIndex a, EndIndex b) {
    if (partner(a, name_of(b)) || partner(b, name_of(a))) return false;
    return !ends_[a].host->admit(name_of(b), hello_of(b)) &&
           !ends_[b].host->admit(name_of(a), hello_of(a));
}

bool SimNetwork::refused_by_right(EndIndex from, EndIndex to, const std::string& complaint) {
    const bool of_damage = complaint.find("did not match its checksum") != std::string::npos;
    if (!flipped_[name_of(from) * peer_count_ + name_of(to)] || !of_damage) return false;
    count(Event::damage_parted);
    pair(from, to).refused = true;
    world_.after(Time{0}, [=, this, epoch = pair(from, to).epoch] {
        if (pair(from, to).epoch == epoch) end_session(from, to, complaint);
    });
    return true;
}

void SimNetwork::end_session(EndIndex a, EndIndex b, const std::string& why) {
    if (!pair(a, b).up) return;
    pair(a, b).up = false;
    ++pair(a, b).epoch;
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
        Link& direction = link(from, to);
        direction.sending.reset();
        direction.stalled.clear();
        direction.silenced.clear();
        direction.last_arrival = world_.now();
        if (!postpone(to, [=, this, at = to, other = from] { tell_down(at, other, why); })) {
            tell_down(to, from, why);
        }
    }
    world_.after(random_.time(ms(5), ms(30)), [=, this] { connect(a, b); });
}

void SimNetwork::tell_down(EndIndex at, EndIndex other, const std::string& why) {
    if (!lives(at)) return;
    const Time heard_at = link(other, at).heard_at;
    ends_[at].host->session_down(name_of(other), why, world_.now() - heard_at);
    world_.at(heard_at + life_timeout_, [=, this] { check_lost(at, other); });
}

void SimNetwork::check_life(EndIndex at) {
    for (EndIndex other = 0; other < ends_.size(); ++other) {
        if (!strangers(at, other) || !pair(at, other).up) continue;
        Link& direction = link(other, at);
        if (direction.sending && runs(other) && !silenced_ends(other, at)) {
            direction.heard_at = world_.now();  // bytes of a long frame come all the time
        }
        if (!direction.stalled.empty()) direction.heard_at = world_.now();  // not read by choice
        if (world_.now() < direction.heard_at + life_timeout_) continue;
        count(Event::silence_noticed);
        end_session(at, other, "no byte for the life time-out");
    }
}

void SimNetwork::check_lost(EndIndex at, EndIndex other) {
    Link& direction = link(other, at);
    if (!lives(at) || direction.said_bye || direction.told_lost) return;
    if (partner(at, name_of(other))) return;  // this process, or another of its name
    if (postpone(at, [=, this] { check_lost(at, other); })) return;
    const Time lost_at = direction.heard_at + life_timeout_;
    if (world_.now() < lost_at) {  // it stood still, and that time does not count
        return world_.at(lost_at, [=, this] { check_lost(at, other); });
    }
    direction.told_lost = true;
    ends_[at].host->peer_lost(name_of(other), "no byte for the life time-out");
}

// ---- what breaks

void SimNetwork::cut(PeerIndex a, PeerIndex b, Time until) {
    const Place one = places_[a];
    const Place other = places_[b];
    Time& cut_until = cut_until_[std::minmax(one, other)];
    cut_until = std::max(cut_until, until);
    for (EndIndex first = 0; first < ends_.size(); ++first) {
        for (EndIndex second = 0; second < ends_.size(); ++second) {
            if (ends_[first].place != one || ends_[second].place != other) continue;
            if (strangers(first, second)) end_session(first, second, "cut off");
        }
    }
}

void SimNetwork::silence(PeerIndex from, PeerIndex to, Time until) {
    const Place one = places_[from];
    const Place other = places_[to];
    Time& silent_until = silent_until_[{one, other}];
    silent_until = std::max(silent_until, until);
    world_.at(silent_until, [=, this] {
        if (silenced(one, other)) return;
        for (EndIndex first = 0; first < ends_.size(); ++first) {
            for (EndIndex second = 0; second < ends_.size(); ++second) {
                if (ends_[first].place != one || ends_[second].place != other) continue;
                if (strangers(first, second)) end_silence(first, second);
            }
        }
    });
}

void SimNetwork::end_silence(EndIndex from, EndIndex to) {
    for (Delivery& delivery : std::exchange(link(from, to).silenced, {})) {
        deliver(from, to, pair(from, to).epoch, std::move(delivery));
    }
    pump(from, to);
}

void SimNetwork::pause(EndIndex end, Time until) {
    if (!runs(end)) return;
    ends_[end].paused = true;
    ends_[end].paused_at = world_.now();
    world_.at(until, [=, this] { resume_process(end); });
}

void SimNetwork::resume_process(EndIndex index) {
    End& end = ends_[index];
    end.paused = false;
    for (EndIndex other = 0; other < ends_.size(); ++other) {
        if (!strangers(index, other)) continue;
        // Nobody can be heard while one does not listen.
        Link& direction = link(other, index);
        const Time stood = world_.now() - std::max(end.paused_at, direction.heard_at);
        direction.heard_at += std::max(stood, Time{0});
    }
    for (const auto& what : std::exchange(end.postponed, {})) what();
    for (EndIndex other = 0; other < ends_.size(); ++other) {
        if (!strangers(index, other)) continue;
        resume(index, other);
        pump(index, other);
    }
}

bool SimNetwork::postpone(EndIndex end, std::function<void()> what) {
    if (!ends_[end].paused || !lives(end)) return false;
    ends_[end].postponed.push_back(std::move(what));
    return true;
}

// A reset does not come through a broken way: whom it does not reach misses the process after the
// life time-out, as everybody misses one that vanished with its machine.
void SimNetwork::kill(EndIndex end, bool silent) {
    if (!lives(end)) return;
    ends_[end].silent = true;
    ends_[end].postponed.clear();
    if (silent) vanished_[ends_[end].place] = true;
    const auto reset = [this, end] {
        for (EndIndex other = 0; other < ends_.size(); ++other) {
            if (!strangers(end, other)) continue;
            if (!ends_[other].alive || !silenced_ends(end, other)) {
                end_session(end, other, "reset");
            }
        }
        ends_[end].alive = false;
    };
    if (silent) {
        world_.after(life_timeout_, reset);
    } else {
        reset();
    }
}

bool SimNetwork::refuses(PeerIndex peer, EndIndex dialler) const {
    const Place home = peer;
    const Place from = ends_[dialler].place;
    if (vanished_[home] || cut_off(home, from) || silenced(home, from) || silenced(from, home)) {
        return false;
    }
    return std::none_of(ends_.begin(), ends_.end(),
                        [&](const End& end) { return end.place == home && end.alive; });
}

// ---- frames

void SimNetwork::pump(EndIndex from, EndIndex to) {
    if (!runs(from) || !pair(from, to).up) return;
    Link& direction = link(from, to);
    if (direction.sending) return;
    if (!direction.stalled.empty() || !direction.silenced.empty()) return;  // as TCP's window does
    direction.sending = ends_[from].host->next(name_of(to), payload_max_);
    if (!direction.sending) return;
    direction.aside.clear();
    const auto bytes = static_cast<double>(direction.sending->payload.size() + header_bytes_);
    const Time takes(
        static_cast<std::int64_t>(bytes / quality_of(from, to).bytes_per_second * 1e9));
    world_.after(takes, [=, this, epoch = pair(from, to).epoch] { sent(from, to, epoch); });
}

void SimNetwork::copy_aside(EndIndex from, EndIndex to) {
    Link& direction = link(from, to);
    if (!direction.sending) return;
    direction.aside.assign(direction.sending->payload.begin(), direction.sending->payload.end());
    direction.sending->payload = direction.aside;
    direction.sending->keeps_alive.reset();
}

void SimNetwork::sent(EndIndex from, EndIndex to, std::uint64_t epoch) {
    if (pair(from, to).epoch != epoch || !lives(from)) return;
    if (postpone(from, [=, this] { sent(from, to, epoch); })) return;
    Link& direction = link(from, to);
    const LinkQuality& quality = quality_of(from, to);
    Delivery delivery{std::move(direction.sending->header),
                      {direction.sending->payload.begin(), direction.sending->payload.end()}};
    // What lets go of the buffer may ask for more at once, so the slot is free before that.
    BufferRef released = std::move(direction.sending->keeps_alive);
    direction.sending.reset();
    if (leaves_) leaves_(from, delivery.header);
    if (random_.chance(quality.loss)) return lose(from, to, delivery);
    check_intact(from, delivery);
    harm(from, to, delivery);
    Time arrival = world_.now() + quality.delay;
    if (std::holds_alternative<Partial>(delivery.header) && random_.chance(quality.reorder)) {
        count(Event::reordering);
        if (random_.chance(0.5)) {
            world_.at(arrival, [=, this]() mutable { deliver(from, to, epoch, delivery); });
        }
        arrival += random_.time(ms(0), 4 * quality.delay + ms(20));
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

void SimNetwork::lose(EndIndex from, EndIndex to, const Delivery& delivery) {
    count(Event::loss);
    // Half of them in the middle: the receiver had made room already.
    TransportHost& host = *ends_[to].host;
    if (random_.chance(0.5) && runs(to) && !silenced_ends(from, to) &&
        link(from, to).stalled.empty() &&
        !host.refuse(name_of(from), delivery.header, delivery.payload.size())) {
        if (auto room = host.reserve(name_of(from), delivery.header, delivery.payload.size())) {
            count(Event::abandoned_frame);
            host.abandoned(name_of(from), *room);
        }
    }
    end_session(from, to, "a frame was lost");
}

void SimNetwork::check_intact(EndIndex from, const Delivery& delivery) const {
    const auto* partial = std::get_if<Partial>(&delivery.header);
    if (partial == nullptr || !blocks_ || intact(*partial, delivery.payload)) return;
    throw Violation("I1: a block of peer " + std::to_string(partial->origin.place()) +
                    " left peer " + std::to_string(name_of(from)) + " damaged");
}

bool SimNetwork::intact(const Partial& partial, std::span<const std::byte> payload) const {
    for (BlockIndex k = 0; k < partial.run.count; ++k) {
        std::vector<float> values(blocks_->range(partial.run.first + k).count);
        const std::size_t bytes = payload_bytes_of(values.size());
        if (partial.coded) {
            if (!decode_block(payload, values)) return false;
        } else {
            std::memcpy(values.data(), payload.data(), bytes);
            payload = payload.subspan(bytes);
        }
        if (crc32c(std::span<const float>(values)) != partial.checksums[k]) return false;
    }
    return partial.coded ? at_end_of_blocks(payload) : payload.empty();
}

void SimNetwork::harm(EndIndex from, EndIndex to, Delivery& delivery) {
    const LinkQuality& quality = quality_of(from, to);
    auto* partial = std::get_if<Partial>(&delivery.header);
    if (partial == nullptr) return;
    if (random_.chance(quality.flipped_bit)) {
        delivery.payload[random_.below(delivery.payload.size())] ^= std::byte{1}
                                                                    << random_.below(8);
        if (blocks_ && intact(*partial, delivery.payload)) return;  // the exponent of zeros
        count(Event::flipped_bit);
        flipped_[name_of(from) * peer_count_ + name_of(to)] = true;
    } else if (partial->checksums.size() == 1 && random_.chance(quality.not_finite)) {
        count(Event::not_finite_block);
        const float infinite = std::numeric_limits<float>::infinity();
        if (partial->coded) {
            delivery.payload.assign(payload_bytes_of(blocks_->range(partial->run).count), {});
            partial->coded = false;
        }
        std::memcpy(delivery.payload.data(), &infinite, sizeof(infinite));
        partial->checksums[0] = crc32c(std::span<const std::byte>(delivery.payload));
    }
}

void SimNetwork::deliver(EndIndex from, EndIndex to, std::uint64_t epoch, Delivery delivery) {
    if (pair(from, to).epoch != epoch || !lives(to)) return;
    Link& direction = link(from, to);
    if (silenced_ends(from, to)) return direction.silenced.push_back(std::move(delivery));
    direction.heard_at = world_.now();
    if (random_.chance(quality_of(from, to).damaged_header)) {
        count(Event::damaged_header);
        return end_session(from, to, "a header came damaged");
    }
    if (ends_[to].paused || !direction.stalled.empty() || !hand_over(from, to, delivery)) {
        if (!ends_[to].paused) count(Event::stalled_link);
        direction.stalled.push_back(std::move(delivery));
    }
}

bool SimNetwork::hand_over(EndIndex from, EndIndex to, Delivery& delivery) {
    if (pair(from, to).refused) return true;
    TransportHost& host = *ends_[to].host;
    const PeerIndex peer = name_of(from);
    if (auto complaint = host.refuse(peer, delivery.header, delivery.payload.size())) {
        if (!refused_by_right(from, to, *complaint)) refusals_.push_back(*complaint);
        return true;
    }
    const auto destination = host.reserve(peer, delivery.header, delivery.payload.size());
    if (!destination) return false;
    if (!delivery.payload.empty()) {
        std::memcpy(destination->memory.data(), delivery.payload.data(), delivery.payload.size());
    }
    if (std::holds_alternative<Bye>(delivery.header)) link(from, to).said_bye = true;
    if (arrived_) arrived_(from, to, delivery.header);
    ++frames_delivered_;
    bytes_delivered_[peer * peer_count_ + name_of(to)] += delivery.payload.size();
    host.arrived(peer, std::move(delivery.header), *destination, ends_[to].clock->now());
    return true;
}

void SimNetwork::resume(EndIndex at, EndIndex from) {
    Link& direction = link(from, at);
    while (runs(at) && !direction.stalled.empty() &&
           hand_over(from, at, direction.stalled.front())) {
        direction.stalled.pop_front();
    }
    pump(from, at);
}

void SimNetwork::poll(EndIndex end) {
    if (!runs(end)) return;
    check_life(end);
    ends_[end].host->poll(ends_[end].clock->now());
}

}  // namespace ako::sim
