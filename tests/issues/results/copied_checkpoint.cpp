// Where a file system has no second names, the checkpoint that a run went on from was copied into
// its folder without waiting for the disk: after a loss of power it could be empty under its full
// name. And where the name of a new checkpoint did not get to the disk, the older ones were removed
// for it all the same.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "src/results/checkpoint_folder.h"
#include "tests/contains.h"
#include "tests/unit/results/checkpoints.h"
#include "tests/unit/results/watched_files.h"

namespace ako::copied_checkpoint {

namespace {

TEST_CASE("issue: a checkpoint that is copied is on the disk before it has its name") {
    const test::TemporaryFolder before, now;
    test::WatchedFiles files;
    CheckpointFolder earlier(files, before.path(), test::owner_of("a"));
    // More than is copied at once.
    REQUIRE(earlier.write(test::checkpoint_of(20, 500'000)));
    files.links = false;
    files.calls.clear();
    CheckpointFolder kept(files, now.path(), test::owner_of("a"));
    REQUIRE(kept.take_over({{{7, 20}, 0, before.file("state-a-20.safetensors")}}));
    CHECK(files.calls ==
          std::vector<std::string>{"sync " + now.file("state-a.partial"),
                                   "rename " + now.file("state-a-20.safetensors"),
                                   "names " + now.path()});
    CHECK(check_checkpoint(now.file("state-a-20.safetensors")));
}

TEST_CASE("issue: no older checkpoint goes for one whose name is not on the disk") {
    const test::TemporaryFolder folder;
    test::WatchedFiles files;
    CheckpointFolder kept(files, folder.path(), test::owner_of("a"));
    for (const Round round : {10, 20}) REQUIRE(kept.write(test::checkpoint_of(round, 10)));
    files.syncs_folders = false;
    const auto refused = kept.write(test::checkpoint_of(30, 10));
    REQUIRE_FALSE(refused);
    CHECK(test::contains(refused.error().what, "state-a-30.safetensors: Input/output error"));
    CHECK(kept.kept().size() == 2);
    CHECK(std::filesystem::exists(folder.file("state-a-10.safetensors")));
    CHECK_FALSE(std::filesystem::exists(folder.file("state-a-30.safetensors")));
    CHECK_FALSE(kept.take_over({}));
}

}  // namespace
}  // namespace ako::copied_checkpoint
