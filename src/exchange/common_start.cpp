#include "src/exchange/common_start.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <tuple>

#include "ako/assert.h"
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

std::string mixed_start_text(const std::vector<std::string>& going_on,
                             const std::vector<std::string>& anew) {
    return list_of(going_on) + (going_on.size() == 1 ? " goes" : " go") +
           " on from a checkpoint, " + list_of(anew) + (anew.size() == 1 ? " begins" : " begin") +
           " anew: start all of them with --resume, or none";
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
    std::vector<std::string> anew, going_on, kept;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const std::string& name = settings_.peer_names[peer];
        (offered(peer).empty() ? anew : going_on).push_back(name);
        kept.push_back(checkpoints_text(name, offered(peer)));
    }
    if (going_on.empty() || checkpoint()) return "";
    if (!anew.empty()) return mixed_start_text(going_on, anew);
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
    const Digest digest = sha256(text);
    std::uint64_t id = 0;
    for (std::size_t k = 0; k < sizeof id; ++k) id = id << 8 | digest[k];
    return id;
}

}  // namespace ako
