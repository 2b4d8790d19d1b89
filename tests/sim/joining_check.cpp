// See joining_check.h.
#include "tests/sim/joining_check.h"

#include <algorithm>
#include <string>

#include "src/group/incarnation.h"
#include "tests/sim/sim_times.h"

namespace ako::sim {
namespace {

std::string name(const AkoPeer& peer) { return "peer " + std::to_string(peer.settings.self); }

std::string text(Version version) {
    return "round " + std::to_string(version.round) + " of life " +
           std::to_string(lives_before(version.incarnation));
}

/// Is what is said to be there in what a claim was made of?
bool covered(Version said, const std::vector<Version>& sources) {
    return std::any_of(sources.begin(), sources.end(), [said](Version source) {
        if (begins(said.incarnation) && begins(source.incarnation)) {
            return source.incarnation == said.incarnation && source.round >= said.round;
        }
        return source >= said;
    });
}

}  // namespace

// ---- what is said

void JoiningCheck::arrived(const AkoPeer& from, const AkoPeer& to, const Header& header) {
    const auto* status = std::get_if<Status>(&header);
    const auto* versions = std::get_if<Versions>(&header);
    if (status == nullptr && versions == nullptr) return;
    const auto [place, is_new] = states_[&to].words.try_emplace(&from);
    Word& word = place->second;
    const std::uint64_t session =
        cluster_.network().session(*from.transport.end(), *to.transport.end());
    if (word.versions.empty() || word.session != session) {
        word.session = session;
        word.first.clear();
        word.versions = PerRow<std::vector<VersionRun>>(cluster_.size());
    }
    if (versions != nullptr) {
        // It asks again what is not answered in time, and takes the first answer.
        auto& runs = word.versions[versions->row];
        if (runs.empty()) runs = versions->runs;
        return;
    }
    if (word.first.empty()) word.first = status->rows;
    if (is_new) word.trained_before = status->progress[from.settings.self].round > 0;
}

const JoiningCheck::Word* JoiningCheck::word(const AkoPeer& peer, const AkoPeer& from) const {
    const auto state = states_.find(&peer);
    if (state == states_.end() || !from.begun) return nullptr;
    const auto found = state->second.words.find(&from);
    if (found == state->second.words.end()) return nullptr;
    const EndIndex here = *peer.transport.end();
    const EndIndex there = *from.transport.end();
    const SimNetwork& network = cluster_.network();
    if (!network.joined(here, there) || network.session(here, there) != found->second.session) {
        return nullptr;
    }
    return &found->second;
}

std::vector<const AkoPeer*> JoiningCheck::reached(const AkoPeer& peer) const {
    std::vector<const AkoPeer*> found;
    for (const auto& process : cluster_.processes()) {
        const auto& other = static_cast<const AkoPeer&>(*process);
        const Word* said = word(peer, other);
        if (said != nullptr && !said->first.empty()) found.push_back(&other);
    }
    return found;
}

// ---- joining

void JoiningCheck::drained(const AkoPeer& peer) {
    State& state = states_[&peer];
    const bool joining = peer.joining();
    if (joining && !state.joining_since) state.joining_since = cluster_.world().now();
    if (joining) state.joined = true;
    if (!joining && state.joining_since) {
        state.out_of_patience = ran_out_of_patience(peer);
        state.joined_at = cluster_.world().now();
        state.joining_since.reset();
        state.trained = false;
    }
}

bool JoiningCheck::ran_out_of_patience(const AkoPeer& peer) const {
    const State& state = states_.at(&peer);
    const Time since = state.joining_since.value_or(Time::max());
    return state.joining_since && cluster_.world().now() - since >= finish_timeout / 2;
}

// Called before `drained` of the same step.
void JoiningCheck::claimed(const AkoPeer& peer, const Invariants::Sources& sources) {
    const PeerIndex self = peer.settings.self;
    const bool fresh = begins(peer.incarnation());
    coverage_.saw(Event::joined, !fresh);
    coverage_.saw(Event::fresh_start, fresh && history_.made_rounds(self));
    if (ran_out_of_patience(peer)) return;
    for (const AkoPeer* holder : reached(peer)) check_claim(peer, *holder, sources);
}

void JoiningCheck::check_claim(const AkoPeer& peer, const AkoPeer& holder,
                               const Invariants::Sources& sources) const {
    const RowIndex row = row_of(peer.settings.self);
    const Word& said = *word(peer, holder);
    std::vector<Version> expected(sources.size(), said.first[row].lowest);
    BlockIndex block = 0;
    for (const VersionRun& run : said.versions[row]) {
        for (BlockIndex k = 0; k < run.count; ++k) expected[block++] = run.version;
    }
    for (block = 0; block < sources.size(); ++block) {
        if (expected[block] == Version{} || covered(expected[block], sources[block])) continue;
        throw Violation("I1: " + name(peer) + " claims a row without " + text(expected[block]) +
                        " of block " + std::to_string(block) + ", of which " + name(holder) +
                        " has told it");
    }
}

// ---- the first round after that

void JoiningCheck::trains(const AkoPeer& peer) {
    State& state = states_[&peer];
    if (std::exchange(state.trained, true)) return;
    for (const AkoPeer* other : reached(peer)) {
        if (!state.joined && word(peer, *other)->trained_before) {
            throw Violation(name(peer) + " begins at zero, although " + name(*other) +
                            " has told it of a run");
        }
        if (!state.joined_at || state.out_of_patience) continue;
        for (const RowIndex row : peer.half.ledger().all()) {
            if (row != peer.half.ledger().own()) check_holds(peer, *other, row);
        }
    }
}

void JoiningCheck::check_holds(const AkoPeer& peer, const AkoPeer& holder, RowIndex row) const {
    const Ledger& ledger = peer.half.ledger();
    const Word& said = *word(peer, holder);
    const bool owner = owner_of(row) == holder.settings.self;
    std::vector<Version> expected(ledger.blocks().count());
    // Its first Status may have been made after it told its versions.
    const bool told = !said.versions[row].empty();
    if (owner && !told) expected.assign(expected.size(), said.first[row].lowest);
    BlockIndex block = 0;
    for (const VersionRun& run : said.versions[row]) {
        for (BlockIndex k = 0; k < run.count; ++k) expected[block++] = run.version;
    }
    for (block = 0; block < expected.size(); ++block) {
        const Version held = ledger.version(row, block);
        // Rows of one name that were begun apart do not take each other's place.
        const bool apart = begins(expected[block].incarnation) && begins(held.incarnation) &&
                           expected[block].incarnation != held.incarnation;
        if (held >= expected[block] || apart) continue;
        throw Violation(name(peer) + " trains with " + text(held) + " of row " +
                        std::to_string(row.place()) + ", block " + std::to_string(block) +
                        ", of which " + name(holder) + " has announced " + text(expected[block]));
    }
}

}  // namespace ako::sim
