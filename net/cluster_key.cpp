#include "net/cluster_key.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "ako/assert.h"

namespace ako {
namespace {

/// What a proof is computed over: numbers little-endian, texts with their length before them, so
/// that no two different Hellos give the same bytes.
class Transcript {
  public:
    void add(std::uint64_t number) {
        for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>((number >> (8 * i)) & 0xff);
    }
    void add(const std::string& text) {
        add(std::uint64_t{text.size()});
        bytes_ += text;
    }
    void add(const Digest& digest) { bytes_.append(digest.begin(), digest.end()); }
    void add(const Hello& hello) {
        // All fields by name: one that is added to Hello does not compile until it is added here.
        const auto& [protocol, run_name, training_digest, layout_digest, initial_digest, peer_name,
                     to_peer_name, process_id, key_proof, settings_text] = hello;
        static_cast<void>(settings_text);  // believed only where training_digest is its digest
        add(std::uint64_t{protocol});
        add(run_name);
        add(training_digest);
        add(layout_digest);
        add(initial_digest);
        add(peer_name);
        add(to_peer_name);
        add(process_id);
        AKO_ASSERT(key_proof.has_value(), "a Hello under a key has a nonce");
        add(key_proof->nonce);
    }
    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

const char* label(ClusterKey::Step step) {
    switch (step) {
        case ClusterKey::Step::greeting:
            return "ako greeting of the dialler";
        case ClusterKey::Step::answer:
            return "ako answer of the listener";
        case ClusterKey::Step::confirmation:
            return "ako confirmation of the dialler";
    }
    return "";
}

}  // namespace

Digest ClusterKey::mac(Step step, const Hello& dialler, const Hello* listener) const {
    AKO_ASSERT(!none(), "a proof without a key");
    AKO_ASSERT((step == Step::greeting) == (listener == nullptr), label(step));
    Transcript transcript;
    transcript.add(std::string(label(step)));
    transcript.add(dialler);
    if (listener != nullptr) transcript.add(*listener);
    Digest result;
    const auto* text = reinterpret_cast<const unsigned char*>(transcript.bytes().data());
    const unsigned char* done = HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
                                     text, transcript.bytes().size(), result.data(), nullptr);
    AKO_ASSERT(done != nullptr, "HMAC-SHA256 is not to be had from OpenSSL");
    return result;
}

bool ClusterKey::proves(const Digest& mac, Step step, const Hello& dialler,
                        const Hello* listener) const {
    const Digest expected = this->mac(step, dialler, listener);
    return CRYPTO_memcmp(mac.data(), expected.data(), expected.size()) == 0;
}

Digest ClusterKey::make_nonce() {
    Digest nonce;
    const int done = RAND_bytes(nonce.data(), static_cast<int>(nonce.size()));
    // A peer that repeated its nonces would take the recording of an old session for a peer.
    AKO_ASSERT(done == 1, "OpenSSL has no random bytes");
    return nonce;
}

}  // namespace ako
