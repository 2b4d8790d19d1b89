// Every key has a meaning, a range and a default.
#include "src/config/key_texts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "ako/error.h"
#include "src/config/fields.h"
#include "src/config/layer_fields.h"
#include "tests/contains.h"

namespace ako::key_texts_test {

using test::contains;

namespace {

const KeyText& of(const std::string& path) {
    for (const KeyText& text : key_texts())
        if (text.path == path) return text;
    FAIL("no key ", path);
    return key_texts().front();
}

}  // namespace

TEST_CASE("all known keys have a meaning, a range and a default or the word that there is none") {
    std::set<std::string> told;
    for (const KeyText& text : key_texts()) {
        CAPTURE(text.path);
        CHECK(told.insert(text.path).second);
        CHECK_FALSE(text.meaning.empty());
        CHECK_FALSE(text.expected.empty());
        CHECK_FALSE(text.standard.empty());
        CHECK(text.standard != "?");
    }
    CHECK(told == std::set<std::string>(known_keys().begin(), known_keys().end()));
}

TEST_CASE("range and default come from the table that reads the file") {
    CHECK(of("training.batch.local").expected == "a whole number from 1 to 65536");
    CHECK(of("training.batch.local").standard == "64");
    CHECK(of("exchange.mode").standard == "ako");
    CHECK(of("exchange.consistency").standard == "bsp");
    CHECK(of("data.path").standard.starts_with("required"));
    CHECK(of("model.noise").applies_with == "model.name: synthetic");
    CHECK(contains(of("peers.*.name").expected, "at most 32 letters"));
    bool conv = false;
    for (const std::string& form : layer_forms_text())
        conv |= form.starts_with("conv: ") && contains(form, "[stride 1 to 256]");
    CHECK(conv);
}

TEST_CASE("a group, a single key, and the nearest where there is neither") {
    CHECK(key_texts_of("").size() == key_texts().size());
    CHECK(key_texts_of("training.schedule").size() == 4);
    CHECK(key_texts_of("training.epochs").size() == 1);
    CHECK(key_texts_of("peers").size() == 8);
    CHECK(key_texts_of("peers").front().path == "peers");
    try {
        key_texts_of("exchnge");
        FAIL("accepted");
    } catch (const StartupError& error) {
        CHECK(contains(error.what(), "exchnge"));
        CHECK(error.hint() == "did you mean exchange?");
    }
    CHECK_THROWS_AS(key_texts_of("train"), StartupError);
}

TEST_CASE("the keys of a mode have its defaults, and say which values it has a form of") {
    const auto text_of = [](const char* path, const char* mode) {
        return key_texts_of(path, entry_named(mode)).front();
    };
    CHECK(text_of("exchange.life_timeout_ms", "local-sgd").standard == "30000");
    CHECK(text_of("exchange.life_timeout_ms", "ako").standard == "2000");
    REQUIRE(text_of("training.learners", "local-sgd").limits.size() == 1);
    CHECK(text_of("training.learners", "local-sgd").limits[0].starts_with("1: its local rounds"));
    CHECK(text_of("training.learners", "ring").limits.size() == 1);  // said once of all its forms
    CHECK(text_of("training.learners", "ako").limits.empty());
    const std::vector<std::string> ahead = text_of("training.optimizer", "ring").limits;
    REQUIRE(!ahead.empty());
    CHECK(ahead.back().starts_with("sgd with exchange.rounds_ahead: 1: "));
    CHECK(text_of("exchange.start_peers_min", "ring").applies_with ==
          "exchange.mode: ako or ring with exchange.elastic: true");
    CHECK(text_of("exchange.mode", "ring").standard == "ako");
    try {
        key_texts_of("exchange.start_peers_min", entry_named("sma"));
        FAIL("it is not heeded");
    } catch (const StartupError& error) {
        CHECK(contains(error.what(), "the mode sma does not heed exchange.start_peers_min"));
    }
}

}  // namespace ako::key_texts_test
