// A user saw nothing: a key file that its whole group could replace (mode 0660) was taken as one
// that only its owner can. Since then it is refused; that the group reads it (0640) is still
// allowed, for the user of a container's image reads it so.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ako/error.h"
#include "src/config/key_file.h"
#include "tests/contains.h"

namespace ako::key_that_its_group_may_write {

using ako::test::contains;

TEST_CASE("a key that its group may write is refused, one that it may read is not") {
    std::string folder = (std::filesystem::temp_directory_path() / "ako-key-XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    const std::string path = folder + "/cluster.key";
    std::ofstream(path) << "0123456789abcdef";
    for (const mode_t mode : {0660, 0620}) {
        REQUIRE(chmod(path.c_str(), mode) == 0);
        std::string what, hint;
        try {
            read_key_file(path);
        } catch (const StartupError& error) {
            what = error.what();
            hint = error.hint();
        }
        CHECK(contains(what, "every user of its group may replace the key (mode 06"));
        CHECK(hint == "chmod g-w " + path);
    }
    REQUIRE(chmod(path.c_str(), 0640) == 0);
    CHECK(read_key_file(path) == "0123456789abcdef");
    std::filesystem::remove_all(folder);
}

}  // namespace ako::key_that_its_group_may_write
