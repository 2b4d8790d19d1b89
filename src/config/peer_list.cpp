#include "src/config/peer_list.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace ako {

namespace {

constexpr std::size_t name_length_max = 32;

constexpr const char* a_sample_count = "with data.sharding: own, 1 to 1,000,000,000,000 samples";

constexpr const char* host_and_port = "host:port, with a port from 1 to 65535";

std::string a_count() { return fmt::format("a whole number from 1 to {}", peers_max); }

std::string a_peer_name() {
    return fmt::format("a name of at most {} letters, digits, '-' and '_', the first not '-'",
                       name_length_max);
}

std::string peer_name(const ConfigValue& value, const std::string& path) {
    const std::string expected = a_peer_name();
    std::string name = read_text(value, path, expected);
    const bool plain = std::all_of(name.begin(), name.end(), [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
    });
    // A command that is given the name would take it for an option.
    if (!plain || name.empty() || name.size() > name_length_max || name.front() == '-')
        refuse(value.where, path, expected, value.description());
    return name;
}

/// The value of a key that an element of a list must have.
const ConfigValue& required(const ConfigValue& element, const std::string& key,
                            const std::string& path, const std::string& expected) {
    const ConfigEntry* entry = element.find(key);
    if (entry == nullptr) refuse(element.where, path + "." + key, expected, "nothing");
    return entry->value;
}

std::string address_text(const ConfigValue& value, const std::string& path) {
    std::string text = read_text(value, path, "host:port");
    split_address(text, value.where, path);
    return text;
}

/// Two spellings of one address compare equal where that is known without asking a name server.
std::string address_key(const std::string& address) {
    const HostPort parts = split_address(address, "", "");
    std::string host = parts.host;
    std::transform(host.begin(), host.end(), host.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    return fmt::format("{}:{}", host == "localhost" ? "127.0.0.1" : host, parts.port);
}

Role peer_role(const ConfigValue& value, const std::string& path) {
    const std::string text = read_text(value, path, "worker or server");
    if (text == "worker") return Role::worker;
    if (text != "server")
        refuse(value.where, path, "worker or server", value.description(),
               did_you_mean(text, {"worker", "server"}));
    return Role::server;
}

std::uint64_t peer_samples(const ConfigValue& value, const std::string& path) {
    const std::uint64_t samples = read_whole(value, path, a_sample_count);
    if (samples < 1 || samples > samples_max)
        refuse(value.where, path, a_sample_count, value.description());
    return samples;
}

PeerSettings read_peer(const ConfigValue& value, const std::string& path,
                       const std::vector<PeerSettings>& before) {
    if (value.kind != ConfigValue::Kind::map)
        refuse(value.where, path, "name and address of a peer", value.description());
    PeerSettings peer;
    const ConfigValue& name = required(value, "name", path, "the peer's name");
    peer.name = peer_name(name, path + ".name");
    const ConfigValue& address = required(value, "address", path, "host:port");
    peer.address = address_text(address, path + ".address");
    const ConfigEntry* listen = value.find("listen");
    peer.listen = listen != nullptr ? address_text(listen->value, path + ".listen") : peer.address;
    if (const ConfigEntry* samples = value.find("samples"))
        peer.samples = peer_samples(samples->value, path + ".samples");
    if (const ConfigEntry* role = value.find("role"))
        peer.role = peer_role(role->value, path + ".role");
    for (const PeerSettings& other : before) {
        if (other.name == peer.name)
            refuse(name.where, path + ".name", "a name of its own for every peer",
                   fmt::format("\"{}\" again", peer.name));
        if (address_key(other.address) == address_key(peer.address))
            refuse(address.where, path + ".address", "an address of its own for every peer",
                   fmt::format("{}, which is peer {}'s", peer.address, other.name));
    }
    return peer;
}

/// The number at `key`, from 1 to `high`.
std::size_t read_count(const ConfigValue& value, const std::string& path, std::size_t high) {
    const std::string expected = fmt::format("a whole number from 1 to {}", high);
    const std::uint64_t count = read_whole(value, path, expected);
    if (count < 1 || count > high) refuse(value.where, path, expected, value.description());
    return count;
}

/// `{count: 4}`: p1 to p4.
std::vector<PeerSettings> counted_peers(const ConfigValue& value, const std::string& path) {
    const ConfigValue& count = required(value, "count", path, a_count());
    std::vector<PeerSettings> peers(read_count(count, path + ".count", peers_max));
    for (std::size_t k = 0; k < peers.size(); ++k) peers[k].name = fmt::format("p{}", k + 1);
    return peers;
}

/// `{min: 2, ..}`: another word for exchange.start_peers_min, which wins where both are said.
void read_least(const ConfigValue& value, const std::string& path, std::size_t count,
                Settings& settings) {
    const ConfigEntry* const least = value.find("min");
    if (least == nullptr) return;
    settings.exchange.start_peers_min =
        static_cast<unsigned>(read_count(least->value, path + ".min", count));
    settings.places.put("exchange.start_peers_min", least->value.where);
}

std::string written_peer(const PeerSettings& peer) {
    return fmt::format("\n  - {{name: {}, address: {}, listen: {}{}{}}}", quote(peer.name),
                       quote(peer.address), quote(peer.listen),
                       peer.role == Role::server ? ", role: server" : "",
                       peer.samples > 0 ? fmt::format(", samples: {}", peer.samples) : "");
}

}  // namespace

HostPort split_address(const std::string& address, const std::string& where,
                       const std::string& path) {
    const std::string expected = host_and_port;
    const std::size_t colon = address.rfind(':');
    HostPort parts;
    if (colon == std::string::npos || colon == 0) refuse(where, path, expected, address);
    parts.host = address.substr(0, colon);
    const bool bracketed = parts.host.front() == '[' && parts.host.back() == ']';
    if (bracketed) parts.host = parts.host.substr(1, parts.host.size() - 2);
    if (parts.host.empty() || (!bracketed && parts.host.find(':') != std::string::npos))
        refuse(where, path, expected, address, "an IPv6 address stands in brackets: [::1]:7701");
    const char* end = address.data() + address.size();
    const auto [stopped, error] = std::from_chars(address.data() + colon + 1, end, parts.port);
    if (error != std::errc() || stopped != end || parts.port < 1 || parts.port > 65'535 ||
        parts.host.find_first_of(" \t/\"") != std::string::npos)
        refuse(where, path, expected, address);
    return parts;
}

PeerIndex find_peer(const Settings& settings, const std::string& name, const std::string& where,
                    const std::string& path) {
    std::vector<std::string> names;
    for (PeerIndex j = 0; j < settings.peers.size(); ++j) {
        if (settings.peers[j].name == name) return j;
        names.push_back(settings.peers[j].name);
    }
    refuse(where, path, fmt::format("one of the file's peers: {}", fmt::join(names, ", ")), name,
           did_you_mean(name, names));
}

const std::vector<ListKey>& list_keys() {
    static const std::vector<ListKey> keys = {
        {"peers.*.name", a_peer_name(), "what `--peer` calls it", "required"},
        {"peers.*.address", host_and_port,
         "host:port that the others dial; a peer that may come back with another address needs a "
         "name here, which is looked up with every dial",
         "required"},
        {"peers.*.listen", host_and_port,
         "host:port to listen on, if another (NAT, containers: 0.0.0.0:7701)", "the address"},
        {"peers.*.role", "worker or server",
         "worker | server (parameter-server with placement: dedicated)", "worker"},
        {"peers.*.samples", a_sample_count, "of its training set, with data.sharding: own",
         "required with own"},
        {"peers.count", a_count(),
         "instead of the list: so many, p1, p2 and so on, whose addresses come with their start, "
         "by `ako submit` or `ako launch`",
         "the list"},
        {"peers.min", "a whole number from 1 to the count",
         "with count: fewer may begin, as exchange.start_peers_min says", "start_peers_min"},
        {"exchange.link_limits.*.from", "a peer's name", "the peer that sends", "required"},
        {"exchange.link_limits.*.to", "another peer's name", "the peer that receives", "required"},
        {"exchange.link_limits.*.mbit", "as exchange.link_mbit",
         "what this link may carry in this direction, Mbit/s", "required"},
    };
    return keys;
}

Field peers_field() {
    const std::string path = "peers";
    const std::string expected = fmt::format("a list of 1 to {} peers, or their count", peers_max);
    const auto read = [=](const ConfigValue& value, Settings& settings) {
        std::vector<PeerSettings> peers;
        if (value.kind == ConfigValue::Kind::map) {
            peers = counted_peers(value, path);
            read_least(value, path, peers.size(), settings);
        } else if (value.kind != ConfigValue::Kind::list || value.entries.empty() ||
                   value.entries.size() > peers_max) {
            refuse(value.where, path, expected, value.description());
        } else {
            for (const ConfigEntry& entry : value.entries)
                peers.push_back(
                    read_peer(entry.value, fmt::format("peers.{}", peers.size()), peers));
        }
        settings.peers = std::move(peers);
    };
    const auto write = [](const Settings& settings) {
        if (addresses_are_open(settings))
            return fmt::format("{{count: {}}}", settings.peers.size());
        std::string list;
        for (const PeerSettings& peer : settings.peers) list += written_peer(peer);
        return list;
    };
    // The digest names the peers in order without their addresses: see training_digest_text.
    return {path, Scope::own, expected, read, write};
}

bool addresses_are_open(const Settings& settings) {
    return !settings.peers.empty() && settings.peers.front().address.empty();
}

std::size_t fewest_peers(const Settings& settings) {
    const std::size_t least = settings.exchange.start_peers_min;
    const bool is_said = settings.places.has("exchange.start_peers_min") && least > 0;
    return is_said ? std::min(least, settings.peers.size()) : settings.peers.size();
}

void require_addresses(const Settings& settings) {
    if (!addresses_are_open(settings)) return;
    throw at_key(settings, "peers",
                 StartupError("the peers have no addresses here: they come with the start",
                              "`ako launch` starts them on this machine, `ako submit` by an "
                              "engine; else write a list of {name, address}"));
}

Field observe_address_field() {
    const std::string path = "observe.address";
    const auto member = [](auto& settings) -> auto& { return settings.observe.address; };
    Field field = optional_text_field(path, Scope::own, member, host_and_port);
    field.read = [=, read_text_of = field.read](const ConfigValue& value, Settings& settings) {
        read_text_of(value, settings);
        if (settings.observe.address.empty()) return;
        const HostPort first = split_address(settings.observe.address, value.where, path);
        if (first.port + settings.peers.size() - 1 > 65'535)
            refuse(
                value.where, path,
                fmt::format("a port that leaves one for each of {} peers", settings.peers.size()),
                value.description());
    };
    return field;
}

std::optional<HostPort> observe_address(const Settings& settings, PeerIndex peer) {
    if (settings.observe.address.empty()) return std::nullopt;
    const HostPort first = split_address(settings.observe.address, "", "observe.address");
    return HostPort{first.host, first.port + static_cast<unsigned>(peer)};
}

Field link_limits_field(Bounds rate) {
    const std::string path = "exchange.link_limits";
    const std::string expected = "a list of {from, to, mbit}";
    const auto read = [=](const ConfigValue& value, Settings& settings) {
        if (value.kind != ConfigValue::Kind::list)
            refuse(value.where, path, expected, value.description());
        std::vector<LinkLimit> limits;
        for (const ConfigEntry& entry : value.entries) {
            const std::string item = fmt::format("{}.{}", path, limits.size());
            const auto peer = [&](const char* key) {
                const ConfigValue& name = required(entry.value, key, item, "a peer's name");
                return find_peer(settings, read_text(name, item + "." + key), name.where,
                                 item + "." + key);
            };
            LinkLimit limit{peer("from"), peer("to"), 0};
            limit.mbit = read_bounded(required(entry.value, "mbit", item, rate.description()),
                                      item + ".mbit", rate);
            if (limit.from == limit.to)
                refuse(entry.value.where, item, "two different peers", "one peer twice");
            for (const LinkLimit& other : limits) {
                if (other.from == limit.from && other.to == limit.to)
                    refuse(entry.value.where, item, "every link once", "this link again");
            }
            limits.push_back(limit);
        }
        settings.exchange.link_limits = std::move(limits);
    };
    const auto write = [](const Settings& settings) {
        std::string list;
        for (const LinkLimit& limit : settings.exchange.link_limits)
            list += fmt::format("{}{{from: {}, to: {}, mbit: {}}}", list.empty() ? "" : ", ",
                                quote(settings.peers[limit.from].name),
                                quote(settings.peers[limit.to].name), write_number(limit.mbit));
        return "[" + list + "]";
    };
    return {path, Scope::own, expected, read, write};
}

}  // namespace ako
