// See elastic_peers.h.
#include "src/modes/elastic_peers.h"

namespace ako {

ElasticPeers::ElasticPeers(const ModeSettings& settings, const EpochVote& vote,
                           const Transport& transport)
    : settings_(settings),
      vote_(vote),
      transport_(transport),
      life_timeout_(settings.times().life_timeout),
      peers_(settings.peer_count()),
      departures_(settings.peer_count(), life_timeout_, settings.times().finish_linger) {}

// ---- what happens

void ElasticPeers::session_up(PeerIndex peer, std::uint64_t process, Time now) {
    ElasticPeer& it = peers_[peer];
    if (it.process != process) is_over(peer, now);
    it.broke_at.reset();
    it.up = it.ever_up = true;
    it.process = process;
    it.heard = it.left = it.lost = it.nobody_listens = false;
    it.absent_since.reset();
    departures_.came(peer);
}

void ElasticPeers::session_down(PeerIndex peer, bool left, Time silence, Time now) {
    ElasticPeer& it = peers_[peer];
    it.up = false;
    it.left = left;
    departures_.went(peer, left, silence, now);
    if (left) fell(peer);
    if (!left && silence < life_timeout_ && has_run(now)) it.broke_at = now;
}

void ElasticPeers::hear(PeerIndex peer, const Membership& said) {
    peers_[peer].said = said;
    peers_[peer].heard = true;
}

void ElasticPeers::epoch_changed() {
    fell_ = 0;
    for (PeerIndex peer = 0; peer < peers_.size(); ++peer)
        if (peers_[peer].fell != 0 && vote_.is(peer, peers_[peer].fell)) fell_ |= peer_bit(peer);
}

void ElasticPeers::poll(Time now) {
    if (!first_poll_) first_poll_ = polled_at_ = now;
    if (now - polled_at_ > life_timeout_ / 2) stood_until_ = now;
    polled_at_ = now;
    departures_.look(now);
}

void ElasticPeers::is_over(PeerIndex peer, Time now) {
    const ElasticPeer& it = peers_[peer];
    if (it.broke_at && now - *it.broke_at <= life_timeout_) fell(peer);
}

void ElasticPeers::fell(PeerIndex peer) {
    peers_[peer].fell = peers_[peer].process;
    if (is_member(peer)) fell_ |= peer_bit(peer);
}

void ElasticPeers::look_for_the_gone(Time now) {
    /// How often the transport is asked what became of its dials.
    constexpr Time interval = std::chrono::milliseconds(50);
    if (now - looked_at_ < interval) return;
    looked_at_ = now;
    const std::vector<LinkCounters> counters = transport_.counters();
    for (PeerIndex peer = 0; peer < counters.size(); ++peer) {
        ElasticPeer& it = peers_[peer];
        if (peer == settings_.self || it.up) continue;
        it.nobody_listens = counters[peer].nobody_listens();
        if (it.nobody_listens) is_over(peer, now);
        departures_.dialled(peer, it.nobody_listens, now);
        if (!it.nobody_listens)
            it.absent_since.reset();
        else if (!it.absent_since)
            it.absent_since = now;
    }
}

// ---- what is so

PeerSet ElasticPeers::up() const {
    PeerSet up = 0;
    for (PeerIndex peer = 0; peer < peers_.size(); ++peer)
        if (peers_[peer].up) up |= peer_bit(peer);
    return up;
}

bool ElasticPeers::hear_each_other(PeerIndex one, PeerIndex other) const {
    return peers_[one].heard && peers_[other].heard &&
           (peers_[one].said.hears & peer_bit(other)) != 0 &&
           (peers_[other].said.hears & peer_bit(one)) != 0;
}

bool ElasticPeers::stays_away(PeerIndex peer) const {
    const ElasticPeer& it = peers_[peer];
    if (it.up) return !is_member(peer);  // another process is there
    return it.left || it.lost || (it.ever_up && it.nobody_listens);
}

EpochVote::Reach ElasticPeers::reach(Time now) const {
    EpochVote::Reach reach{fell_, 0};
    for (PeerIndex peer = 0; peer < peers_.size(); ++peer) {
        const ElasticPeer& it = peers_[peer];
        if (peer == settings_.self) continue;
        const bool over =
            !it.up && ((it.fell != 0 && it.fell == it.process) || departures_.gone(peer, now));
        const bool absent = !it.ever_up && it.absent_since &&
                            now - *it.absent_since >= departures_.gone_after_crash();
        if (!over && !absent && !(it.up && it.heard)) reach.unaccounted |= peer_bit(peer);
    }
    return reach;
}

}  // namespace ako
