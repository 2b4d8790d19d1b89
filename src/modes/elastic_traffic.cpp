// See elastic_traffic.h. When there is to be another epoch: elastic_epochs.cpp.
#include "src/modes/elastic_traffic.h"

#include <algorithm>
#include <utility>

#include "ako/assert.h"
#include "ako/payload.h"

namespace ako {

ElasticTraffic::ElasticTraffic(const ModeSettings& settings, const Buckets& buckets,
                               Mailbox& mailbox, BucketBoard& board, EpochBoard& epochs,
                               ElasticRing& ring, Transport& transport, const Clock& clock)
    : settings_(settings),
      bounds_(RunBounds::of(settings)),
      bucket_count_(buckets.count()),
      life_timeout_(settings.times().life_timeout),
      turn_first_(settings.times().heartbeat),
      hang_patience_(settings.times().finish_timeout * 3 / 4),
      mailbox_(mailbox),
      board_(board),
      epochs_(epochs),
      ring_(ring),
      transport_(transport),
      clock_(clock),
      vote_(settings.self, settings.peer_count(), settings.process_id),
      departures_(settings.peer_count(), life_timeout_, settings.times().finish_linger),
      links_(settings.peer_count()),
      turn_(turn_first_) {}

// ---- sending

std::optional<OutFrame> ElasticTraffic::next_control(PeerIndex peer) {
    Link& link = links_[peer];
    if (std::exchange(link.membership_due, false)) return OutFrame{membership(), {}, {}};
    if (told_ && std::exchange(link.state_due, false)) return OutFrame{*told_, {}, {}};
    return std::nullopt;
}

std::optional<OutFrame> ElasticTraffic::next(PeerIndex peer, std::size_t payload_bytes_max) {
    if (over_ || !vote_.is(peer, links_[peer].process)) return std::nullopt;
    return ring_.next(peer, payload_bytes_max);
}

Membership ElasticTraffic::membership() const {
    Membership said;
    vote_.write(said);
    for (PeerIndex peer = 0; peer < links_.size(); ++peer)
        if (links_[peer].up) said.hears |= peer_bit(peer);
    said.wants_in = !vote_.member() && epochs_.asks();
    if (!vote_.member()) return said;
    said.broken = broken_;
    said.holding = holding_;
    said.ready = ready_;
    said.whole = ring_.has_state();
    said.taken = told_taken_;
    return said;
}

void ElasticTraffic::tell_all() {
    last_told_ = membership();
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        if (!links_[peer].up) continue;
        links_[peer].membership_due = true;
        transport_.wake(peer);
    }
}

void ElasticTraffic::post_place() {
    EpochPlace place{.epoch = vote_.epoch().number,
                     .members = vote_.epoch().members(),
                     .in = vote_.member() && ring_.has_state(),
                     .over = run_is_over_,
                     .asked_for = std::nullopt};
    if (place.in && ready_) place.asked_for = ring_.asked_for();
    epochs_.post(place);
}

void ElasticTraffic::poll(const Word& word, Time now) {
    // A newcomer can take something from when this peer's round is over, which may be long after
    // the epoch began.
    for (PeerIndex peer = 0; peer < links_.size(); ++peer)
        if (!ring_.owes(peer)) links_[peer].moved_at = now;
    const BucketBoard::Unseen unseen = board_.take();
    for (const auto& [bucket, sync] : unseen.consumed) ring_.consumed(bucket, sync);
    for (const Contribution& contribution : unseen.contributions) ring_.contributed(contribution);
    finishing_ = word.own.standing.final_round.has_value();
    own_round_ = word.own.standing.progress[settings_.self].round;
    over_ = word.closing || word.broken;
    if (!first_poll_) first_poll_ = polled_at_ = now;
    if (now - polled_at_ > life_timeout_ / 2) stood_until_ = now;
    polled_at_ = now;
    departures_.look(now);
    look_for_the_gone(now);
    if (!over_) look(now);
}

// ---- receiving

std::optional<std::string> ElasticTraffic::refuse(PeerIndex peer, const Header& header,
                                                  std::size_t bytes) {
    const std::size_t peer_count = links_.size();
    if (const auto* chunk = std::get_if<Chunk>(&header)) {
        if (const auto count = elements_in(bytes)) return ring_.refuse(peer, *chunk, *count);
        return "Chunk with " + std::to_string(bytes) + " bytes, no whole number of elements";
    }
    if (bytes != 0)
        return std::string(header_name(header)) + " with " + std::to_string(bytes) +
               " bytes of payload; only a Chunk has one";
    if (const auto* status = std::get_if<Status>(&header)) {
        if (status->standing.progress.size() == peer_count) return bounds_.refuse(*status);
        return "Status of " + std::to_string(status->standing.progress.size()) +
               " peers in a cluster of " + std::to_string(peer_count);
    }
    if (const auto* bye = std::get_if<Bye>(&header))
        return bounds_.refuse(bye->final_round, "Bye.final_round");
    if (const auto* said = std::get_if<Membership>(&header)) {
        if (auto complaint = vote_.refuse(*said)) return complaint;
        return refuse(said->holding);
    }
    if (const auto* state = std::get_if<MemberState>(&header)) return refuse(*state);
    return std::string("a ") + header_name(header) + ", which only the mode ako sends";
}

std::optional<std::string> ElasticTraffic::refuse(const Holding& holding) const {
    if (auto complaint = bounds_.refuse(holding.begun, "Membership.begun")) return complaint;
    std::uint64_t buckets = 0;
    for (const SyncRun& run : holding.sums) {
        buckets += run.buckets;
        if (run.sync > holding.begun)
            return "Membership with the sum of sync " + std::to_string(run.sync) +
                   ", where the newest begun is " + std::to_string(holding.begun);
    }
    if (holding.sums.empty() || buckets == bucket_count_) return std::nullopt;
    return "Membership of " + std::to_string(buckets) + " buckets of " +
           std::to_string(bucket_count_);
}

std::optional<std::string> ElasticTraffic::refuse(const MemberState& state) const {
    for (const Tally* tally : {&state.before, &state.now}) {
        if (tally->samples.size() != links_.size())
            return "MemberState of other peers than the " + std::to_string(links_.size()) +
                   " of the file";
        if (auto complaint = bounds_.refuse(tally->sync, "MemberState.sync")) return complaint;
        if (links_.size() < peers_max && tally->contributors >> links_.size() != 0)
            return "MemberState.contributors names peers that are not in the file";
        for (const std::uint64_t samples : tally->samples)
            if (samples > tally->sync * bounds_.batch)
                return "MemberState has " + std::to_string(samples) + " samples after sync " +
                       std::to_string(tally->sync);
    }
    for (std::size_t peer = 0; peer < links_.size(); ++peer)
        if (state.now.samples[peer] < state.before.samples[peer])
            return "MemberState in which samples fall";
    return std::nullopt;
}

std::optional<Destination> ElasticTraffic::reserve(PeerIndex peer, const Header& header,
                                                   std::size_t bytes) {
    const auto* chunk = std::get_if<Chunk>(&header);
    AKO_ASSERT(chunk != nullptr, "only a chunk has a payload");
    return ring_.reserve(peer, *chunk, elements_in(bytes).value());
}

void ElasticTraffic::abandoned(PeerIndex, Destination destination) {
    if (destination.ticket == 0) return;
    ring_.abandoned(destination, elements_in(destination.memory.size()).value());
}

PooledBuffer ElasticTraffic::arrived(PeerIndex peer, const Header& header, Destination destination,
                                     Time arrived_at) {
    Link& link = links_[peer];
    if (const auto* chunk = std::get_if<Chunk>(&header)) {
        board_.sign_came(arrived_at);
        ring_.arrived(peer, *chunk, destination, elements_in(destination.memory.size()).value());
    } else if (const auto* said = std::get_if<Membership>(&header)) {
        if (said->taken > link.said.taken) {
            link.moved_at = arrived_at;
            board_.sign_came(arrived_at);
        }
        link.said = *said;
        link.heard = true;
        if (over_) return {};
        if (vote_.hear(peer, link.process, *said)) adopted(arrived_at);
        look(arrived_at);
    } else if (const auto* state = std::get_if<MemberState>(&header)) {
        if (state->epoch == vote_.epoch().number) link.state = *state;
    } else if (const auto* status = std::get_if<Status>(&header)) {
        const Round round = status->standing.progress[peer].round;
        if (round > std::exchange(link.round, round)) {
            link.hangs = false;
            board_.sign_came(arrived_at);
        }
    }
    return {};
}

// ---- sessions

void ElasticTraffic::session_up(PeerIndex peer, const Hello& hello) {
    Link& link = links_[peer];
    if (link.process != hello.process_id) is_over(peer, clock_.now());
    link.broke_at.reset();
    link.up = link.ever_up = true;
    link.process = hello.process_id;
    link.heard = link.left = link.lost = link.nobody_listens = false;
    link.absent_since.reset();
    link.state_due = told_.has_value() && vote_.epoch().has(peer);
    departures_.came(peer);
    tell_all();
}

void ElasticTraffic::session_down(PeerIndex peer, const std::string&, Time silence, bool left) {
    Link& link = links_[peer];
    link.up = false;
    link.left = left;
    link.membership_due = false;
    departures_.went(peer, left, silence, clock_.now());
    if (left) fell(peer);
    if (!left && silence < life_timeout_ && has_run(clock_.now())) link.broke_at = clock_.now();
    if (over_) return;
    if (vote_.member() && vote_.is(peer, link.process)) broken_ = true;
    tell_all();
}

void ElasticTraffic::peer_lost(PeerIndex peer, const std::string&) { links_[peer].lost = true; }

void ElasticTraffic::is_over(PeerIndex peer, Time now) {
    const Link& link = links_[peer];
    if (link.broke_at && now - *link.broke_at <= life_timeout_) fell(peer);
}

void ElasticTraffic::fell(PeerIndex peer) {
    links_[peer].fell = links_[peer].process;
    if (vote_.is(peer, links_[peer].process)) fell_ |= peer_bit(peer);
}

void ElasticTraffic::look_for_the_gone(Time now) {
    /// How often the transport is asked what became of its dials.
    constexpr Time interval = std::chrono::milliseconds(50);
    if (now - looked_at_ < interval || over_) return;
    looked_at_ = now;
    const std::vector<LinkCounters> counters = transport_.counters();
    for (PeerIndex peer = 0; peer < counters.size(); ++peer) {
        Link& link = links_[peer];
        if (peer == settings_.self || link.up) continue;
        link.nobody_listens = counters[peer].nobody_listens();
        if (link.nobody_listens) is_over(peer, now);
        departures_.dialled(peer, link.nobody_listens, now);
        if (!link.nobody_listens)
            link.absent_since.reset();
        else if (!link.absent_since)
            link.absent_since = now;
    }
}

}  // namespace ako
