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

}  // namespace

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

NetworkProfile network_profile(const std::vector<std::string>& names,
                               const std::vector<PairFigures>& pairs) {
    NetworkProfile network{names, {}};
    for (const PairFigures& pair : pairs) {
        const std::string& asker = names[pair.asker];
        const std::string& asked = names[pair.asked];
        const double round_trip_ms = seconds_of(pair.round_trip) * 1e3;
        network.links.push_back(
            {asker, asked, mbit(pair.there), mbit(pair.there_both), round_trip_ms});
        network.links.push_back(
            {asked, asker, mbit(pair.back), mbit(pair.back_both), round_trip_ms});
    }
    return network;
}

std::string network_text(const NetworkProfile& network) {
    std::size_t wide = 6;
    for (const std::string& name : network.peers) wide = std::max(wide, name.size());
    const auto matrix = [&](const std::string& title, const auto& value) {
        std::string text = title + "\n  " + fmt::format("{:<{}}", "", wide);
        for (const std::string& to : network.peers) text += fmt::format("  {:>{}}", to, wide);
        for (const std::string& from : network.peers) {
            text += fmt::format("\n  {:<{}}", from, wide);
            for (const std::string& to : network.peers)
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
    Json json{{"format", network_format}, {"peers", network.peers}, {"links", Json::array()}};
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
        network.peers = json.at("peers").get<std::vector<std::string>>();
        for (const Json& link : json.at("links"))
            network.links.push_back({link.at("from"), link.at("to"), link.at("mbit"),
                                     link.at("both_mbit"), link.at("round_trip_ms")});
    } catch (const nlohmann::json::exception& error) {
        throw StartupError(file + ": is no measured network: " + error.what(), check_again);
    }
    for (const std::string& from : network.peers) {
        for (const std::string& to : network.peers) {
            const auto is_of = [&](const NetworkProfile::Link& link) {
                return link.from == from && link.to == to && link.both_mbit > 0;
            };
            if (from != to && std::none_of(network.links.begin(), network.links.end(), is_of))
                throw StartupError(fmt::format("{}: lacks what {} sends to {}", file, from, to),
                                   check_again);
        }
    }
    return network;
}

}  // namespace ako
