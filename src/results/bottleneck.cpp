// See bottleneck.h.
#include "src/results/bottleneck.h"

#include <nlohmann/json.hpp>

namespace ako {

std::string Bottleneck::label() const {
    switch (kind) {
        case Kind::unknown:
            return "unknown";
        case Kind::none:
            return "none";
        case Kind::processor:
            return "processor of " + peer;
        case Kind::straggler:
            return "straggler " + peer;
        case Kind::memory:
            return "memory of " + peer;
        case Kind::input:
            return "input of " + peer;
        case Kind::egress:
            return "egress of " + peer;
        case Kind::ingress:
            return "ingress of " + peer;
        case Kind::link:
            return "link " + peer + " -> " + other;
        case Kind::server_processor:
            return "processor of server " + peer;
        case Kind::server_network:
            return "network of server " + peer;
    }
    return "";
}

std::string Bottleneck::text() const {
    std::string text = label();
    if (!evidence.empty()) text += ": " + evidence;
    if (!remedy.empty()) text += "; what helps: " + remedy;
    return text;
}

std::string to_json_text(const Bottleneck& bottleneck) {
    const nlohmann::ordered_json json = {{"label", bottleneck.label()},
                                         {"evidence", bottleneck.evidence},
                                         {"remedy", bottleneck.remedy}};
    return json.dump();
}

}  // namespace ako
