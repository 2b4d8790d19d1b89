// See finish.h.
#include "src/finish.h"

#include <algorithm>
#include <bit>

#include "ako/assert.h"

namespace ako {
namespace {

/// Nothing was ever made in round 0, so its row is the zero row that everybody starts with.
Version version_of(Round round, std::uint32_t incarnation) {
    return round == 0 ? Version{} : Version{incarnation, round};
}

}  // namespace

Finish::Finish(Ledger& ledger, const Membership& membership, Send send, FinishTimes times)
    : ledger_(ledger),
      membership_(membership),
      send_(std::move(send)),
      times_(times),
      agreement_(membership.self(), membership.peer_count()) {
    for (PeerIndex row = 0; row < membership.peer_count(); ++row) {
        pullers_.emplace_back(row, ledger.blocks().count(), times.ask);
    }
}

void Finish::begin(Time now) {
    begun_at_ = now;
    heard_at_ = now;
}

// ---- what is held

bool Finish::holds(PeerIndex row, BlockIndex block, Version version) const {
    return ledger_.version(row, block) == version || store_.find(row, block, version) != nullptr;
}

Finish::HeldBlock Finish::find(PeerIndex row, BlockIndex block, Version version) const {
    if (ledger_.version(row, block) == version) {
        return {ledger_.block(row, block), ledger_.checksum(row, block)};
    }
    if (const CutStore::Block* kept = store_.find(row, block, version)) {
        return {kept->values, kept->checksum};
    }
    return {};
}

bool Finish::take(PeerIndex row, BlockIndex block, Version version, std::span<const float> values,
                  std::uint32_t checksum, Time now) {
    if (adopted() || holds(row, block, version)) return false;
    const auto names_it = [&](CutId cut) {
        const auto found = maps_.find(cut);
        return found != maps_.end() && found->second.complete() &&
               found->second.version(row, block) == version;
    };
    const bool wanted = agreement_.decided().none()
                            ? agreement_.pending() && names_it(agreement_.pending()->cut)
                            : names_it(agreement_.decided());
    if (!wanted) return false;
    pullers_[row].arrived(1, now);
    heard_at_ = block_at_ = now;
    if (!frozen_ && version > ledger_.version(row, block)) return false;  // goes into the ledger
    store_.put(row, block, version, values, checksum);
    return true;
}

// ---- pulling a cut

PeerSet Finish::holders_of(CutId cut) const {
    PeerSet holders = peer_bit(cut.proposer);
    if (agreement_.pending()) holders |= peer_bit(agreement_.pending()->ballot.proposer);
    for (PeerIndex peer = 0; peer < membership_.peer_count(); ++peer) {
        const std::optional<Status>& status = membership_[peer].status;
        if (status && (status->accepted == cut || status->decided == cut))
            holders |= peer_bit(peer);
    }
    return holders & membership_.reached();
}

const CutMap* Finish::map_of(CutId cut, Time now) {
    const auto found = maps_.find(cut);
    if (found != maps_.end() && found->second.complete()) return &found->second;
    if (map_asked_at_ && now < *map_asked_at_ + times_.ask) return nullptr;
    PeerSet holders = holders_of(cut);
    if ((holders & ~map_asked_) == 0) map_asked_ = 0;
    holders &= ~map_asked_;
    if (holders == 0) return nullptr;
    const auto holder = static_cast<PeerIndex>(std::countr_zero(holders));
    map_asked_ |= peer_bit(holder);
    map_asked_at_ = now;
    send_(holder, WantCut{cut});
    return nullptr;
}

bool Finish::pull(CutId cut, Time now) {
    const CutMap* map = map_of(cut, now);
    if (map == nullptr) return false;
    bool complete = true;
    for (PeerIndex row = 0; row < ledger_.peer_count(); ++row) {
        const auto lacking = [&](BlockIndex block) -> std::optional<Version> {
            const Version version = map->version(row, block);
            if (holds(row, block, version)) return std::nullopt;
            return version;
        };
        bool row_complete = true;
        for (BlockIndex block = 0; block < ledger_.blocks().count() && row_complete; ++block) {
            row_complete = !lacking(block).has_value();
        }
        if (row_complete) continue;
        complete = false;
        // What its owner is still streaming comes by itself.
        if (membership_.reachable(row) && now < block_at_ + times_.ask) continue;
        if (auto ask = pullers_[row].step(now, holders_of(cut), true, lacking)) {
            send_(ask->holder, std::move(ask->want));
        }
    }
    return complete;
}

// ---- proposing

bool Finish::settled(PeerIndex row) const {
    for (PeerIndex peer = 0; peer < membership_.peer_count(); ++peer) {
        if (peer == membership_.self() || !membership_.reachable(peer)) continue;
        const std::optional<Status>& status = membership_[peer].status;
        if (!status || status->rows[row].map_checksum != ledger_.held(row).map_checksum)
            return false;
    }
    return true;
}

bool Finish::complete() const {
    for (PeerIndex row = 0; row < membership_.peer_count(); ++row) {
        const PeerView& view = membership_[row];
        if (row == membership_.self()) continue;
        if (!view.live()) {
            if (!settled(row)) return false;
            continue;
        }
        if (!view.final_round) return false;
        if (ledger_.held(row).lowest != version_of(*view.final_round, view.incarnation))
            return false;
    }
    return true;
}

bool Finish::may_propose(Time now) const {
    if (!begun() || !agreement_.decided().none()) return false;
    const bool first = membership_.lowest_live() == membership_.self();
    const Time quiet = now - heard_at_;
    // Stagger by place, so that two who lost patience together do not outbid each other for ever.
    const Time patience =
        (times_.exchange / 4 + times_.ask * membership_.self()) * (1 << std::min(proposals_, 4u));
    if (agreement_.outstanding()) return quiet > patience;
    if (first && complete()) return true;
    const Time waited = now - *begun_at_;
    return waited > times_.exchange && (first || quiet > patience);
}

void Finish::propose(Time now) {
    frozen_ = true;
    ++proposals_;
    const Ballot ballot = agreement_.propose();
    maps_.erase(ballot);
    maps_.emplace(ballot, CutMap::of(ledger_));
    heard_at_ = now;
    asked_.reset();
}

void Finish::push_agreement(Time now) {
    const std::optional<Header> question = agreement_.outstanding();
    if (!question) return;
    const bool is_new = !asked_ || *asked_ != *question;
    if (!is_new && now < *asked_at_ + times_.ask) return;
    asked_ = question;
    asked_at_ = now;
    for (PeerIndex peer = 0; peer < membership_.peer_count(); ++peer) {
        if (agreement_.answered(peer)) continue;
        if (peer == membership_.self()) {
            deliver(peer, *question, now);
        } else if (membership_.reachable(peer)) {
            send_(peer, *question);
        }
    }
}

void Finish::deliver(PeerIndex to, Header header, Time now) {
    if (to == membership_.self()) {
        handle(to, header, now);
    } else {
        send_(to, std::move(header));
    }
}

// ---- messages

void Finish::handle(PeerIndex from, const Header& header, Time now) {
    const auto state = [&] {
        return std::tuple(agreement_.highest_seen(), agreement_.outstanding(),
                          agreement_.answered(from), agreement_.pending(), agreement_.accepted(),
                          agreement_.decided());
    };
    const auto before = state();
    handle_message(from, header, now);
    // What only repeats itself moves nothing on: a proposer that was outbid asks again and is
    // refused again, and if that counted, nobody would ever lose patience and propose anew.
    if (from != membership_.self() &&
        (state() != before || std::holds_alternative<CutRow>(header))) {
        heard_at_ = now;
    }
}

void Finish::handle_message(PeerIndex from, const Header& header, Time now) {
    if (const auto* prepare = std::get_if<Prepare>(&header)) {
        deliver(from, agreement_.on_prepare(*prepare), now);
    } else if (const auto* promise = std::get_if<Promise>(&header)) {
        agreement_.on_promise(from, *promise);
    } else if (const auto* accept = std::get_if<Accept>(&header)) {
        if (agreement_.on_accept(*accept)) {
            map_asked_at_.reset();
            try_accept(now);
        }
    } else if (const auto* accepted = std::get_if<Accepted>(&header)) {
        agreement_.on_accepted(from, *accepted);
    } else if (const auto* want = std::get_if<WantCut>(&header)) {
        const auto found = maps_.find(want->cut);
        if (found == maps_.end() || !found->second.complete()) return;
        for (PeerIndex row = 0; row < ledger_.peer_count(); ++row) {
            send_(from, CutRow{want->cut, row, found->second.runs(row)});
        }
    } else if (const auto* row = std::get_if<CutRow>(&header)) {
        block_at_ = now;
        map_asked_at_ = now;  // the rest is on its way
        if (!maps_.contains(row->cut) && maps_.size() >= maps_max) maps_.erase(maps_.begin());
        maps_.try_emplace(row->cut, ledger_.peer_count(), ledger_.blocks().count())
            .first->second.set_row(row->row, row->runs);
    }
}

void Finish::try_accept(Time now) {
    if (!begun()) return;  // one more round would replace what was accepted
    const std::optional<Accept> pending = agreement_.pending();
    if (!pending || !pull(pending->cut, now)) return;
    frozen_ = true;  // what was accepted must stay held
    deliver(pending->ballot.proposer, agreement_.accept_pending(), now);
}

void Finish::step(Time now) {
    for (PeerIndex peer = 0; peer < membership_.peer_count(); ++peer) {
        const std::optional<Status>& status = membership_[peer].status;
        if (status && !status->decided.none()) agreement_.learn(status->decided);
    }
    if (adopted() || !begun()) return;
    if (agreement_.decided().none()) {
        if (may_propose(now)) propose(now);
        push_agreement(now);
        try_accept(now);
        push_agreement(now);  // a majority of one, or the answers just given, may have moved it on
    }
    if (!agreement_.decided().none()) {
        frozen_ = true;
        ready_to_adopt_ = pull(agreement_.decided(), now);
    }
}

void Finish::adopt_cut(Time now) {
    AKO_ASSERT(ready_to_adopt_, "the cut is not complete");
    const CutMap& map = maps_.at(agreement_.decided());
    ledger_.detach_own();
    for (PeerIndex row = 0; row < ledger_.peer_count(); ++row) {
        for (BlockIndex block = 0; block < ledger_.blocks().count(); ++block) {
            const Version version = map.version(row, block);
            if (ledger_.version(row, block) == version) continue;
            const CutStore::Block* kept = store_.find(row, block, version);
            AKO_ASSERT(kept != nullptr, "a block of the cut is neither here nor there");
            ledger_.adopt(row, block, version, kept->values, kept->checksum);
        }
    }
    store_.clear();
    ready_to_adopt_ = false;
    adopted_at_ = now;
}

bool Finish::done(Time now, bool hurried) const {
    if (!adopted()) return false;
    if (now > adopted_at_ + times_.linger) return true;
    for (PeerIndex peer = 0; peer < membership_.peer_count(); ++peer) {
        const PeerView& view = membership_[peer];
        if (peer == membership_.self() || view.presence == Presence::left) continue;
        if (view.presence == Presence::absent) continue;  // it never trained
        if (hurried && !view.live()) continue;
        if (!view.status || !view.status->digest)
            return false;  // a lost one may come back for the cut
    }
    return true;
}

}  // namespace ako
