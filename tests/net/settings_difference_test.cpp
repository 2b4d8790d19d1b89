// Which settings differ: named with both values when a Hello is refused, and never believed of a
// text that is not what the digest was made of.
#include "net/settings_difference.h"

#include <doctest/doctest.h>

#include <random>

#include "net/codec.h"
#include "net/frame_prefix.h"
#include "net/hello_check.h"
#include "src/numbers/digest.h"
#include "tests/contains.h"
#include "tests/net/fake_peer.h"

namespace ako::settings_difference_test {

namespace {

using test::contains;
using test::make_settings;
using test::Pair;

const std::string ours =
    "seed: 1\n"
    "model:\n"
    "  input: [28, 28, 1]\n"
    "  layers:\n"
    "    - conv: {outputs: 4, window: 5}\n"
    "    - relu\n"
    "training:\n"
    "  learning_rate: 0.05\n"
    "  schedule:\n"
    "    kind: constant\n"
    "  momentum: 0.9\n"
    "peers: a b c\n";

std::string with(const std::string& from, const std::string& to) {
    std::string text = ours;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

/// As the peer that refuses says it, and the one that is refused.
std::string said(const std::string& theirs, bool by_us = true) {
    const auto reject = reject_for_settings(ours, theirs);
    return reject ? reject_text(*reject, by_us, "at b") : "";
}

TEST_CASE("the key that differs is named with both values, as each side sees them") {
    const std::string start = "another configuration, all peers need the same file (";
    CHECK(said(ours) == "");
    CHECK(said(with("0.05", "0.01")) == start + "training.learning_rate: 0.05 here, 0.01 at b)");
    CHECK(said(with("0.05", "0.01"), false) ==
          start + "training.learning_rate: 0.01 here, 0.05 at b)");
    CHECK(said(with("constant", "cosine")) ==
          start + "training.schedule.kind: constant here, cosine at b)");
    CHECK(said(with("a b c", "a b")) == start + "peers: a b c here, a b at b)");
    CHECK(said(with("relu", "flatten")) == start + "model.layers.1: relu here, flatten at b)");
    CHECK(said(with("    - relu\n", "")) == start + "model.layers.1: relu here, nothing at b)");
    CHECK(said(with("seed: 1\n", "seed: 1\nnew: 7\n")) == start + "new: nothing here, 7 at b)");
}

TEST_CASE("of many keys that differ the first are named, and the others counted") {
    std::string theirs = with("seed: 1", "seed: 2");
    for (const char* from : {"0.05", "constant", "0.9", "relu"})
        theirs.replace(theirs.find(from), std::string(from).size(), "other");
    const std::string text = said(theirs);
    CHECK(contains(text, "(seed: 1 here, 2 at b; model.layers.1: relu here, other at b; "));
    CHECK(contains(text, "; and 3 more)"));
}

TEST_CASE("whatever the texts are, what is said of them fits into a Reject") {
    std::mt19937 random(7);
    const std::string letters = "ab:;- \n\xc3\xa4";
    for (int repetition = 0; repetition < 2000; ++repetition) {
        std::string theirs(random() % settings_text_bytes_max, ' ');
        for (char& letter : theirs) letter = letters[random() % letters.size()];
        const auto reject = reject_for_settings(ours, theirs);
        REQUIRE(reject.has_value());
        CHECK(reject->expected.size() <= text_bytes_max);
        CHECK(reject->got.size() <= text_bytes_max);
        CHECK_FALSE(reject_text(*reject, true).empty());
    }
    // Letters of two bytes are not cut in halves.
    std::string wide = "seed: ";
    for (int k = 0; k < 200; ++k) wide += "\xc3\xa4";
    const auto reject = reject_for_settings(ours, wide);
    REQUIRE(reject.has_value());
    const auto head = encode_frame_head(Header{*reject}, 0);
    const auto header = std::span<const std::byte>(head).subspan(frame_prefix_bytes);
    CHECK(decode_header(header).has_value());
    // A Reject of a stranger that only looks like one.
    CHECK_FALSE(settings_reject_text("a: 1; b", "a: 1", "there").has_value());
    CHECK_FALSE(settings_reject_text("a: 1", "b: 1", "there").has_value());
    CHECK_FALSE(settings_reject_text("0123", "4567", "there").has_value());
}

Hello hello_with(const std::string& text) {
    Hello hello = make_settings(1).hello;
    hello.settings_text = text;
    hello.training_digest = sha256(text);
    return hello;
}

TEST_CASE("a text that is not what the digest is of is not believed") {
    HelloTerms terms;
    terms.own = hello_with(ours);
    Hello hello = hello_with(with("0.05", "0.01"));
    CHECK(check_hello(hello, terms, {})->expected == "training.learning_rate: 0.05");
    CHECK(check_hello(hello, terms, {})->got == "training.learning_rate: 0.01");
    hello.settings_text += "more: 1\n";  // as of a man in the middle
    CHECK(check_hello(hello, terms, {})->got == short_hex(hello.training_digest));
    hello.settings_text.clear();  // as of an older version
    CHECK(check_hello(hello, terms, {})->got == short_hex(hello.training_digest));
}

TEST_CASE("two transports with other settings tell each other which") {
    auto a = make_settings(0), b = make_settings(1);
    a.hello.settings_text = ours;
    a.hello.training_digest = sha256(ours);
    b.hello.settings_text = with("0.05", "0.01");
    b.hello.training_digest = sha256(b.hello.settings_text);
    Pair pair(a, b);
    pair.a.start();
    pair.b.start();
    CHECK(pair.a.wait(
        [&] { return pair.a.logged("(training.learning_rate: 0.05 here, 0.01 at p1)"); }));
    CHECK(pair.b.wait(
        [&] { return pair.b.logged("(training.learning_rate: 0.01 here, 0.05 at p0)"); }));
}

}  // namespace
}  // namespace ako::settings_difference_test
