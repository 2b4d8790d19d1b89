// See containers.h.
#include "src/engines/containers.h"

#include <fmt/format.h>

#include <cctype>

#include "ako/mode_table.h"
#include "ako/replace_all.h"
#include "src/config/field_types.h"

namespace ako {
namespace {

/// A host name has 63 letters at most, and engines add their own.
constexpr std::size_t engine_name_length_max = 40;

bool is_letter(char letter) { return std::isalpha(static_cast<unsigned char>(letter)) != 0; }

}  // namespace

std::vector<Mount> mounts_of(const Settings& settings) {
    std::vector<Mount> mounts = {
        {"data.path", settings.data.path, "/ako/data"},
        {"cluster_key_file", settings.cluster_key_file, "/ako/cluster.key"},
        {"model.initial", settings.model.initial, "/ako/initial.safetensors"}};
    std::erase_if(mounts, [](const Mount& mount) { return mount.here.empty(); });
    return mounts;
}

bool may_come_back(const Settings& settings) {
    return entry_of(settings.exchange).goes_on() && settings.peers.size() > 1;
}

std::string host_of(const std::string& peer) {
    // One that begins with a digit would be read as an address.
    return is_letter(peer.front()) && peer != "localhost" ? peer : "peer-" + peer;
}

std::string safe_text(const std::string& text) {
    std::string safe = text;
    replace_all(safe, "$", "$$");
    return quote(safe);
}

std::string engine_name(const std::string& name) {
    std::string made;
    for (const char letter : name) {
        const char small = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        made += (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9') ? small : '-';
    }
    if (made.empty() || !is_letter(made.front())) made = "ako-" + made;
    // The end tells runs apart.
    if (made.size() > engine_name_length_max)
        made = "ako-" + made.substr(made.size() - (engine_name_length_max - 4));
    while (made.back() == '-') made.pop_back();
    return made;
}

Settings settings_in_containers(const Settings& settings, const std::vector<std::string>& hosts) {
    Settings there = settings;
    for (const Mount& mount : mounts_of(settings)) {
        const std::string key = mount.key;
        if (key == "data.path") there.data.path = mount.there;
        if (key == "cluster_key_file") there.cluster_key_file = secret_there;
        if (key == "model.initial") there.model.initial = mount.there;
    }
    there.output = results_there;
    for (std::size_t k = 0; k < hosts.size(); ++k) {
        there.peers[k].address = fmt::format("{}:{}", hosts[k], container_port);
        there.peers[k].listen = fmt::format("0.0.0.0:{}", container_port);
    }
    return there;
}

}  // namespace ako
