// SHA-256 by OpenSSL's EVP interface.
#include "src/numbers/digest.h"

#include <openssl/evp.h>

#include <bit>

#include "ako/assert.h"

namespace ako {

static_assert(std::endian::native == std::endian::little,
              "digests and the wire take float32 values as little-endian memory");

struct Sha256::Context {
    EVP_MD_CTX* evp = EVP_MD_CTX_new();
    ~Context() { EVP_MD_CTX_free(evp); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
    const int ok = EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr);
    AKO_ASSERT(ok == 1, "OpenSSL offers no SHA-256");
}

Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes) {
    const int ok = EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size());
    AKO_ASSERT(ok == 1, "SHA-256 of " + std::to_string(bytes.size()) + " bytes");
}

Digest Sha256::finish() {
    Digest digest{};
    const int ok = EVP_DigestFinal_ex(context_->evp, digest.data(), nullptr);
    AKO_ASSERT(ok == 1, "SHA-256 finished twice");
    return digest;
}

Digest sha256(std::span<const std::byte> bytes) {
    Sha256 hash;
    hash.add(bytes);
    return hash.finish();
}

Digest sha256(const std::string& text) {
    return sha256(std::as_bytes(std::span<const char>(text.data(), text.size())));
}

std::uint64_t first_word(const Digest& digest) {
    std::uint64_t word = 0;
    for (std::size_t k = 0; k < sizeof word; ++k) word = word << 8 | digest[k];
    return word;
}

std::string hex(const Digest& digest) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * digest.size());
    for (const std::uint8_t byte : digest) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

}  // namespace ako
