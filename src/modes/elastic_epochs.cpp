// When the members of an elastic ring go on in another epoch, and how that begins. The rest of the
// class is in elastic_traffic.cpp.
#include <algorithm>
#include <bit>
#include <utility>

#include "src/modes/elastic_traffic.h"

namespace ako {

void ElasticTraffic::look(Time now) {
    while (vote_.step(reach(now))) adopted(now);
    begin_epoch(now);
    come_in();
    tell_newcomers();
    look_for_the_hung(now);
    const std::optional<PeerSet> members = wanted(now);
    if (members && turn(now)) {
        propose(*members, now);
        while (vote_.step(reach(now))) adopted(now);  // who is alone needs nobody's answer
        begin_epoch(now);
    }
    look_whether_all_ended(now);
    told_taken_ = ring_.taken();
    if (membership() != last_told_) tell_all();
    give_up_if_stuck(now);
}

void ElasticTraffic::adopted(Time now) {
    broken_ = ready_ = false;
    told_.reset();
    wanted_since_.reset();
    proposed_at_.reset();
    followed_ = {};
    turn_ = turn_first_;
    fell_ = 0;
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        Link& link = links_[peer];
        link.state.reset();
        link.state_due = link.hangs = false;
        link.moved_at = now;
        if (link.fell != 0 && vote_.is(peer, link.fell)) fell_ |= peer_bit(peer);
        const bool stays = (members_before_ & peer_bit(peer)) != 0;
        if (stays || !vote_.is(peer, link.process)) continue;
        link.taken_in = link.process;
        link.taken_in_at = own_round_;
    }
    const Epoch& epoch = vote_.epoch();
    members_before_ = epoch.members();
    if (vote_.member()) {
        holding_ = ring_.enter(epoch.number);
        settings_.log("epoch " + std::to_string(epoch.number) + " of " + names(epoch.members()));
    } else {
        ring_.leave();
    }
    if (std::exchange(round_of_epoch_, own_round_) != own_round_) epochs_without_round_ = 0;
    ++epochs_without_round_;
    sign_of_epoch(now);
    post_place();
    tell_all();
}

void ElasticTraffic::sign_of_epoch(Time now) {
    // Everybody may come and go a few times at once.
    constexpr std::size_t times_each = 4;
    if (epochs_without_round_ <= times_each * links_.size()) board_.sign_came(now);
}

// ---- how it begins

void ElasticTraffic::begin_epoch(Time now) {
    if (!vote_.member()) return;
    const PeerSet members = vote_.epoch().members();
    if (!ready_) {
        std::vector<Holding> holdings(links_.size());
        holdings[settings_.self] = holding_;
        bool state = holding_.has_state(), late = holding_.late;
        for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
            const Link& link = links_[peer];
            if (peer == settings_.self || !(members & peer_bit(peer))) continue;
            if (!link.up || !vote_.is(peer, link.process) || !speaks_of_this(link)) return;
            holdings[peer] = link.said.holding;
            state |= link.said.holding.has_state();
            late |= link.said.holding.late;
        }
        if (!state && late) {
            over_ = true;
            return mailbox_.break_off("nobody is left who holds the parameters of the run");
        }
        ring_.begin(members, holdings);
        ready_ = true;
        sign_of_epoch(now);
        post_place();
        if (!state) epochs_.post_entry({0, members, {}});
    }
    if (all_ready()) ring_.go();
}

bool ElasticTraffic::all_ready() const {
    if (!ready_) return false;
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        if (peer == settings_.self || !vote_.epoch().has(peer)) continue;
        if (!speaks_of_this(links_[peer]) || !links_[peer].said.ready) return false;
    }
    return true;
}

// Whoever held the state has said what it knows: then all of them are past that sync, and nobody
// needs a sum of it from this peer.
void ElasticTraffic::come_in() {
    if (!vote_.member() || !ready_ || ring_.has_state() || !ring_.filled()) return;
    Entry entry{ring_.entry_sync(), 0, {}};
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        const Link& link = links_[peer];
        if (!vote_.epoch().has(peer) || !link.said.holding.has_state()) continue;
        if (peer == settings_.self) continue;
        if (!link.state) return;
        entry.states.push_back(*link.state);
    }
    ring_.come_in();
    post_place();
    epochs_.post_entry(std::move(entry));
}

void ElasticTraffic::tell_newcomers() {
    std::optional<MemberState> told = epochs_.take_told();
    if (!told || told->epoch != vote_.epoch().number) return;
    told_ = std::move(told);
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        Link& link = links_[peer];
        if (!vote_.epoch().has(peer) || !link.up || link.said.holding.has_state()) continue;
        link.state_due = true;
        transport_.wake(peer);
    }
}

// ---- when there is to be another

bool ElasticTraffic::gone(PeerIndex peer, Time now) const {
    const Link& link = links_[peer];
    if (link.up && !vote_.is(peer, link.process)) return true;  // another process is there
    if (!link.up) return link.left || link.lost || (link.ever_up && link.nobody_listens);
    if (link.hangs) return true;
    // It comes in, and takes nothing of what waits for it.
    return ready_ && speaks_of_this(link) && !link.said.whole && ring_.owes(peer) &&
           now - link.moved_at > life_timeout_;
}

// In lockstep nobody is ahead of another by more than a round, and who computes comes to the round
// of the others. Fewer than are to train stand still on purpose.
void ElasticTraffic::look_for_the_hung(Time now) {
    if (now - board_.newest_sign_at() < hang_patience_) return;
    const auto members = static_cast<std::size_t>(std::popcount(vote_.epoch().members()));
    if (!all_ready() || !ring_.has_state() || members < settings_.start_peers_min()) return;
    Round newest = own_round_;
    for (PeerIndex peer = 0; peer < links_.size(); ++peer)
        if (vote_.is(peer, links_[peer].process)) newest = std::max(newest, links_[peer].round);
    for (Link& link : links_) link.hangs |= link.said.whole && link.round < newest;
}

EpochVote::Reach ElasticTraffic::reach(Time now) const {
    EpochVote::Reach reach{fell_, 0};
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        const Link& link = links_[peer];
        if (peer == settings_.self) continue;
        const bool over = !link.up && ((link.fell != 0 && link.fell == link.process) ||
                                       departures_.gone(peer, now));
        const bool absent = !link.ever_up && link.absent_since &&
                            now - *link.absent_since >= departures_.gone_after_crash();
        if (!over && !absent && !(link.up && link.heard)) reach.unaccounted |= peer_bit(peer);
    }
    return reach;
}

void ElasticTraffic::look_whether_all_ended(Time now) {
    if (vote_.member() || vote_.epoch().number == 0) return;
    const bool nobody =
        std::none_of(links_.begin(), links_.end(), [](const Link& link) { return link.up; });
    const bool over = nobody && reach(now).unaccounted == 0;
    if (std::exchange(run_is_over_, over) != over) post_place();
}

ElasticTraffic::View ElasticTraffic::view(Time now) const {
    View view;
    view.there = peer_bit(settings_.self);
    const PeerSet members = vote_.epoch().members();
    bool settled = all_ready() && ring_.has_state() && !finishing_;
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        if (peer == settings_.self || !(members & peer_bit(peer))) continue;
        const Link& link = links_[peer];
        if (gone(peer, now)) {
            view.gone |= peer_bit(peer);
        } else if (link.up) {
            view.there |= peer_bit(peer);
            view.broken |= speaks_of_this(link) && link.said.broken;
            settled &= link.said.whole;
        }
    }
    if (!settled || view.there != members) return view;
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        const Link& link = links_[peer];
        if ((members & peer_bit(peer)) || !link.up || !link.heard || !link.said.wants_in) continue;
        if (was_tried(link)) continue;
        bool heard_by_all = (members & ~link.said.hears) == 0;
        for (PeerIndex other = 0; other < links_.size(); ++other)
            if (other != settings_.self && (members & peer_bit(other)))
                heard_by_all &= hear_each_other(peer, other);
        if (heard_by_all) view.entrants |= peer_bit(peer);
    }
    return view;
}

bool ElasticTraffic::was_tried(const Link& link) const {
    const auto members = static_cast<std::size_t>(std::popcount(vote_.epoch().members()));
    // Fewer than are to train make no round without it.
    if (members < settings_.start_peers_min()) return false;
    return link.taken_in == link.process && link.taken_in_at == own_round_;
}

bool ElasticTraffic::hear_each_other(PeerIndex one, PeerIndex other) const {
    return links_[one].heard && links_[other].heard &&
           (links_[one].said.hears & peer_bit(other)) != 0 &&
           (links_[other].said.hears & peer_bit(one)) != 0;
}

std::optional<PeerSet> ElasticTraffic::wanted(Time now) {
    PeerSet next = 0;
    bool waits = false;
    if (vote_.epoch().number == 0) {
        next = founders(now);
        if (next == 0) return std::nullopt;
    } else {
        if (!vote_.member()) return std::nullopt;
        const View seen = view(now);
        if (!broken_ && !seen.broken && seen.gone == 0 && seen.entrants == 0) {
            wanted_since_.reset();
            return std::nullopt;
        }
        next = seen.there | seen.entrants;
        waits = (vote_.epoch().members() & ~seen.there & ~seen.gone) != 0;
    }
    if (!wanted_since_) wanted_since_ = now;
    if (waits) return std::nullopt;
    const bool waited = now - *wanted_since_ >= life_timeout_;
    for (PeerIndex one = 0; one < links_.size(); ++one) {
        for (PeerIndex other = one + 1; other < links_.size(); ++other) {
            const PeerSet both = peer_bit(one) | peer_bit(other);
            if ((next & both) != both || (both & peer_bit(settings_.self))) continue;
            if (hear_each_other(one, other)) continue;
            if (!waited) return std::nullopt;
            next &= ~peer_bit(other);
        }
    }
    return next;
}

PeerSet ElasticTraffic::founders(Time now) const {
    if (!epochs_.asks()) return 0;
    PeerSet found = peer_bit(settings_.self);
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        const Link& link = links_[peer];
        if (peer != settings_.self && link.up && link.heard && link.said.wants_in)
            found |= peer_bit(peer);
    }
    const auto count = static_cast<std::size_t>(std::popcount(found));
    if (count == links_.size()) return found;
    const bool waited = now - *first_poll_ >= settings_.times().start_wait;
    const std::size_t enough = std::max(settings_.start_peers_min(), settings_.majority());
    return waited && count >= enough ? found : 0;
}

bool ElasticTraffic::turn(Time now) {
    if (vote_.promised() != followed_) {
        followed_ = vote_.promised();
        followed_at_ = now;
    }
    int before = 0;
    for (PeerIndex peer = 0; peer < settings_.self; ++peer) {
        const Link& link = links_[peer];
        const bool votes = vote_.epoch().number == 0 || vote_.is(peer, link.process);
        if (votes && link.up) ++before;
    }
    if (now - *wanted_since_ < before * turn_) return false;
    if (!followed_.none() && now - followed_at_ < turn_) return false;  // its own or another's
    return true;
}

void ElasticTraffic::propose(PeerSet members, Time now) {
    Epoch next{vote_.epoch().number + 1, std::vector<std::uint64_t>(links_.size())};
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        if (!(members & peer_bit(peer))) continue;
        next.processes[peer] = peer == settings_.self ? settings_.process_id : links_[peer].process;
    }
    if (proposed_at_) turn_ = std::min(2 * turn_, std::max(life_timeout_, turn_first_));
    proposed_at_ = now;
    vote_.propose(std::move(next));
}

void ElasticTraffic::give_up_if_stuck(Time now) {
    if (!vote_.member() || !wanted_since_) return;
    board_.sign_came(now);
    if (now - *wanted_since_ < settings_.times().finish_timeout) return;
    over_ = true;
    mailbox_.break_off("the members that can be reached are not enough to go on without " +
                       names(vote_.epoch().members() & ~view(now).there) +
                       ", who may go on elsewhere");
}

std::string ElasticTraffic::names(PeerSet peers) const {
    std::string text;
    for (PeerIndex peer = 0; peer < links_.size(); ++peer)
        if (peers & peer_bit(peer)) text += (text.empty() ? "" : ", ") + name(peer);
    return text;
}

}  // namespace ako
