// The words of the command line: commands that are misspelt, what a shell completes, and what
// `ako keys` prints.
#include <doctest/doctest.h>

#include <CLI/CLI.hpp>

#include "ako/error.h"
#include "src/commands/completion.h"
#include "src/commands/keys_command.h"
#include "src/commands/wrapped_text.h"
#include "tests/contains.h"

namespace ako::command_words_test {

namespace {

using test::contains;

/// As run_command_line makes it, with fewer words.
struct Commands {
    CLI::App app{"about", "ako"};
    std::string file;
    bool plain = false;
    int hidden = 0;

    Commands() {
        CLI::App* launch = app.add_subcommand("launch", "");
        launch->add_option("FILE", file);
        launch->add_flag("--plain", plain);
        launch->add_option("--report-fd", hidden)->group("");
        app.add_subcommand("check", "")->add_option("-o", file);
    }
};

std::string complaint(const std::string& word) {
    const Commands commands;
    try {
        check_command_word(commands.app, word);
    } catch (const StartupError& error) {
        return std::string(error.what()) + " / " + error.hint();
    }
    return "";
}

TEST_CASE("a command that is misspelt is named") {
    CHECK(complaint("launch") == "");
    CHECK(complaint("--help") == "");
    CHECK(complaint("lauch") == "there is no command lauch / did you mean launch?");
    CHECK(contains(complaint("xyzzy"), "the commands are launch, check"));
}

TEST_CASE("an option that is misspelt is named, and none that is hidden") {
    Commands commands;
    const std::vector<std::string> words = {"launch", "c.yaml", "--plian"};
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    CHECK_THROWS_AS(commands.app.parse(reversed), CLI::ParseError);
    CHECK(option_meant(commands.app, words) == "did you mean --plain?");
    CHECK(option_meant(commands.app, {"launch", "--plain"}) == "");
    CHECK(option_meant(commands.app, {"launch", "--report-df=3"}) == "");
}

TEST_CASE("the script for bash knows commands, options and keys") {
    const Commands commands;
    const std::string script = bash_completion(commands.app);
    CHECK(contains(script, "launch) options=\"--help -h --plain\""));
    CHECK(contains(script, "_ako_commands=\"launch check"));
    CHECK(contains(script, " training.learning_rate "));
    CHECK_FALSE(contains(script, "report-fd"));
    CHECK_FALSE(contains(script, "peers.*"));
    CHECK(contains(script, "complete -F _ako ako\n"));
}

TEST_CASE("a key is printed with meaning, range and default, within 80 columns") {
    CHECK(keys_text({.group = "training.batch.local"}) ==
          "training.batch.local\n"
          "    samples per round of one peer (`batch: 64`); with a batch of all peers\n"
          "    together: at most so many are computed at once\n"
          "    a whole number from 1 to 65536; default 64\n");
    CHECK(contains(keys_text({.group = "data.path"}), "required but for models"));
    CHECK(contains(keys_text({.group = "model.noise"}), "    only with model.name: synthetic\n"));
    CHECK(contains(keys_text({.group = "model.layers"}), "    - conv: {outputs: 20, window: 5}"));
    const std::string all = keys_text({});
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t end = all.find('\n', at);
        const std::string line = all.substr(at, end - at);
        CAPTURE(line);
        // Examples of layers and lists may be longer words than a line.
        CHECK((line.size() <= 80 || line.starts_with("    - ")));
        at = end + 1;
    }
    CHECK(wrapped("a b", "# ") == "# a b\n");
}

}  // namespace
}  // namespace ako::command_words_test
