// Nobody but the fuzzer of cluster files saw it: texts with brackets that nothing closes, each of
// which was read, were written as a file that was refused for its depth, because the reader counts
// brackets in quotes too. Since then such brackets are written as escapes.
#include <doctest/doctest.h>

#include <string>

#include "src/config/cluster_file.h"

namespace ako::brackets_in_texts {

TEST_CASE("what was read is written as a file that reads back, whatever brackets its texts have") {
    const std::string brackets(40, '[');
    const std::string closed(40, ']');
    const std::string file =
        "run: small\nmodel: synthetic\npeers: [{name: a, address: 'h:1'}]\n"
        "output: '/" +
        brackets + "' # " + closed +
        "\n"
        "cluster_key_file: '/" +
        brackets + "' # " + closed + "\n";
    const Settings settings = read_cluster_text(file, "small.yaml", {});
    CHECK(settings.output == "/" + brackets);
    CHECK(read_cluster_text(write_cluster_text(settings), "small.yaml", {}) == settings);
}

}  // namespace ako::brackets_in_texts
