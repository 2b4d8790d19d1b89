// A checkpoint took the last room of a disk, and at the end there was none for the model, the
// result and the summary: the run ended by exit 6. Since then one is left out that would not leave
// free what these take, and a checkpoint that others made too large meanwhile is removed again.
#include <doctest/doctest.h>

#include <string>

#include "src/results/checkpoint_folder.h"
#include "src/results/disk_reserve.h"
#include "src/results/model_files.h"
#include "tests/contains.h"
#include "tests/unit/results/checkpoints.h"
#include "tests/unit/results/watched_files.h"

namespace ako::checkpoint_in_the_last_room {

namespace {

constexpr std::size_t parameter_count = 1'000'000;
constexpr std::uint64_t parameter_bytes = parameter_count * sizeof(float);
constexpr std::uint64_t reserve = end_bytes(parameter_count);
constexpr std::uint64_t slack = 64 * 1024;  // for a header

using test::contains;

}  // namespace

TEST_CASE("a checkpoint leaves free what the end of the run takes") {
    const test::TemporaryFolder folder;
    test::WatchedFiles files;
    CheckpointFolder kept(files, folder.path(), test::owner_of("a"), reserve);
    files.room = parameter_bytes + reserve + slack;
    REQUIRE(kept.write(test::checkpoint_of(1, parameter_count)));
    files.room = parameter_bytes + reserve - 1;
    files.calls.clear();
    const auto refused = kept.write(test::checkpoint_of(2, parameter_count));
    REQUIRE(!refused);
    CHECK_MESSAGE(contains(refused.error().what, "state-a-2.safetensors: the disk has room for "),
                  refused.error().what);
    CHECK(files.calls.empty());  // nothing was written
    CHECK(checkpoint_paths(folder.path(), "a") ==
          std::vector{checkpoint_path(folder.path(), "a", 1)});
    CHECK(kept.kept() == std::vector{test::checkpoint_of(1, 0).id});
    files.room.reset();  // where nobody knows, the disk has to say it
    CHECK(kept.write(test::checkpoint_of(3, parameter_count)));
}

TEST_CASE("a checkpoint is removed when others have taken the room meanwhile") {
    const test::TemporaryFolder folder;
    test::WatchedFiles files;
    CheckpointFolder kept(files, folder.path(), test::owner_of("a"), reserve);
    files.room = parameter_bytes + reserve;
    files.room_when_synced = reserve - 1;
    CHECK(!kept.write(test::checkpoint_of(1, parameter_count)));
    CHECK(checkpoint_paths(folder.path(), "a").empty());
    CHECK(kept.kept().empty());
}

TEST_CASE("so does the model on the way") {
    const test::TemporaryFolder folder;
    test::WatchedFiles files;
    Settings settings;
    const std::vector<Tensor> tensors = {Tensor{"all", {parameter_count}, 0}};
    const ModelFiles models(files, folder.path(), settings, "a", tensors);
    const std::vector<float> parameters(parameter_count);
    files.room = parameter_bytes + reserve - 1;
    const auto refused = models.write_checkpoint(parameters, {});
    REQUIRE(!refused);
    CHECK_MESSAGE(contains(refused.error().what, "checkpoint.safetensors: the disk has room for "),
                  refused.error().what);
    files.room = parameter_bytes + reserve;
    CHECK(models.write_checkpoint(parameters, {}));
}

}  // namespace ako::checkpoint_in_the_last_room
