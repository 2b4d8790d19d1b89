// Does a Hello come from the peer, the program and the run that are expected? Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ako/frame.h"
#include "net/cluster_key.h"

namespace ako {

/// What the Hello of any peer of this run must say.
struct HelloTerms {
    Hello own;  ///< `to_peer_name` is not used
    std::vector<std::string> peer_names;
    PeerIndex self = 0;
    ClusterKey key;
};

/// The field of a Reject for a process under whose name another one has a session: `expected` says
/// where that one is.
inline constexpr const char* key_field = "cluster_key";
inline constexpr const char* protocol_field = "protocol";
inline constexpr const char* live_process_field = "live_process";

/// The protocol: the one field that is checked before the key.
std::optional<Reject> check_protocol(const Hello& hello, const HelloTerms& terms);

/// Does its sender hold the key that this peer holds, or neither of them one? `hello` is the
/// newest of `dialler` and `listener`, which is nullptr in the greeting.
std::optional<Reject> check_key(const Hello& hello, const HelloTerms& terms, ClusterKey::Step step,
                                const Hello& dialler, const Hello* listener);

/// The first field that does not match, with both values; nothing if all match. `dialled`: the
/// peer that was dialled, if it was we who dialled. Fields in the order of ako/frame.h, after those
/// of check_protocol and check_key.
std::optional<Reject> check_hello(const Hello& hello, const HelloTerms& terms,
                                  std::optional<PeerIndex> dialled);

/// The peer of that name.
std::optional<PeerIndex> find_peer(const HelloTerms& terms, const std::string& name);

/// As 16 hexadecimal digits: enough to tell two digests apart by eye.
std::string short_hex(const Digest& digest);
std::string hex(std::uint64_t value);

/// "another configuration, all peers need the same file (training.learning_rate: 0.05 here, 0.01 at
/// b)", or where the settings were not said "(training_digest: expected 0123456789abcdef, got
/// fedcba9876543210)"; of the key, what is wrong as this peer sees it. `ours`: it is this peer that
/// refuses. `other`: the other end.
std::string reject_text(const Reject& reject, bool ours, const std::string& other = "there");

}  // namespace ako
