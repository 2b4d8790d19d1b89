// See link_probe.h.
#include "src/probe/link_probe.h"

#include <algorithm>
#include <utility>

#include "ako/payload.h"
#include "src/probe/turns.h"

namespace ako {

namespace {

using namespace std::chrono_literals;

constexpr Time heartbeat = 200ms;
/// So long who knows all serves others that do not.
constexpr Time serves_on = 5s;

}  // namespace

LinkProbe::LinkProbe(PeerIndex self, std::vector<std::string> names, Transport& transport,
                     const Clock& clock, const ProbeTimes& times, std::function<void()> changed)
    : self_(self),
      names_(std::move(names)),
      transport_(transport),
      clock_(clock),
      times_(times),
      changed_(std::move(changed)),
      peers_(names_.size()),
      flood_(payload_bytes_limit) {
    for (PeerIndex peer = 0; peer < count(); ++peer)
        if (peer != self_) outcome_.missing.push_back(peer);
}

ProbeOutcome LinkProbe::outcome() const {
    const MutexLock lock(mutex_);
    return outcome_;
}

void LinkProbe::change(const std::function<void(ProbeOutcome&)>& change) {
    {
        const MutexLock lock(mutex_);
        change(outcome_);
    }
    changed_();
}

void LinkProbe::fail(const std::string& why) {
    if (std::exchange(over_, true)) return;
    change([&](ProbeOutcome& outcome) {
        outcome.over = true;
        outcome.failure = why;
    });
}

// ---- sending

Probe LinkProbe::standing(bool with_pairs) const {
    Probe probe;
    probe.turn = turn_;
    probe.knows_all = knows_all();
    if (!with_pairs) return probe;
    for (const PairFigures& figures : pairs_)
        if (figures.asker == self_) probe.pairs.push_back(figures);
    return probe;
}

std::optional<OutFrame> LinkProbe::next(PeerIndex peer, std::size_t payload_bytes_max) {
    const Time now = clock_.now();
    PeerState& it = peers_[peer];
    const bool in_pair = pair_ && pair_->partner() == peer;
    if (in_pair) {
        if (const auto word = pair_->next_word(now)) return OutFrame{*word, {}, {}};
    }
    if (std::exchange(it.standing_due, false)) {
        it.standing_at = now;
        return OutFrame{standing(std::exchange(it.pairs_due, false)), {}, {}};
    }
    if (!in_pair || !pair_->floods(now)) return std::nullopt;
    moved_at_ = now;
    Chunk chunk;
    chunk.sync = turn_;
    const std::size_t elements = std::max<std::size_t>(1, elements_within(payload_bytes_max));
    const std::size_t bytes = std::min(flood_.size(), payload_bytes_of(elements));
    return OutFrame{chunk, std::span(flood_).first(bytes), {}};
}

void LinkProbe::tell_all() {
    for (PeerState& it : peers_) it.standing_due = it.pairs_due = it.up;
}

// ---- receiving

std::optional<std::string> LinkProbe::refuse(PeerIndex peer, const Header& header,
                                             std::size_t bytes) {
    if (std::holds_alternative<Chunk>(header)) return std::nullopt;
    const auto* probe = std::get_if<Probe>(&header);
    if (probe == nullptr)
        return std::string("a ") + header_name(header) +
               ", which nobody sends while links are measured";
    if (bytes != 0) return "a Probe with a payload";
    for (const PairFigures& figures : probe->pairs) {
        if (figures.asker >= figures.asked || figures.asked >= count())
            return "Probe.pairs of no two peers of the file";
        if (figures.asker != peer) return "Probe.pairs of a pair of which others tell";
    }
    return std::nullopt;
}

std::optional<Destination> LinkProbe::reserve(PeerIndex peer, const Header&, std::size_t bytes) {
    if (bytes == 0) return Destination{};
    std::vector<std::byte>& sink = peers_[peer].sink;
    sink.resize(payload_bytes_limit);
    return Destination{std::span(sink).first(bytes), 0};
}

void LinkProbe::arrived(PeerIndex peer, Header header, Destination destination, Time arrived_at) {
    const bool of_partner = pair_ && pair_->partner() == peer;
    if (std::holds_alternative<Chunk>(header)) {
        if (of_partner) {
            pair_->take_flood(destination.memory.size(), arrived_at);
            moved_at_ = arrived_at;
        }
    } else if (const auto* probe = std::get_if<Probe>(&header)) {
        if (probe->kind == ProbeKind::standing)
            heard(peer, *probe);
        else if (of_partner && probe->turn == turn_) {
            pair_->take(*probe, arrived_at);
            moved_at_ = arrived_at;
        }
    }
    look_on(clock_.now());
}

void LinkProbe::heard(PeerIndex peer, const Probe& probe) {
    PeerState& it = peers_[peer];
    it.turn = probe.turn;
    it.knows_all |= probe.knows_all;
    for (const PairFigures& figures : probe.pairs) learn(figures);
}

void LinkProbe::learn(const PairFigures& figures) {
    const auto same = [&](const PairFigures& other) {
        return other.asker == figures.asker && other.asked == figures.asked;
    };
    if (std::none_of(pairs_.begin(), pairs_.end(), same)) pairs_.push_back(figures);
}

// ---- sessions

std::optional<Reject> LinkProbe::admit(PeerIndex peer, const Hello& hello) {
    const PeerState& it = peers_[peer];
    // Another process has missed turns.
    if (turn_ == 0 || it.process == hello.process_id) return std::nullopt;
    return Reject{"process_id", "the process that all have met", "another"};
}

void LinkProbe::session_up(PeerIndex peer, const Hello& hello) {
    PeerState& it = peers_[peer];
    it.up = true;
    it.gone_at.reset();
    if (std::exchange(it.process, hello.process_id) != hello.process_id) {
        it.turn = 0;
        it.knows_all = false;
    }
    it.standing_due = it.pairs_due = true;
    transport_.wake(peer);
}

void LinkProbe::session_down(PeerIndex peer, const std::string& why, Time) {
    PeerState& it = peers_[peer];
    it.up = false;
    if (turn_ == 0 || knows_all()) return;
    it.gone_at = clock_.now();
    it.why_gone = why;
    const bool spoilt = pair_ && pair_->partner() == peer && pair_->begun();
    if (spoilt) fail_without(peer);
}

void LinkProbe::fail_without(PeerIndex peer) {
    fail("while links were measured the session with " + names_[peer] +
         " ended: " + peers_[peer].why_gone);
}

// ---- turns

void LinkProbe::poll(Time now) {
    if (!began_) began_ = now;
    if (turn_ == 0 && !over_) meet(now);
    for (PeerState& it : peers_)
        if (it.up && now - it.standing_at >= heartbeat) it.standing_due = true;
    look_on(now);
}

void LinkProbe::meet(Time now) {
    std::vector<PeerIndex> missing;
    for (PeerIndex peer = 0; peer < count(); ++peer)
        if (peer != self_ && !peers_[peer].up) missing.push_back(peer);
    if (missing != outcome().missing)
        change([&](ProbeOutcome& outcome) { outcome.missing = missing; });
    moved_at_ = now;
    if (missing.empty()) return next_turn();
    if (now - *began_ >= times_.meet) fail("not all peers have come");
}

void LinkProbe::next_turn() {
    pair_.reset();
    while (++turn_ <= turn_count(count())) {
        const auto partner = partner_in(turn_, self_, count());
        if (!partner) continue;
        pair_.emplace(self_, *partner, turn_, times_);
        break;
    }
    tell_all();
}

/// Does whatever has become possible.
void LinkProbe::look_on(Time now) {
    if (pair_meets()) pair_->begin();
    if (pair_ && pair_->over()) {
        moved_at_ = now;
        if (pair_->asks()) learn(pair_->figures());
        next_turn();
    }
    if (knows_all() && !knew_at_) {
        knew_at_ = now;
        tell_all();
    }
    const bool served = knew_at_ && (others_know_all() || now - *knew_at_ >= serves_on);
    if (served && !std::exchange(over_, true)) {
        change([&](ProbeOutcome& outcome) {
            outcome.over = true;
            outcome.pairs = pairs_;
        });
    }
    look_for_losses(now);
    wake_links(now);
}

// Who waits for others needs no patience of its own: they go on, or end the session.
void LinkProbe::look_for_losses(Time now) {
    if (knew_at_ || turn_ == 0) return;
    if (!pair_meets()) moved_at_ = now;
    if (now - moved_at_ >= times_.patience)
        fail("nothing has moved for " + std::to_string(times_.patience / 1s) + " s between " +
             names_[self_] + " and " + names_[pair_->partner()]);
    for (PeerIndex peer = 0; peer < count(); ++peer) {
        const std::optional<Time>& gone = peers_[peer].gone_at;
        if (gone && now - *gone >= times_.absence) fail_without(peer);
    }
}

void LinkProbe::wake_links(Time now) {
    for (PeerIndex peer = 0; peer < count(); ++peer) {
        const bool says = pair_ && pair_->partner() == peer &&
                          (pair_->has_word(now) || pair_->floods(now));
        if (peers_[peer].up && (peers_[peer].standing_due || says)) transport_.wake(peer);
    }
}

bool LinkProbe::others_know_all() const {
    for (PeerIndex peer = 0; peer < count(); ++peer)
        if (peer != self_ && peers_[peer].up && !peers_[peer].knows_all) return false;
    return true;
}

}  // namespace ako
