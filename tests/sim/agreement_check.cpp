// See agreement_check.h.
#include "tests/sim/agreement_check.h"

#include <algorithm>
#include <bit>
#include <string>

namespace ako::sim {
namespace {

std::string name(const AkoPeer& peer) { return "peer " + std::to_string(peer.settings.self); }

std::string text(Version version) {
    return "round " + std::to_string(version.round) + " of life " +
           std::to_string(version.incarnation);
}

std::string text(CutId cut) {
    return "{" + std::to_string(cut.number) + ", " + std::to_string(cut.proposer) + "}";
}

}  // namespace

// ---- what is said

void AgreementCheck::arrived(const AkoPeer& to, const Header& header) {
    if (const auto* row = std::get_if<CutRow>(&header)) learn_map(*row);
    if (const auto* status = std::get_if<Status>(&header)) learn_of_earlier(to, *status);
}

void AgreementCheck::leaves(const AkoPeer& from, const Header& header) {
    if (const auto* prepare = std::get_if<Prepare>(&header)) {
        proposed_[&from] = prepare->ballot;
        if (prepare->regains) asked_for_vote_[&from] = prepare->ballot;
    }
    if (const auto* promise = std::get_if<Promise>(&header)) note_promised(from, *promise);
    if (const auto* accept = std::get_if<Accept>(&header)) {
        if (apart_ballots_.contains(accept->ballot)) note_apart(accept->cut);
    }
    if (const auto* accepted = std::get_if<Accepted>(&header)) note_accepted(from, accepted->cut);
}

void AgreementCheck::learn_map(const CutRow& row) {
    RowMap versions;
    for (const VersionRun& run : row.runs) {
        versions.insert(versions.end(), run.count, run.version);
    }
    const auto [known, is_new] = maps_.emplace(std::pair{row.cut, row.row}, versions);
    if (!is_new && known->second != versions) {
        throw Violation("I8: two maps of cut " + text(row.cut) + ", row " +
                        std::to_string(row.row.place()));
    }
}

void AgreementCheck::learn_of_earlier(const AkoPeer& to, const Status& status) {
    if (status.rows.empty()) return;
    const Incarnation said = status.rows[row_of(to.settings.self)].highest.incarnation;
    if (said != 0 && said != to.incarnation()) told_.insert(&to);
    const bool may_vote = to.half.round() > 0 || to.half.agreement().begun();
    if (status.standing.progress[to.settings.self].round > to.half.round()) told_.insert(&to);
    const bool voted = (status.vote.may_have_voted & peer_bit(to.settings.self)) != 0;
    if (voted && !may_vote) told_.insert(&to);
}

// ---- what is done

bool AgreementCheck::forgot_unknowingly(const AkoPeer& peer) const {
    if (told_.contains(&peer)) return false;
    const auto& processes = cluster_.processes();
    const auto began = began_.find(&peer);
    return std::any_of(processes.begin(), processes.end(), [&](const auto& other) {
        const auto voted = voted_.find(other.get());
        return other.get() != &peer && other->settings.self == peer.settings.self &&
               voted != voted_.end() && began != began_.end() && voted->second <= began->second;
    });
}

bool AgreementCheck::has_double(const AkoPeer& peer) const {
    const auto began = began_.find(&peer);
    return std::any_of(voted_.begin(), voted_.end(), [&](const auto& vote) {
        const auto& [other, at] = vote;
        if (other == &peer || other->settings.self != peer.settings.self) return false;
        const auto other_began = began_.find(other);
        const bool both_began = began != began_.end() && other_began != began_.end();
        // The younger began before the last vote of the older.
        return both_began && (other_began->second > began->second || at >= began->second);
    });
}

bool AgreementCheck::votes_apart(const AkoPeer& peer) const {
    if (forgot_unknowingly(peer) || has_double(peer)) return true;
    const auto asked = asked_for_vote_.find(&peer);
    return asked != asked_for_vote_.end() && apart_ballots_.contains(asked->second);
}

void AgreementCheck::note_promised(const AkoPeer& peer, const Promise& promise) {
    if (!promise.has_vote) return;
    voted_[&peer] = cluster_.world().now();
    if (votes_apart(peer)) apart_ballots_.insert(promise.ballot);
}

void AgreementCheck::note_accepted(const AkoPeer& peer, CutId cut) {
    accepted_by_[cut] |= peer_bit(peer.settings.self);
    voted_[&peer] = cluster_.world().now();
    if (votes_apart(peer)) note_apart(cut);
}

void AgreementCheck::note_apart(CutId cut) {
    if (apart_.insert(cut).second) coverage_.saw(Event::apart);
}

void AgreementCheck::stepped(const AkoPeer& peer) {
    const Finish& finish = peer.half.agreement();
    began_.try_emplace(&peer, cluster_.world().now());
    if (!finish.has_vote()) told_.insert(&peer);
    CutId& accepted = accepted_[&peer];
    if (accepted != finish.accepted()) {
        accepted = finish.accepted();
        if (!accepted.none()) note_accepted(peer, accepted);
    }
    if (!finish.decided().none()) decided_.insert(finish.decided());
    std::vector<CutId> cuts;
    std::set_difference(decided_.begin(), decided_.end(), apart_.begin(), apart_.end(),
                        std::back_inserter(cuts));
    if (cuts.size() > 1) {
        throw Violation("I8: two cuts were decided, " + text(cuts[0]) + " and " + text(cuts[1]));
    }
    if (finish.adopted()) return;
    // What it took over with its vote, it may still have to pull.
    const auto by = accepted_by_.find(accepted);
    const auto proposed = proposed_.find(&peer);
    if (by != accepted_by_.end() && finish.has_vote()) check_holds(peer, accepted, "accepted");
    if (proposed != proposed_.end()) check_holds(peer, proposed->second, "proposed");
}

void AgreementCheck::check_holds(const AkoPeer& peer, CutId cut, const char* why) const {
    for (const RowIndex row : AllRows(cluster_.size())) {
        const auto map = maps_.find({cut, row});
        if (map == maps_.end()) continue;  // nobody has asked for it yet
        for (BlockIndex block = 0; block < map->second.size(); ++block) {
            if (!peer.half.agreement().find(row, block, map->second[block]).values.empty())
                continue;
            throw Violation("I8: " + name(peer) + " has " + why + " the cut " + text(cut) +
                            " and does not hold its row " + std::to_string(row.place()) +
                            ", block " + std::to_string(block));
        }
    }
}

void AgreementCheck::adopted(const AkoPeer& peer) {
    const CutId decided = peer.half.agreement().decided();
    for (const auto& [id, versions] : maps_) {
        if (id.first != decided) continue;
        for (BlockIndex block = 0; block < versions.size(); ++block) {
            if (peer.half.rows().ledger().version(id.second, block) == versions[block]) continue;
            throw Violation("I8: " + name(peer) + " has adopted something else than the cut " +
                            text(decided) + ": of row " + std::to_string(id.second.place()) +
                            ", block " + std::to_string(block) + " " +
                            text(peer.half.rows().ledger().version(id.second, block)) +
                            " instead of " + text(versions[block]));
        }
    }
}

// ---- at the end

void AgreementCheck::ended() const {
    for (const auto& process : cluster_.processes()) {
        const auto& peer = static_cast<const AkoPeer&>(*process);
        if (!peer.report || !peer.report->agreed) continue;
        const auto by = accepted_by_.find(peer.half.agreement().decided());
        const PeerSet names = by == accepted_by_.end() ? 0 : by->second;
        if (static_cast<std::size_t>(std::popcount(names)) >= majority()) continue;
        throw Violation("I8: " + name(peer) + " claims an agreement that " +
                        std::to_string(std::popcount(names)) + " of " +
                        std::to_string(cluster_.size()) + " peers made");
    }
}

}  // namespace ako::sim
