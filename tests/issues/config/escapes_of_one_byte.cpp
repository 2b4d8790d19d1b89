// yaml-cpp makes one byte, and no UTF-8, of the escapes \_ and \N. An address with one was taken,
// and the resolved file read back as another. Found by the fuzzer of cluster files. Since then such
// an escape is refused, with its place.
#include <doctest/doctest.h>

#include "tests/contains.h"
#include "tests/unit/config/complaint.h"

namespace ako::escapes_of_one_byte {

using ako::test::complaint;
using ako::test::contains;

TEST_CASE("an escape that gives a byte and no letter is refused with its place") {
    const std::string start = "run: small\nmodel: synthetic\npeers:\n  - {name: a, address: ";
    for (const char* escape : {"\\_", "\\N"}) {
        const std::string said = complaint(start + "\"h" + escape + ":1\"}\n", "small.yaml", {});
        CHECK(contains(said, "small.yaml:4:24: expected letters, found the byte 0x"));
        CHECK(contains(said, "\\u00a0"));
    }
    CHECK(ako::read_cluster_text(start + "\"h\\u00a0:1\"}\n", "small.yaml", {}).peers[0].address ==
          "h\xc2\xa0:1");
}

}  // namespace ako::escapes_of_one_byte
