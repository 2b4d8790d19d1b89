// The secret that all peers of a cluster may share, and the proof of holding it. Whoever sends a
// Hello under a key adds a random nonce of its own and
//
//     mac = HMAC-SHA256(key, step, first Hello of the dialler [, Hello of the listener])
//
// over every field of these Hellos with both nonces, without the macs and without the text of the
// settings, whose digest is among the fields:
//
//     greeting       the dialler, in its first Hello    says it is no stranger
//     answer         the listener, in its Hello         proves it: the dialler's nonce is new
//     confirmation   the dialler, repeating its Hello   proves it: the listener's nonce is new
//
// A greeting alone can be recorded and said again, so it earns an answer and nothing more. Answer
// and confirmation are of this connection, these two peers, this direction and these very fields:
// none of them serves another time, in the other role, or after a field was changed on the way.
//
// A Reject carries such a mac over the nonce of the refused end, the name of the refusing one and
// its own texts, if the refused end has proved that it holds the key: so never one for the key
// itself, nor for the protocol, which is looked at before. One without is no word of a peer: the
// end that gets it has lost a connection, and no more. The frames that follow carry no proof: see
// "Limits" in README.md. Values; any thread.
#pragma once

#include <string>
#include <utility>

#include "ako/frame.h"

namespace ako {

class ClusterKey {
  public:
    enum class Step { greeting, answer, confirmation };

    /// No key.
    ClusterKey() = default;
    /// The key of this secret; empty: no key.
    explicit ClusterKey(std::string secret) : secret_(std::move(secret)) {}

    bool none() const { return secret_.empty(); }

    /// The mac of a step. `listener` is nullptr in the greeting.
    Digest mac(Step step, const Hello& dialler, const Hello* listener) const;
    /// Is `mac` that mac? Takes as long if it is wrong as if it is right.
    bool proves(const Digest& mac, Step step, const Hello& dialler, const Hello* listener) const;

    /// The mac of a Reject (but for its own mac) by the peer of this name, which answers the Hello
    /// with this nonce.
    Digest mac(const Reject& reject, const std::string& by, const Digest& nonce) const;
    bool proves(const Reject& reject, const std::string& by, const Digest& nonce) const;

    /// 32 random bytes, never the same again.
    static Digest make_nonce();

  private:
    Digest mac_of(const std::string& bytes) const;

    std::string secret_;
};

}  // namespace ako
