// A user saw a file that `ako check` took and wrote as another: a path with a byte that is not
// UTF-8 (a Latin-1 editor's) became a path with other letters in the resolved file. Found by the
// fuzzer of cluster files. Since then such a file is refused, with the line and the byte.
#include <doctest/doctest.h>

#include "tests/contains.h"
#include "tests/unit/config/complaint.h"

namespace ako::bytes_that_are_no_letters {

using ako::test::complaint;
using ako::test::contains;

TEST_CASE("a byte that is not UTF-8 is refused with its place") {
    const std::string file =
        "run: small\nmodel: synthetic\npeers: [{name: a, address: 'h:1'}]\noutput: caf\xe9\n";
    CHECK(complaint(file, "small.yaml", {}) ==
          "small.yaml:4: expected text in UTF-8, found the byte 0xe9 (save it in UTF-8, or write "
          "the letter as \"\\u00e9\" in quotes)");
    const std::string good = file.substr(0, file.find("output"));
    CHECK(contains(complaint(good, "small.yaml", {"output=caf\xe9"}), "found the byte 0xe9"));
    CHECK(ako::read_cluster_text(good + "output: caf\xc3\xa9\n", "small.yaml", {})
              .output.ends_with("/caf\xc3\xa9"));
}

}  // namespace ako::bytes_that_are_no_letters
