#include "src/results/left_peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/results/number_text.h"
#include "src/results/renamed_key.h"

namespace ako {

using nlohmann::ordered_json;

std::string left_peer_text(const LeftPeer& left) {
    std::string text =
        left.farewell.failed()
            ? left.peer + " " + ended_and_stays_text(left.farewell, left.rounds)
            : fmt::format("{} left at {:.0f} % of the budget, after {} rounds", left.peer,
                          std::floor(100 * left.at), grouped(left.rounds));
    if (left.unseen() == 0) return text;
    return text + fmt::format(": {} of the {} samples in its data shard were never seen",
                              grouped(left.unseen()), grouped(left.samples));
}

void merge_left_peers(std::vector<LeftPeer>& known, const std::vector<LeftPeer>& heard) {
    for (const LeftPeer& left : heard) {
        const auto same = std::find_if(known.begin(), known.end(),
                                       [&](const auto& it) { return it.peer == left.peer; });
        if (same == known.end())
            known.push_back(left);
        else if (left.rounds > same->rounds)
            *same = left;
    }
}

ordered_json left_peers_json(const std::vector<LeftPeer>& left) {
    ordered_json list = ordered_json::array();
    for (const LeftPeer& it : left) {
        ordered_json& entry = list.emplace_back();
        entry = {{"peer", it.peer}, {"rounds", it.rounds}, {"at", it.at}};
        const bool apart = it.samples > 0;
        entry["samples"] = apart ? ordered_json(it.samples) : ordered_json(nullptr);
        entry["seen"] = apart ? ordered_json(it.seen) : ordered_json(nullptr);
        entry["unseen"] = apart ? ordered_json(it.unseen()) : ordered_json(nullptr);
        entry["cause"] = word(it.farewell.cause);
        entry["since"] = it.farewell.since;
        entry["why"] = it.farewell.why;
    }
    return list;
}

std::vector<LeftPeer> left_peers_from(const ordered_json& json) {
    std::vector<LeftPeer> left;
    for (const ordered_json& entry : json) {
        LeftPeer& it = left.emplace_back();
        it.peer = entry.at("peer");
        it.rounds = entry.at("rounds");
        it.at = entry.at("at");
        const ordered_json& samples = entry.at(key_in(entry, "samples"));
        if (!samples.is_null()) it.samples = samples;
        if (!entry.at("seen").is_null()) it.seen = entry.at("seen");
        it.farewell = {end_cause_of(entry.at("cause").get<std::string>()), entry.at("since"),
                       entry.at("why")};
    }
    return left;
}

}  // namespace ako
