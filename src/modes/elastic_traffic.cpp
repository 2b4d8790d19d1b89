// See elastic_traffic.h.
#include "src/modes/elastic_traffic.h"

#include "ako/assert.h"
#include "ako/payload.h"

namespace ako {

ElasticTraffic::ElasticTraffic(const ModeSettings& settings, const Buckets& buckets,
                               Mailbox& mailbox, BucketBoard& board, EpochBoard& epochs,
                               ElasticRing& ring, Transport& transport, const Clock& clock)
    : bounds_(RunBounds::of(settings)),
      bucket_count_(buckets.count()),
      mailbox_(mailbox),
      clock_(clock),
      parts_(settings, board, epochs, ring, transport),
      pace_(parts_),
      beginning_(parts_, pace_),
      epochs_(parts_, pace_, beginning_) {}

// ---- sending

std::optional<OutFrame> ElasticTraffic::next_control(PeerIndex peer) {
    if ((untold_ & peer_bit(peer)) == 0) return beginning_.next(peer);
    untold_ &= ~peer_bit(peer);
    return OutFrame{membership(), {}, {}};
}

std::optional<OutFrame> ElasticTraffic::next(PeerIndex peer, std::size_t payload_bytes_max) {
    if (over_ || !parts_.peers.is_member(peer)) return std::nullopt;
    return parts_.ring.next(peer, payload_bytes_max);
}

Membership ElasticTraffic::membership() const {
    Membership said;
    parts_.vote.write(said);
    said.hears = parts_.peers.up();
    said.wants_in = !parts_.vote.member() && parts_.epochs.asks();
    if (!parts_.vote.member()) return said;
    said.broken = epochs_.broken();
    said.holding = beginning_.holding();
    said.ready = beginning_.ready();
    said.whole = parts_.ring.has_state();
    said.taken = told_taken_;
    return said;
}

void ElasticTraffic::tell_all() {
    last_told_ = membership();
    untold_ = parts_.peers.up();
    for (PeerIndex peer = 0; peer < parts_.peers.count(); ++peer)
        if (untold_ & peer_bit(peer)) parts_.transport.wake(peer);
}

void ElasticTraffic::poll(const Word& word, Time now) {
    pace_.poll(word.own.standing.progress[parts_.settings.self].round, now);
    const BucketBoard::Unseen unseen = parts_.board.take();
    for (const auto& [bucket, sync] : unseen.consumed) parts_.ring.consumed(bucket, sync);
    for (const Contribution& contribution : unseen.contributions)
        parts_.ring.contributed(contribution);
    epochs_.set_finishing(word.own.standing.final_round.has_value());
    over_ = word.closing || word.broken;
    parts_.peers.poll(now);
    if (over_) return;
    parts_.peers.look_for_the_gone(now);
    look(now);
}

// ---- epochs

void ElasticTraffic::look(Time now) {
    follow_the_vote(now);
    beginning_.come_in();
    beginning_.tell_newcomers();
    if (beginning_.all_ready()) pace_.look_for_the_hung(now);
    if (epochs_.propose(now)) follow_the_vote(now);  // who is alone needs nobody's answer
    beginning_.look_whether_all_ended(now);
    told_taken_ = parts_.ring.taken();
    if (membership() != last_told_) tell_all();
    give_up_if_stuck(now);
}

void ElasticTraffic::follow_the_vote(Time now) {
    while (parts_.vote.step(parts_.peers.reach(now))) adopted(now);
    if (!beginning_.begin(now)) give_up("nobody is left who holds the parameters of the run");
}

void ElasticTraffic::adopted(Time now) {
    epochs_.epoch_changed();
    parts_.peers.epoch_changed();
    pace_.epoch_changed(now);
    beginning_.epoch_changed();
    pace_.sign_of_epoch(now);
    beginning_.post_place();
    tell_all();
}

void ElasticTraffic::give_up_if_stuck(Time now) {
    if (parts_.vote.member() && epochs_.is_wanted()) parts_.board.sign_came(now);
    if (const auto without = epochs_.gives_up_without(now))
        give_up("the members that can be reached are not enough to go on without " +
                parts_.settings.names(*without) + ", who may go on elsewhere");
}

void ElasticTraffic::give_up(const std::string& why) {
    over_ = true;
    mailbox_.break_off(why);
}

// ---- receiving

std::optional<std::string> ElasticTraffic::refuse(PeerIndex peer, const Header& header,
                                                  std::size_t bytes) {
    if (const auto* chunk = std::get_if<Chunk>(&header)) {
        if (const auto count = elements_in(bytes)) return parts_.ring.refuse(peer, *chunk, *count);
        return "Chunk with " + std::to_string(bytes) + " bytes, no whole number of elements";
    }
    if (bytes != 0)
        return std::string(header_name(header)) + " with " + std::to_string(bytes) +
               " bytes of payload; only a Chunk has one";
    if (const auto* status = std::get_if<Status>(&header)) {
        if (status->standing.progress.size() == parts_.peers.count())
            return bounds_.refuse(*status);
        return "Status of " + std::to_string(status->standing.progress.size()) +
               " peers in a cluster of " + std::to_string(parts_.peers.count());
    }
    if (const auto* bye = std::get_if<Bye>(&header))
        return bounds_.refuse(bye->final_round, "Bye.final_round");
    if (const auto* said = std::get_if<Membership>(&header)) {
        if (auto complaint = parts_.vote.refuse(*said)) return complaint;
        return refuse(said->holding);
    }
    if (const auto* state = std::get_if<MemberState>(&header)) return refuse(*state);
    return std::string("a ") + header_name(header) + ", which is not sent in this mode";
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
        if (tally->samples.size() != parts_.peers.count())
            return "MemberState of other peers than the " + std::to_string(parts_.peers.count()) +
                   " of the file";
        if (auto complaint = bounds_.refuse(tally->sync, "MemberState.sync")) return complaint;
        if (parts_.peers.count() < peers_max && tally->contributors >> parts_.peers.count() != 0)
            return "MemberState.contributors names peers that are not in the file";
        for (const std::uint64_t samples : tally->samples)
            if (samples > tally->sync * bounds_.batch)
                return "MemberState has " + std::to_string(samples) + " samples after sync " +
                       std::to_string(tally->sync);
    }
    for (std::size_t peer = 0; peer < parts_.peers.count(); ++peer)
        if (state.now.samples[peer] < state.before.samples[peer])
            return "MemberState in which samples fall";
    return std::nullopt;
}

std::optional<Destination> ElasticTraffic::reserve(PeerIndex peer, const Header& header,
                                                   std::size_t bytes) {
    const auto* chunk = std::get_if<Chunk>(&header);
    AKO_ASSERT(chunk != nullptr, "only a chunk has a payload");
    return parts_.ring.reserve(peer, *chunk, elements_in(bytes).value());
}

void ElasticTraffic::abandoned(PeerIndex, Destination destination) {
    if (destination.ticket == 0) return;
    parts_.ring.abandoned(destination, elements_in(destination.memory.size()).value());
}

PooledBuffer ElasticTraffic::arrived(PeerIndex peer, const Header& header, Destination destination,
                                     Time arrived_at) {
    if (const auto* chunk = std::get_if<Chunk>(&header)) {
        parts_.board.sign_came(arrived_at);
        parts_.ring.arrived(peer, *chunk, destination,
                            elements_in(destination.memory.size()).value());
    } else if (const auto* said = std::get_if<Membership>(&header)) {
        pace_.hear(peer, *said, arrived_at);
        parts_.peers.hear(peer, *said);
        if (over_) return {};
        if (parts_.vote.hear(peer, parts_.peers[peer].process, *said)) adopted(arrived_at);
        look(arrived_at);
    } else if (const auto* state = std::get_if<MemberState>(&header)) {
        beginning_.hear(peer, *state);
    } else if (const auto* status = std::get_if<Status>(&header)) {
        pace_.hear(peer, status->standing.progress[peer].round, arrived_at);
    }
    return {};
}

// ---- sessions

void ElasticTraffic::session_up(PeerIndex peer, const Hello& hello) {
    parts_.peers.session_up(peer, hello.process_id, clock_.now());
    beginning_.session_up(peer);
    tell_all();
}

void ElasticTraffic::session_down(PeerIndex peer, const std::string&, Time silence, bool left) {
    parts_.peers.session_down(peer, left, silence, clock_.now());
    untold_ &= ~peer_bit(peer);
    if (over_) return;
    epochs_.session_down(peer);
    tell_all();
}

}  // namespace ako
