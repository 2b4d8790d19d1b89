// See joining_check.h.
#include "tests/sim/joining_check.h"

#include <algorithm>
#include <string>

#include "src/exchange/incarnation.h"
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
    if (word.versions.empty()) word.versions = PerRow<std::vector<VersionRun>>(cluster_.size());
    if (word.session != session) word.first.clear();
    word.session = session;
    if (versions != nullptr) {
        // It asks again what is not answered in time, and takes the first answer.
        auto& runs = word.versions[versions->row];
        if (runs.empty()) runs = versions->runs;
        return;
    }
    if (word.first.empty()) word.first = status->rows;
    if (is_new) word.trained_before = status->standing.progress[from.settings.self].round > 0;
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
        if (said == nullptr || said->first.empty()) continue;
        // A process that has said that it leaves gives nothing any more.
        const SimNetwork& network = cluster_.network();
        if (network.said_bye(*other.transport.end(), *peer.transport.end())) continue;
        found.push_back(&other);
    }
    return found;
}

// ---- joining

void JoiningCheck::drained(const AkoPeer& peer) {
    State& state = states_[&peer];
    const bool joining = peer.joining();
    if (!joining) return state.joining_since.reset();
    state.joined = true;
    if (state.joining_since) return;
    state.joining_since = cluster_.world().now();
    for (auto& [from, word] : state.words) word.versions.clear();  // it asks anew
}

bool JoiningCheck::ran_out_of_patience(const AkoPeer& peer) const {
    const auto state = states_.find(&peer);
    if (state == states_.end() || !state->second.joining_since) return false;
    return cluster_.world().now() - *state->second.joining_since >= finish_timeout / 2;
}

const AkoPeer* JoiningCheck::some_holder(const AkoPeer& peer) const {
    const RowIndex row = row_of(peer.settings.self);
    for (const auto& process : cluster_.processes()) {
        const auto& other = static_cast<const AkoPeer&>(*process);
        if (&other == &peer || other.over() || !other.begun) continue;
        if (other.half.rows().ledger().held(row).highest.round > 0) return &other;
    }
    return nullptr;
}

// Called before `drained` of the same step.
void JoiningCheck::claimed(const AkoPeer& peer, const Invariants::Sources& sources, bool stops) {
    const PeerIndex self = peer.settings.self;
    const bool fresh = begins(peer.incarnation());
    coverage_.saw(Event::joined, !fresh);
    coverage_.saw(Event::fresh_start, fresh && history_.made_rounds(self));
    // What a first round adds may round to nothing, so that either may explain the block.
    const bool of_nothing = std::all_of(sources.begin(), sources.end(), [](const auto& block) {
        return std::all_of(block.begin(), block.end(), [](Version it) { return it == Version{}; });
    });
    const AkoPeer* with = of_nothing ? some_holder(peer) : nullptr;
    if (!fresh && with != nullptr) {
        throw Violation(
            "I1: " + name(peer) + " takes the place of a row of which it has nothing, " + "and " +
            name(*with) + " has " + text(with->half.rows().ledger().held(row_of(self)).highest) +
            "; lives: " + history_.text(self));
    }
    const AkoPeer* holder_of_row = peer.half.round() == 0 ? some_holder(peer) : nullptr;
    for (const std::vector<Version>& block : sources) {
        const bool of_rounds = std::all_of(block.begin(), block.end(),
                                           [](Version version) { return version.round > 0; });
        if (fresh || holder_of_row == nullptr || !of_rounds) continue;
        throw Violation("I1: " + name(peer) + " takes the place of a row at round 0 that has " +
                        text(block.front()) + " in it; lives: " + history_.text(self));
    }
    if (ran_out_of_patience(peer)) return;
    const RowIndex own = row_of(self);
    for (const AkoPeer* holder : reached(peer)) {
        check_claim(peer, *holder, sources);
        if (stops || !states_[&peer].joining_since) continue;
        for (const RowIndex row : peer.half.rows().ledger().all()) {
            if (row != own) check_holds(peer, *holder, row);
        }
    }
}

std::vector<Version> JoiningCheck::expected_of(const Word& said, RowIndex row, bool also_first,
                                               std::size_t block_count) {
    std::vector<Version> expected;
    if (!said.versions.empty()) {
        for (const VersionRun& run : said.versions[row]) {
            expected.insert(expected.end(), run.count, run.version);
        }
    }
    if (expected.empty()) {
        expected.assign(block_count, also_first ? said.first[row].lowest : Version{});
    }
    return expected;
}

void JoiningCheck::check_claim(const AkoPeer& peer, const AkoPeer& holder,
                               const Invariants::Sources& sources) const {
    const RowIndex row = row_of(peer.settings.self);
    const Word& said = *word(peer, holder);
    const std::vector<Version> expected = expected_of(said, row, true, sources.size());
    for (BlockIndex block = 0; block < sources.size(); ++block) {
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
    // Where nothing was lacking it may have joined within one step, which nobody saw.
    if (state.joined || peer.half.round() > 1) return;
    for (const AkoPeer* other : reached(peer)) {
        if (!word(peer, *other)->trained_before) continue;
        throw Violation(name(peer) + " begins at zero, although " + name(*other) +
                        " has told it of a run");
    }
}

void JoiningCheck::check_holds(const AkoPeer& peer, const AkoPeer& holder, RowIndex row) const {
    const Ledger& ledger = peer.half.rows().ledger();
    const Word& said = *word(peer, holder);
    const bool owner = owner_of(row) == holder.settings.self;
    const std::vector<Version> expected = expected_of(said, row, owner, ledger.blocks().count());
    for (BlockIndex block = 0; block < expected.size(); ++block) {
        const Version held = ledger.version(row, block);
        // Rows of one name that were begun apart do not take each other's place.
        const bool apart = begins(expected[block].incarnation) && begins(held.incarnation) &&
                           expected[block].incarnation != held.incarnation;
        if (held >= expected[block] || apart) continue;
        if (ledger.begun_apart(row, expected[block].incarnation)) continue;
        throw Violation(name(peer) + " goes on with " + text(held) + " of row " +
                        std::to_string(row.place()) + ", block " + std::to_string(block) +
                        ", of which " + name(holder) + " has announced " + text(expected[block]));
    }
}

}  // namespace ako::sim
