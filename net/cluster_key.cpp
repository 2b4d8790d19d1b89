#include "net/cluster_key.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "ako/assert.h"
#include "net/codec.h"

namespace ako {
namespace {

/// What a proof is computed over: Hellos as they travel, and texts with their length before them,
/// so that no two different ones give the same bytes.
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
    /// All that it says, but for the mac and for the text of the settings, which is believed only
    /// where training_digest is its digest.
    void add(Hello hello) {
        AKO_ASSERT(hello.key_proof.has_value(), "a Hello under a key has a nonce");
        hello.key_proof->mac = {};
        hello.settings_text.clear();
        const std::vector<std::byte> header = encode_header(hello);
        add(std::string(reinterpret_cast<const char*>(header.data()), header.size()));
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
    return mac_of(transcript.bytes());
}

Digest ClusterKey::mac(const Reject& reject, const std::string& by, const Digest& nonce) const {
    const auto& [field, expected, got, own_mac] = reject;
    static_cast<void>(own_mac);
    Transcript transcript;
    transcript.add(std::string("ako refusal"));
    transcript.add(nonce);
    transcript.add(by);
    for (const std::string* text : {&field, &expected, &got}) transcript.add(*text);
    return mac_of(transcript.bytes());
}

Digest ClusterKey::mac_of(const std::string& bytes) const {
    Digest result;
    const auto* text = reinterpret_cast<const unsigned char*>(bytes.data());
    const unsigned char* done = HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
                                     text, bytes.size(), result.data(), nullptr);
    AKO_ASSERT(done != nullptr, "HMAC-SHA256 is not to be had from OpenSSL");
    return result;
}

bool ClusterKey::proves(const Digest& mac, Step step, const Hello& dialler,
                        const Hello* listener) const {
    const Digest expected = this->mac(step, dialler, listener);
    return CRYPTO_memcmp(mac.data(), expected.data(), expected.size()) == 0;
}

bool ClusterKey::proves(const Reject& reject, const std::string& by, const Digest& nonce) const {
    if (!reject.mac) return false;
    const Digest expected = mac(reject, by, nonce);
    return CRYPTO_memcmp(reject.mac->data(), expected.data(), expected.size()) == 0;
}

Digest ClusterKey::make_nonce() {
    Digest nonce;
    const int done = RAND_bytes(nonce.data(), static_cast<int>(nonce.size()));
    // A peer that repeated its nonces would take the recording of an old session for a peer.
    AKO_ASSERT(done == 1, "OpenSSL has no random bytes");
    return nonce;
}

}  // namespace ako
