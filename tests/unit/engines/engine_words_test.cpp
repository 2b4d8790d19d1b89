// The words that go to engines: templates, shells, names and time limits.
#include <doctest/doctest.h>

#include "ako/error.h"
#include "src/engines/containers.h"
#include "src/engines/engine_command.h"
#include "src/engines/template_text.h"
#include "src/engines/time_limit.h"

namespace ako::engine_words_test {

TEST_CASE("a template has its values, and leaves out lines without one") {
    CHECK(filled("a @one@ b\nc @two@ @one@\nlast @ and @@\n", {{"one", "1"}, {"two", ""}}) ==
          "a 1 b\nlast @ and @@\n");
}

TEST_CASE("words of a shell are quoted where they need it") {
    CHECK(quoted_words({"python3", "train.py", "a b", "it's", "{name}", ""}) ==
          "python3 train.py 'a b' 'it'\\''s' '{name}' ''");
}

TEST_CASE("names that every engine takes") {
    CHECK(engine_name("MNIST_Lenet-2026") == "mnist-lenet-2026");
    CHECK(engine_name("7up") == "ako-7up");
    const std::string of_long = engine_name(std::string(60, 'x') + "-20261129-120000");
    CHECK(of_long.size() <= 40);
    CHECK(of_long.ends_with("-20261129-120000"));
}

TEST_CASE("time limits as Slurm has them") {
    CHECK(time_limit_s("90") == 90UL * 60);
    CHECK(time_limit_s("1:30") == 90UL);
    CHECK(time_limit_s("2:00:00") == 7200UL);
    CHECK(time_limit_s("1-12") == 36UL * 3600);
    CHECK(time_limit_s("1-12:30") == 36UL * 3600 + 1800);
    CHECK(!time_limit_s(""));
    for (const char* wrong : {"soon", "1:2:3:4", "1-", "-1", "2h"})
        CHECK_THROWS_AS(time_limit_s(wrong), StartupError);
}

}  // namespace ako::engine_words_test
