// The checkpoints in a run folder, whatever happens while one is written: the process is killed,
// the power goes, the disk is full.
#include "src/results/checkpoint_folder.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

#include "tests/contains.h"
#include "tests/unit/results/checkpoints.h"
#include "tests/unit/results/power_cut.h"

namespace ako::checkpoint_folder_test {

using namespace ako::test;

namespace fs = std::filesystem;

namespace {

/// Rounds of the whole checkpoints of peer a in the folder, newest first.
std::vector<Round> whole_in(const std::string& folder) {
    std::vector<Round> rounds;
    for (const std::string& path : checkpoint_paths(folder, "a")) {
        const Result<CheckpointHead> head = check_checkpoint(path);
        if (head) rounds.push_back(head->id.round);
    }
    std::sort(rounds.rbegin(), rounds.rend());
    return rounds;
}

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<CheckpointId> write(CheckpointFolder& folder, Round round,
                                std::optional<CheckpointId> common = {}) {
    Checkpoint made = checkpoint_of(round, 100);
    made.together = common.has_value();
    made.common = common;
    const auto kept = folder.write(made);
    REQUIRE_MESSAGE(kept, kept.error().what);
    return *kept;
}

CheckpointId id_of(Round round) { return checkpoint_of(round, 0).id; }

}  // namespace

TEST_CASE("the newest two are kept, and the newest that everybody has") {
    const TemporaryFolder folder;
    SystemFiles files;
    CheckpointFolder kept(files, folder.path(), owner_of("a"));
    CHECK(write(kept, 10) == std::vector{id_of(10)});
    CHECK(write(kept, 20) == std::vector{id_of(20), id_of(10)});
    CHECK(write(kept, 30) == std::vector{id_of(30), id_of(20)});
    // Somebody's disk has been full since round 20.
    CHECK(write(kept, 40, id_of(20)) == std::vector{id_of(40), id_of(30), id_of(20)});
    // Whichever it comes to next is here.
    CHECK(write(kept, 50, id_of(20)) ==
          std::vector{id_of(50), id_of(40), id_of(30), id_of(20)});
    CHECK(write(kept, 60, id_of(50)) == std::vector{id_of(60), id_of(50)});
    CHECK(whole_in(folder.path()) == std::vector<Round>{60, 50});
    CHECK(names_in(folder.path()) ==
          std::vector<std::string>{"state-a-50.safetensors", "state-a-60.safetensors"});
}

TEST_CASE("what others may yet come to is not removed, but for what is too much") {
    const TemporaryFolder folder;
    SystemFiles files;
    CheckpointFolder kept(files, folder.path(), owner_of("a"));
    const auto write_together = [&kept](Round round, std::optional<CheckpointId> common) {
        Checkpoint made = checkpoint_of(round, 100);
        made.together = true;
        made.common = common;
        made.mark = round;
        const auto ids = kept.write(made);
        REQUIRE(ids);
        std::vector<Round> rounds;
        for (const CheckpointId& id : *ids) rounds.push_back(id.round);
        return rounds;
    };
    for (const Round round : {1, 2, 3, 4}) write_together(round, {});
    CHECK(whole_in(folder.path()) == std::vector<Round>{4, 3, 2, 1});
    // The disk of another is full since round 2: this one must not fill up for that.
    for (Round round = 5; round < 30; ++round) write_together(round, id_of(2));
    // Nor may it lack what a slow one is at: one in 4, 8, 16 or 32.
    CHECK(write_together(30, id_of(2)) == std::vector<Round>{30, 29, 28, 27, 26, 24, 16, 2});
}

TEST_CASE("what it goes on from is in its own folder, too, and goes when it is not needed") {
    const TemporaryFolder before, now;
    SystemFiles files;
    CheckpointFolder earlier(files, before.path(), owner_of("a"));
    write(earlier, 10);
    write(earlier, 20);
    CheckpointFolder kept(files, now.path(), owner_of("a"));
    REQUIRE(kept.take_over({{id_of(20), 0, before.file("state-a-20.safetensors")},
                            {id_of(10), 0, before.file("state-a-10.safetensors")}}));
    CHECK(whole_in(now.path()) == std::vector<Round>{20, 10});
    CHECK(kept.kept() == std::vector{id_of(20), id_of(10)});
    CHECK(write(kept, 30, id_of(20)) == std::vector{id_of(30), id_of(20)});
    CHECK(whole_in(now.path()) == std::vector<Round>{30, 20});
    CHECK(whole_in(before.path()) == std::vector<Round>{20, 10});
    // In the same folder they are there already.
    CheckpointFolder same(files, before.path(), owner_of("a"));
    REQUIRE(same.take_over({{id_of(20), 0, before.file("state-a-20.safetensors")}}));
    CHECK(whole_in(before.path()) == std::vector<Round>{20, 10});
    const auto refused = kept.take_over({{id_of(7), 0, before.file("state-a-7.safetensors")}});
    REQUIRE_FALSE(refused);
    CHECK(contains(refused.error().what, "state-a-7.safetensors: cannot be made: No such file"));
}

// ---- the power goes

namespace {

/// Writes checkpoints until the power goes; the newest round that was said to be kept. A disk that
/// says nothing of its own is one that survives everything.
Round write_until_dark(UnsafeDisk& disk, const std::string& folder) {
    CheckpointFolder kept(disk, folder, owner_of("a"));
    Round newest = 0;
    try {
        for (Round round = 1; round <= 5; ++round) {
            if (kept.write(checkpoint_of(round, 50))) newest = round;
        }
    } catch (const PowerCut&) {
    }
    return newest;
}

/// Did a checkpoint that was said to be kept get lost, at any moment and whatever survived?
bool loses_one(bool syncs) {
    bool lost = false;
    for (std::size_t calls = 0; calls < 70; ++calls) {
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
            const TemporaryFolder folder;
            UnsafeDisk disk(calls, seed, syncs);
            const Round kept = write_until_dark(disk, folder.path());
            disk.write_what_is_left();
            const std::vector<Round> whole = whole_in(folder.path());
            lost = lost || (kept > 0 && (whole.empty() || whole.front() < kept));
        }
    }
    return lost;
}

}  // namespace

TEST_CASE("when the power goes, at any moment, the newest that was said to be kept is there") {
    CHECK_FALSE(loses_one(true));
    CHECK(loses_one(false));  // or the disk of this test could lose nothing
}

// ---- the process is killed

namespace {

/// A process that writes one checkpoint after the other and says which it has.
class Writer {
  public:
    Writer(const std::string& folder, Round first) {
        std::array<int, 2> ends{};
        REQUIRE(pipe(ends.data()) == 0);
        pid_ = fork();
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) write_on(folder, first, ends[1]);
        close(ends[1]);
        said_ = ends[0];
    }
    /// The newest round that it has said.
    Round kill_after(std::chrono::microseconds time) {
        Round newest = 0;
        REQUIRE(read(said_, &newest, sizeof newest) == sizeof newest);  // it is at work
        std::this_thread::sleep_for(time);  // the moment of the fault, not a synchronisation
        ::kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        for (Round next = 0; read(said_, &next, sizeof next) == sizeof next;) newest = next;
        close(said_);
        return newest;
    }

  private:
    [[noreturn]] static void write_on(const std::string& folder, Round first, int out) {
        SystemFiles files;
        CheckpointFolder kept(files, folder, owner_of("a"));
        for (Round round = first;; ++round) {
            const bool done = kept.write(checkpoint_of(round, 200'000)).has_value();
            if (!done || ::write(out, &round, sizeof round) != sizeof round) _exit(1);
        }
    }

    pid_t pid_ = -1;
    int said_ = -1;
};

}  // namespace

TEST_CASE("of a process that is killed, 100 times and more, none that it has written is lost") {
    constexpr int kills_min = 100, unfinished_min = 20, kills_max = 1000;
    const TemporaryFolder folder;
    std::mt19937 random(1);
    Round next = 1;
    int unfinished = 0;
    // How many are killed in the middle of one depends on the disk and on what else runs.
    for (int kills = 0; kills < kills_min || unfinished < unfinished_min; ++kills) {
        REQUIRE(kills < kills_max);
        const Round newest =
            Writer(folder.path(), next).kill_after(std::chrono::microseconds(random() % 8000));
        const std::vector<Round> whole = whole_in(folder.path());
        REQUIRE(!whole.empty());
        REQUIRE(whole.front() >= newest);
        unfinished += fs::exists(unfinished_checkpoint_path(folder.path(), "a")) ? 1 : 0;
        next = whole.front() + 1;
    }
}

// ---- the disk is full

TEST_CASE("a disk without room is said, and the older ones stay") {
    const TemporaryFolder folder;
    SystemFiles files;
    CheckpointFolder kept(files, folder.path(), owner_of("a"));
    write(kept, 10);
    const auto handler = signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit limited{700, before.rlim_max};  // half a file
    setrlimit(RLIMIT_FSIZE, &limited);
    const auto refused = kept.write(checkpoint_of(20, 100));
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what == folder.file("state-a-20.safetensors: File too large"));
    CHECK(names_in(folder.path()) == std::vector<std::string>{"state-a-10.safetensors"});
    CHECK(kept.kept() == std::vector{id_of(10)});
    CHECK(write(kept, 30) == std::vector{id_of(30), id_of(10)});
}

}  // namespace ako::checkpoint_folder_test
