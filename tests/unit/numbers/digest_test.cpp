// SHA-256: the examples of the standard, and what is hashed.
#include "src/numbers/digest.h"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

namespace ako::digest_test {

TEST_CASE("SHA-256 of the examples of FIPS 180-4") {
    CHECK(hex(sha256(std::string("abc"))) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(hex(sha256(std::string())) ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(hex(sha256(std::string("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))) ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_CASE("it does not matter in how many pieces something is added, but in which order") {
    std::vector<float> values;
    for (int k = 0; k < 1000; ++k) values.push_back(0.25F * static_cast<float>(k));
    const std::span<const float> all(values);
    Sha256 pieces;
    for (std::size_t k = 0; k < values.size(); k += 125) pieces.add(all.subspan(k, 125));
    CHECK(pieces.finish() == sha256(std::as_bytes(all)));

    Sha256 swapped;
    swapped.add(all.subspan(500));
    swapped.add(all.first(500));
    CHECK(swapped.finish() != sha256(std::as_bytes(all)));
}

TEST_CASE("floats are taken as little-endian memory, so that 0 and -0 differ") {
    const float one = 1.0F;
    Sha256 hash;
    hash.add(std::span<const float>(&one, 1));
    CHECK(hash.finish() == sha256(std::string("\0\0\x80\x3f", 4)));
    const float zeros[] = {0.0F, -0.0F};
    CHECK(sha256(std::as_bytes(std::span(zeros).first(1))) !=
          sha256(std::as_bytes(std::span(zeros).last(1))));
}

}  // namespace ako::digest_test
