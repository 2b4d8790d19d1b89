// See network_profile.h.
#include "src/predict/network_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ako/assert.h"
#include "ako/clock.h"
#include "ako/error.h"

namespace ako {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* network_format = "ako network 1";
constexpr const char* check_again = "measure it again: ako check FILE --network";

double mbit(double bytes_per_s) { return bytes_per_s * 8 / 1e6; }

/// Three digits: what is measured is not known better.
std::string carried(double rate) {
    return rate >= 1000 ? fmt::format("{:.0f}", rate) : fmt::format("{:.3g}", rate);
}

void require_all_links(const NetworkProfile& network, const std::string& file) {
    for (const auto& [from, its_address] : network.peers) {
        for (const auto& [to, address] : network.peers) {
            const auto is_between = [&from = from, &to = to](const NetworkProfile::Link& link) {
                return link.from == from && link.to == to && link.both_mbit > 0 && link.mbit > 0 &&
                       link.round_trip_ms >= 0;
            };
            if (from != to && std::none_of(network.links.begin(), network.links.end(), is_between))
                throw StartupError(
                    fmt::format("{}: lacks what {} sends to {}", file, from, to), check_again);
        }
    }
}

}  // namespace

const NetworkProfile::Peer* NetworkProfile::find(const std::string& peer) const {
    const auto found = std::find_if(peers.begin(), peers.end(),
                                    [&](const Peer& it) { return it.name == peer; });
    return found == peers.end() ? nullptr : &*found;
}

const NetworkProfile::Link& NetworkProfile::between(const std::string& from,
                                                    const std::string& to) const {
    const auto found = std::find_if(links.begin(), links.end(), [&](const Link& link) {
        return link.from == from && link.to == to;
    });
    AKO_ASSERT(found != links.end(), "no link of these two");
    return *found;
}

MachineLink NetworkProfile::of(const std::string& peer) const {
    MachineLink most;
    for (const Link& link : links) {
        if (link.from == peer) most.egress_mbit = std::max(most.egress_mbit, link.both_mbit);
        if (link.to == peer) most.ingress_mbit = std::max(most.ingress_mbit, link.both_mbit);
    }
    return most;
}

double NetworkProfile::latency_s() const {
    std::vector<double> round_trips;
    for (const Link& link : links) round_trips.push_back(link.round_trip_ms / 1e3);
    if (round_trips.empty()) return 0;
    const auto middle = round_trips.begin() + static_cast<std::ptrdiff_t>(round_trips.size() / 2);
    std::nth_element(round_trips.begin(), middle, round_trips.end());
    return *middle / 2;
}

NetworkProfile network_profile(const Settings& settings, const std::vector<PairFigures>& pairs) {
    NetworkProfile network;
    for (const PeerSettings& peer : settings.peers)
        network.peers.push_back({peer.name, peer.address});
    network.egress_mbit_max = settings.exchange.egress_mbit_max.value_or(0);
    for (const PairFigures& pair : pairs) {
        const std::string& asker = settings.peers[pair.asker].name;
        const std::string& asked = settings.peers[pair.asked].name;
        const double round_trip_ms = seconds_of(pair.round_trip) * 1e3;
        network.links.push_back(
            {asker, asked, mbit(pair.there), mbit(pair.there_both), round_trip_ms});
        network.links.push_back(
            {asked, asker, mbit(pair.back), mbit(pair.back_both), round_trip_ms});
    }
    return network;
}

std::string network_text(const NetworkProfile& network) {
    using Peer = NetworkProfile::Peer;
    std::size_t wide = 6;
    for (const auto& [name, address] : network.peers) wide = std::max(wide, name.size());
    const auto matrix = [&](const std::string& title, const auto& value) {
        std::string text = title + "\n  " + fmt::format("{:<{}}", "", wide);
        for (const Peer& to : network.peers) text += fmt::format("  {:>{}}", to.name, wide);
        for (const auto& [from, its] : network.peers) {
            text += fmt::format("\n  {:<{}}", from, wide);
            for (const auto& [to, address] : network.peers)
                text += fmt::format("  {:>{}}", from == to ? "-" : value(network.between(from, to)),
                                    wide);
        }
        return text + "\n";
    };
    using Link = NetworkProfile::Link;
    return matrix("Mbit/s that arrive, from a row's machine at a column's, both ways at once",
                  [](const Link& link) { return carried(link.both_mbit); }) +
           matrix("of what arrives while nothing goes back, %",
                  [](const Link& link) {
                      return link.mbit > 0 ? fmt::format("{:.0f}", 100 * link.both_mbit / link.mbit)
                                           : std::string("?");
                  }) +
           matrix("there and back, ms",
                  [](const Link& link) { return fmt::format("{:.2f}", link.round_trip_ms); });
}

std::string to_json_text(const NetworkProfile& network) {
    Json json{{"format", network_format}, {"peers", Json::array()}};
    for (const NetworkProfile::Peer& peer : network.peers)
        json["peers"].push_back({{"name", peer.name}, {"address", peer.address}});
    json["egress_mbit_max"] = network.egress_mbit_max;
    json["links"] = Json::array();
    for (const NetworkProfile::Link& link : network.links)
        json["links"].push_back({{"from", link.from},
                                 {"to", link.to},
                                 {"mbit", link.mbit},
                                 {"both_mbit", link.both_mbit},
                                 {"round_trip_ms", link.round_trip_ms}});
    return json.dump(1) + "\n";
}

NetworkProfile read_network_profile(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw StartupError(file + ": cannot be read", check_again);
    NetworkProfile network;
    try {
        const Json json = Json::parse(in);
        if (json.at("format") != network_format)
            throw StartupError(file + ": is no measured network of this version's format",
                               check_again);
        for (const Json& peer : json.at("peers"))
            network.peers.push_back({peer.at("name"), peer.at("address")});
        network.egress_mbit_max = json.at("egress_mbit_max");
        for (const Json& link : json.at("links"))
            network.links.push_back({link.at("from"), link.at("to"), link.at("mbit"),
                                     link.at("both_mbit"), link.at("round_trip_ms")});
    } catch (const nlohmann::json::exception& error) {
        throw StartupError(file + ": is no measured network: " + error.what(), check_again);
    }
    require_all_links(network, file);
    return network;
}

}  // namespace ako
