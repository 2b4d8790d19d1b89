#include "net/hello_check.h"

#include <fmt/format.h>

#include <tuple>

#include "net/data_difference.h"
#include "net/settings_difference.h"

namespace ako {
namespace {

// A Reject for the key says whether there is one, and nothing of what is in it.
constexpr const char* no_key = "none";
constexpr const char* settings_field = "training_digest";

}  // namespace

std::string hex(std::uint64_t value) { return fmt::format("{:016x}", value); }

std::string short_hex(const Digest& digest) {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | digest[i];
    return hex(value);
}

namespace {

/// What it comes to that a field differs, and what to do; nothing where its name says it all.
std::string meaning(const std::string& field) {
    if (field == "protocol") return "another version of Ako, all peers must run the same one";
    if (field == "run_name") return "another run";
    if (field == settings_field) return "another configuration, all peers need the same file";
    if (field == "layout_digest") return "another network";
    if (field == "initial_digest") return "other initial parameters";
    if (field == "peer_name" || field == "to_peer_name") return "another peer";
    return "";
}

std::string key_text(const std::string& here, const std::string& there) {
    if (there == no_key)
        return "it has no cluster key, this peer has one: give it the same cluster_key_file";
    if (here == no_key)
        return "it has a cluster key, this peer has none: give this peer the same cluster_key_file";
    return "it has another cluster key, or what it said was changed on the way: give all peers the "
           "same cluster_key_file";
}

}  // namespace

std::string reject_text(const Reject& reject, bool ours, const std::string& other) {
    if (reject.field == key_field)
        return ours ? key_text(reject.expected, reject.got) : key_text(reject.got, reject.expected);
    if (reject.field == live_process_field)
        return fmt::format("another process is live under {} name, at {}",
                           ours ? "its" : "this peer's", reject.expected);
    if (const auto data = data_reject_text(reject, ours, other)) return *data;
    const std::string what = meaning(reject.field);
    if (reject.field == settings_field) {
        const auto& [here, there] =
            ours ? std::tie(reject.expected, reject.got) : std::tie(reject.got, reject.expected);
        if (const auto keys = settings_reject_text(here, there, other))
            return fmt::format("{} ({})", what, *keys);
    }
    return fmt::format("{}{}{}: expected {}, got {}{}", what, what.empty() ? "" : " (",
                       reject.field, reject.expected, reject.got, what.empty() ? "" : ")");
}

std::optional<PeerIndex> find_peer(const HelloTerms& terms, const std::string& name) {
    for (PeerIndex peer = 0; peer < terms.peer_names.size(); ++peer)
        if (terms.peer_names[peer] == name) return peer;
    return std::nullopt;
}

std::optional<Reject> check_protocol(const Hello& hello, const HelloTerms& terms) {
    if (hello.protocol == terms.own.protocol) return std::nullopt;
    return Reject{protocol_field, std::to_string(terms.own.protocol),
                  std::to_string(hello.protocol)};
}

std::optional<Reject> check_key(const Hello& hello, const HelloTerms& terms, ClusterKey::Step step,
                                const Hello& dialler, const Hello* listener) {
    if (terms.key.none() && !hello.key_proof) return std::nullopt;
    if (terms.key.none()) return Reject{key_field, no_key, "one"};
    if (!hello.key_proof) return Reject{key_field, "that of this peer", no_key};
    if (terms.key.proves(hello.key_proof->mac, step, dialler, listener)) return std::nullopt;
    return Reject{key_field, "that of this peer", "another"};
}

std::optional<Reject> check_hello(const Hello& hello, const HelloTerms& terms,
                                  std::optional<PeerIndex> dialled) {
    const Hello& own = terms.own;
    if (hello.run_name != own.run_name) return Reject{"run_name", own.run_name, hello.run_name};
    const auto differs = [](const char* field, const Digest& expected, const Digest& got) {
        return expected == got
                   ? std::optional<Reject>{}
                   : std::optional<Reject>{Reject{field, short_hex(expected), short_hex(got)}};
    };
    if (auto reject = differs(settings_field, own.training_digest, hello.training_digest)) {
        const bool both_said = settings_text_holds(own) && settings_text_holds(hello);
        auto named = both_said ? reject_for_settings(own.settings_text, hello.settings_text)
                               : std::optional<Reject>{};
        return named ? named : reject;
    }
    if (auto reject = differs("layout_digest", own.layout_digest, hello.layout_digest))
        return reject;
    if (auto reject = differs("initial_digest", own.initial_digest, hello.initial_digest))
        return reject;

    if (auto reject = reject_for_data(own.data, hello.data)) return reject;

    const auto peer = find_peer(terms, hello.peer_name);
    if (dialled && peer != dialled)
        return Reject{"peer_name", terms.peer_names[*dialled], hello.peer_name};
    if (!peer) return Reject{"peer_name", "a peer of the cluster file", hello.peer_name};
    if (*peer == terms.self) return Reject{"peer_name", "another peer", hello.peer_name};
    if (hello.to_peer_name != own.peer_name)
        return Reject{"to_peer_name", own.peer_name, hello.to_peer_name};
    if (hello.process_id == 0) return Reject{"process_id", "not 0", "0"};
    if (hello.process_id == own.process_id)
        return Reject{"process_id", "another process", "my own"};
    return std::nullopt;
}

}  // namespace ako
