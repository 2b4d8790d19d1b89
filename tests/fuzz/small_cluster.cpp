// See small_cluster.h: the wires.
#include "tests/fuzz/small_cluster.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ako/assert.h"

namespace ako::test {
namespace {

/// Frames that go from one to another within a moment: far more than anybody has to say.
constexpr unsigned frames_at_once_max = 4096;

}  // namespace

void Wires::start(TransportHost& host) { host_ = &host; }

std::vector<LinkCounters> Wires::counters() const {
    std::vector<LinkCounters> counters(cluster_.size());
    for (PeerIndex peer = 0; peer < counters.size(); ++peer) {
        if (peer == self_) continue;
        counters[peer].up = cluster_.up(self_, peer);
        if (!cluster_.listens(peer))
            counters[peer].last_error = "nobody listens: connection refused";
    }
    return counters;
}

void Wires::stop(Time) {
    if (cluster_.closed_) return;
    notified_ = true;
    cluster_.pump();
    cluster_.end(self_);
}

SmallCluster::SmallCluster(const Plan& plan, PeerIndex liar, Says says, Hears hears)
    : liar_(liar),
      says_(std::move(says)),
      hears_(std::move(hears)),
      life_timeout_(plan.settings.times().life_timeout),
      payload_max_(plan.payload_max),
      stands_(plan.settings.peer_count()) {
    const std::size_t count = plan.settings.peer_count();
    links_.resize(count * count);
    up_.resize(count * count);
    for (PeerIndex peer = 0; peer < count; ++peer) {
        process_ids_.push_back(peer + 1);
        members_.push_back(std::make_unique<FuzzedMember>(*this, plan, peer));
    }
    for (const auto& member : members_) member->exchange().start();
}

SmallCluster::~SmallCluster() {
    for (PeerIndex peer = 0; peer < size(); ++peer) end(peer);
    closed_ = true;
}

bool SmallCluster::honest_are_over() const {
    return std::all_of(members_.begin(), members_.end(), [this](const auto& member) {
        return member->self() == liar_ || member->over();
    });
}

void SmallCluster::tick(Time takes) {
    connect_all();
    for (PeerIndex from = 0; from < size(); ++from) {
        for (PeerIndex to = 0; to < size(); ++to) {
            if (from == to) continue;
            if (link(from, to).reading) arrive(from, to);
            if (link(from, to).unread > 0 && --link(from, to).unread == 0) wires(from).wake(to);
            look_for_silence(from, to);
        }
    }
    for (const auto& member : members_) member->wires_.notified_ = true;
    pump();
    for (const auto& member : members_) {
        unsigned& stands = stands_[member->self()];
        if (stands > 0) {
            --stands;
        } else if (!member->over()) {
            member->step();
        }
    }
    pump();
    clock_.advance(takes);
}

void SmallCluster::pass_while_waiting(PeerIndex waits) {
    wires(waits).notified_ = true;
    pump();
    clock_.advance(ModeExchange::wait_step);
}

// ---- sessions

void SmallCluster::connect_all() {
    for (PeerIndex a = 0; a < size(); ++a)
        for (PeerIndex b = a + 1; b < size(); ++b)
            if (!up(a, b) && listens(a) && listens(b)) connect(a, b);
}

void SmallCluster::connect(PeerIndex a, PeerIndex b) {
    const auto hello = [this](PeerIndex peer) {
        Hello said;
        said.process_id = process_ids_[peer];
        return said;
    };
    if (wires(a).host_->admit(b, hello(b)) || wires(b).host_->admit(a, hello(a))) return;
    up(a, b) = true;
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
        link(from, to) = {};
        link(from, to).heard_at = clock_.now();
        link(from, to).met = true;
        wires(to).host_->session_up(from, hello(from));
        wires(to).wake(from);
    }
}

void SmallCluster::end_session(PeerIndex a, PeerIndex b, const std::string& why) {
    if (!std::exchange(up(a, b), false)) return;
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
        Link& ended = link(from, to);
        ended.waiting.clear();
        if (!listens(to)) continue;
        if (const auto reading = std::exchange(ended.reading, std::nullopt))
            wires(to).host_->abandoned(from, reading->destination);
        wires(to).host_->session_down(from, why, clock_.now() - ended.heard_at);
    }
}

void SmallCluster::look_for_silence(PeerIndex from, PeerIndex to) {
    Link& silent = link(from, to);
    if (!silent.met || !listens(to)) return;
    if (up(from, to)) {
        // Honest peers say something in time, however much of it passes at once.
        if (from != liar_ || !silent.waiting.empty() || silent.reading || silent.unread > 0)
            silent.heard_at = clock_.now();
        if (clock_.now() - silent.heard_at > life_timeout_)
            end_session(from, to, "no byte for the life time-out");
    } else if (!silent.said_bye && clock_.now() - silent.heard_at > life_timeout_) {
        if (std::exchange(silent.told_lost, true)) return;
        wires(to).host_->peer_lost(from, "no byte for the life time-out");
    }
}

void SmallCluster::reset(PeerIndex other) {
    if (other != liar_) end_session(liar_, other, "reset");
}

void SmallCluster::go() {
    members_[liar_]->state_ = FuzzedMember::State::over;
    end(liar_);
}

void SmallCluster::end(PeerIndex member) {
    if (!listens(member)) return;
    for (PeerIndex other = 0; other < size(); ++other)
        if (other != member) end_session(member, other, "closed by the peer");
    wires(member).host_ = nullptr;
}

// ---- frames

void SmallCluster::pump() {
    for (unsigned turns = 0;; ++turns) {
        AKO_ASSERT(turns < frames_at_once_max, "frames without end");
        bool moved = false;
        for (PeerIndex peer = 0; peer < size(); ++peer) {
            if (!listens(peer) || !std::exchange(wires(peer).notified_, false)) continue;
            wires(peer).host_->poll(clock_.now());
        }
        for (PeerIndex from = 0; from < size(); ++from)
            for (PeerIndex to = 0; to < size(); ++to)
                if (from != to && up(from, to)) moved |= pump(from, to) || take(from, to);
        if (!moved) return;
    }
}

// The next frame, if the wire is free for one.
bool SmallCluster::pump(PeerIndex from, PeerIndex to) {
    Link& way = link(from, to);
    if (!(wires(from).woken_ & peer_bit(to)) || way.unread > 0) return false;
    if (!way.waiting.empty() || way.reading) return false;
    std::optional<OutFrame> next = wires(from).host_->next(to, payload_max_);
    if (!next) {
        wires(from).woken_ &= ~peer_bit(to);
        return false;
    }
    Frame frame{std::move(next->header), {next->payload.begin(), next->payload.end()}};
    next->keeps_alive.reset();
    if (from != liar_) {
        receive(from, to, std::move(frame));
    } else {
        for (Frame& said : says_(to, std::move(frame))) receive(from, to, std::move(said));
    }
    return true;
}

void SmallCluster::say(PeerIndex to, Frame frame) {
    if (to != liar_ && listens(liar_) && up(liar_, to)) receive(liar_, to, std::move(frame));
}

// What waited for room.
bool SmallCluster::take(PeerIndex from, PeerIndex to) {
    if (!(wires(to).resumed_ & peer_bit(from))) return false;
    wires(to).resumed_ &= ~peer_bit(from);
    Link& way = link(from, to);
    bool moved = false;
    while (up(from, to) && !way.reading && !way.waiting.empty()) {
        Frame frame = std::move(way.waiting.front());
        way.waiting.pop_front();
        if (!place(from, to, frame)) {
            way.waiting.push_front(std::move(frame));
            break;
        }
        moved = true;
    }
    wires(from).wake(to);
    return moved;
}

void SmallCluster::receive(PeerIndex from, PeerIndex to, Frame frame) {
    if (!up(from, to)) return;
    hears_(from, to, frame);
    Link& way = link(from, to);
    way.heard_at = clock_.now();
    if (!way.waiting.empty() || way.reading || !place(from, to, frame)) {
        // More than this nobody reads ahead: it waits with the sender, who may say less meanwhile.
        if (up(from, to) && way.waiting.size() < frames_at_once_max)
            way.waiting.push_back(std::move(frame));
    }
}

bool SmallCluster::place(PeerIndex from, PeerIndex to, Frame& frame) {
    TransportHost& host = *wires(to).host_;
    if (const auto complaint = host.refuse(from, frame.header, frame.payload.size())) {
        end_session(from, to, *complaint);
        return true;
    }
    const auto destination = host.reserve(from, frame.header, frame.payload.size());
    if (!destination) return false;
    AKO_ASSERT(destination->memory.size() == frame.payload.size(), "room of another size");
    Link& way = link(from, to);
    way.reading = Reading{std::move(frame), *destination};
    if (!std::exchange(way.holds, false)) arrive(from, to);
    return true;
}

void SmallCluster::arrive(PeerIndex from, PeerIndex to) {
    Link& way = link(from, to);
    Reading reading = *std::exchange(way.reading, std::nullopt);
    if (!reading.frame.payload.empty())
        std::memcpy(reading.destination.memory.data(), reading.frame.payload.data(),
                    reading.frame.payload.size());
    way.said_bye |= std::holds_alternative<Bye>(reading.frame.header);
    way.heard_at = clock_.now();
    wires(to).host_->arrived(from, std::move(reading.frame.header), reading.destination,
                             clock_.now());
    if (!way.waiting.empty()) wires(to).resume(from);
    wires(from).wake(to);
}

}  // namespace ako::test
