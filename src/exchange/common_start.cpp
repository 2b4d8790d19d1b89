#include "src/exchange/common_start.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <tuple>

#include "ako/assert.h"
#include "ako/mode_table.h"
#include "src/numbers/digest.h"

namespace ako {
namespace {

/// "a, b and c".
std::string list_of(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t k = 0; k < words.size(); ++k) {
        if (k > 0) text += k + 1 == words.size() ? " and " : ", ";
        text += words[k];
    }
    return text;
}

/// "a has round 40 and round 20 of start 3f2a": two peers that have the same round may have it of
/// different runs.
std::string checkpoints_text(const std::string& name, const std::vector<CheckpointId>& all) {
    std::vector<std::string> words;
    for (const CheckpointId& id : all) {
        std::array<char, 5> start{};
        std::snprintf(start.data(), start.size(), "%04x", static_cast<unsigned>(id.start >> 48));
        words.push_back("round " + std::to_string(id.round) + " of start " + start.data());
    }
    return name + " has " + list_of(words);
}

}  // namespace

bool has_made(const Status& status, PeerIndex peer) {
    return status.standing.progress[peer].round > 0 || status.rows[row_of(peer)].highest.round > 0;
}

bool begins_anew(const Status& status, PeerIndex peer) {
    return !status.start.resuming && !status.start.joining && !has_made(status, peer);
}

std::string mixed_start_text(const ModeSettings& settings, PeerSet going_on, PeerSet anew) {
    const auto subject = [&](PeerSet peers, const char* verb_of_one, const char* verb_of_many) {
        std::vector<std::string> names;
        for (PeerIndex peer = 0; peer < settings.peer_count(); ++peer)
            if (peers & peer_bit(peer)) names.push_back(settings.peer_names[peer]);
        return list_of(names) + (names.size() == 1 ? verb_of_one : verb_of_many);
    };
    const char* const copied = entry_of(settings.exchange).goes_on_together()
                                   ? "; who has no checkpoint goes on from a copy of another's, in "
                                     "the folder of its --resume"
                                   : "";
    return subject(going_on, " goes", " go") + " on from a checkpoint, " +
           subject(anew, " begins", " begin") + " anew: start all of them with --resume, or none" +
           copied;
}

std::vector<PeerIndex> CommonStart::silent() const {
    std::vector<PeerIndex> silent;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peer == settings_.self) continue;
        if (!roster_.reachable(peer) || !roster_[peer].heard) silent.push_back(peer);
    }
    return silent;
}

const std::vector<CheckpointId>& CommonStart::offered(PeerIndex peer) const {
    if (peer == settings_.self) return settings_.checkpoints;
    AKO_ASSERT(roster_[peer].status, "peer " + std::to_string(peer) + " has said nothing yet");
    return roster_[peer].status->start.checkpoints;
}

bool CommonStart::everybody_has(const CheckpointId& id) const {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peer == settings_.self) continue;
        const std::optional<Status>& said = roster_[peer].status;
        if (!said) return false;
        const std::vector<CheckpointId>& theirs = said->start.checkpoints;
        if (std::find(theirs.begin(), theirs.end(), id) == theirs.end()) return false;
    }
    return true;
}

// Everybody must come to the same, in whatever order it has them.
std::optional<CheckpointId> CommonStart::newest_of(const std::vector<CheckpointId>& own) const {
    std::optional<CheckpointId> newest;
    for (const CheckpointId& id : own) {
        const bool newer =
            !newest || std::tie(id.round, id.start) > std::tie(newest->round, newest->start);
        if (newer && everybody_has(id)) newest = id;
    }
    return newest;
}

std::string CommonStart::why_not() const {
    PeerSet anew = 0, going_on = 0;
    std::vector<std::string> kept;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        (offered(peer).empty() ? anew : going_on) |= peer_bit(peer);
        kept.push_back(checkpoints_text(settings_.peer_names[peer], offered(peer)));
    }
    if (going_on == 0 || checkpoint()) return "";
    if (anew != 0) return mixed_start_text(settings_, going_on, anew);
    std::string text = "no checkpoint is on the disks of all peers: ";
    for (const std::string& peer : kept) text += peer + "; ";
    return text + "begin anew, or from a saved model with --set model.initial=FILE";
}

std::uint64_t CommonStart::id() const {
    std::string text;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const bool own = peer == settings_.self;
        text += std::to_string(own ? settings_.process_id
                                   : roster_[peer].status->heartbeat.process_id) +
                " ";
    }
    return first_word(sha256(text));
}

}  // namespace ako
