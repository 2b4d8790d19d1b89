// A lock file has one holder at a time.
#include "src/system/lock_file.h"

#include <doctest/doctest.h>

#include <filesystem>

namespace ako::lock_file_test {

namespace fs = std::filesystem;

TEST_CASE("a lock is one's own until it goes") {
    const std::string folder = (fs::temp_directory_path() / "ako-lock-file-test").string();
    fs::remove_all(folder);
    const std::string file = folder + "/below/lock";
    {
        const LockFile first(file);
        CHECK(first.state() == LockFile::State::held);
        CHECK(LockFile(file).state() == LockFile::State::taken);
    }
    CHECK(LockFile(file).state() == LockFile::State::held);
    fs::create_symlink(file, folder + "/link");
    const LockFile link(folder + "/link");
    CHECK(link.state() == LockFile::State::no_file);
    CHECK(!link.why().empty());
    fs::remove_all(folder);
}

}  // namespace ako::lock_file_test
