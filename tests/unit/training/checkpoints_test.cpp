// Checkpoints: written one at a time beside the caller, who never waits.
#include "src/training/checkpoints.h"

#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace ako::checkpoints_test {

namespace {

/// A disk that takes as long as the test wants, and what was said.
struct Disk {
    std::promise<void> begun, go_on;
    bool holds = false;
    bool full = false;
    std::vector<std::vector<float>> written;
    std::vector<double> progress;
    std::vector<Round> rounds;  ///< of checkpoints
    std::mutex mutex;
    std::vector<std::string> notices, details;

    Result<void> write(std::span<const float> parameters, const Verdict& verdict) {
        if (holds) {
            begun.set_value();
            go_on.get_future().wait();
        }
        if (full) return fail(Error::Kind::io, "no space left");
        written.emplace_back(parameters.begin(), parameters.end());
        progress.push_back(verdict.progress);
        return {};
    }
    Checkpoints::Say into(std::vector<std::string>& lines) {
        return [this, &lines](const std::string& line) {
            const std::lock_guard lock(mutex);
            lines.push_back(line);
        };
    }
    Result<std::vector<CheckpointId>> write_state(const Checkpoint& checkpoint) {
        if (holds) {
            begun.set_value();
            go_on.get_future().wait();
        }
        if (full) return fail(Error::Kind::io, "no space left");
        rounds.push_back(checkpoint.id.round);
        return std::vector{checkpoint.id};
    }
    std::unique_ptr<Checkpoints> checkpoints(std::optional<CheckpointPace> pace = std::nullopt) {
        return std::make_unique<Checkpoints>(
            3,
            [this](auto parameters, const Verdict& verdict) { return write(parameters, verdict); },
            into(notices), into(details),
            [this](const Checkpoint& checkpoint) { return write_state(checkpoint); }, RunPast{0, 0},
            pace);
    }
};

}  // namespace

TEST_CASE("what was taken is written, at the latest when it ends") {
    Disk disk;
    std::vector<float> parameters{1, 2, 3};
    auto checkpoints = disk.checkpoints();
    checkpoints->take(parameters, {0.5, 0.9F, 0.1F});
    CHECK(parameters.size() == 3);
    checkpoints.reset();
    CHECK(disk.written == std::vector<std::vector<float>>{{1, 2, 3}});
    CHECK(disk.progress == std::vector<double>{0.5});
    CHECK(disk.notices.empty());
    CHECK(disk.details == std::vector<std::string>{"the model at 50 % of the run is written"});
}

TEST_CASE("while the disk is busy another is left out and said, and the caller goes on") {
    Disk disk;
    disk.holds = true;
    auto checkpoints = disk.checkpoints();
    std::vector<float> parameters{1, 2, 3};
    checkpoints->take(parameters, {0.25, 0.9F, 0.1F});
    disk.begun.get_future().wait();
    std::vector<float> next{4, 5, 6};
    checkpoints->take(next, {0.5, 0.9F, 0.1F});
    CHECK(next == std::vector<float>{4, 5, 6});
    disk.go_on.set_value();
    checkpoints.reset();
    CHECK(disk.written == std::vector<std::vector<float>>{{1, 2, 3}});
    REQUIRE(disk.notices.size() == 1);
    CHECK(disk.notices[0] ==
          "the model at 50 % of the run is left out: the one before is still being written");
}

TEST_CASE("a disk that refuses is named once, and so is its recovery") {
    Disk disk;
    auto checkpoints = disk.checkpoints();
    std::vector<float> parameters(3);
    for (const double progress : {0.25, 0.5, 0.75, 0.875}) {
        disk.full = progress <= 0.5;
        checkpoints->take(parameters, {progress, 0.9F, 0.1F});
        checkpoints->flush();
    }
    CHECK(disk.notices ==
          std::vector<std::string>{
              "the model at 25 % of the run is not written, training goes on: no space left",
              "the model at 75 % of the run is written again"});
    CHECK(disk.progress == std::vector<double>{0.75, 0.875});
}

TEST_CASE("what a peer goes on from is written beside it, and then said to be kept") {
    Disk disk;
    auto checkpoints = disk.checkpoints();
    CHECK_FALSE(checkpoints->take_news().kept);
    Checkpoint* const room = checkpoints->room(0.5);
    REQUIRE(room != nullptr);
    room->id = {7, 40};
    room->progress = 0.5;
    checkpoints->filled();
    checkpoints->flush();
    CHECK(checkpoints->take_news().kept == std::vector<CheckpointId>{{7, 40}});
    CHECK_FALSE(checkpoints->take_news().kept);  // no news
    checkpoints.reset();
    CHECK(disk.rounds == std::vector<Round>{40});
    REQUIRE(disk.details.size() == 1);
    CHECK(disk.details[0].starts_with("the checkpoint at 50 % of the run is written: training "));
}

TEST_CASE("while one is being written there is no room for the next, which is said") {
    Disk disk;
    disk.holds = true;
    auto checkpoints = disk.checkpoints();
    REQUIRE(checkpoints->room(0.25) != nullptr);
    checkpoints->filled();
    disk.begun.get_future().wait();
    CHECK(checkpoints->room(0.5) == nullptr);
    disk.go_on.set_value();
    checkpoints->flush();
    CHECK(checkpoints->room(0.75) != nullptr);  // and not filled: the exchange gave up
    checkpoints.reset();
    CHECK(disk.rounds.size() == 1);
    CHECK(disk.notices ==
          std::vector<std::string>{"the checkpoint at 50 % of the run is left out: the one before "
                                   "is still being written"});
}

TEST_CASE("the last one is left out in no case: it waits for the one before") {
    Disk disk;
    auto checkpoints = disk.checkpoints();
    for (const Round round : {10, 20}) {
        Checkpoint* const room = checkpoints->last_room();
        REQUIRE(room != nullptr);
        room->id = {7, round};
        checkpoints->filled();
    }
    checkpoints.reset();
    CHECK(disk.rounds == std::vector<Round>{10, 20});
    CHECK(disk.notices.empty());
}

TEST_CASE("a full disk leaves those that are kept, and is said once") {
    Disk disk;
    auto checkpoints = disk.checkpoints();
    for (const Round round : {10, 20, 30, 40}) {
        disk.full = round == 20 || round == 30;
        Checkpoint* const room = checkpoints->room(0);
        REQUIRE(room != nullptr);
        room->id = {7, round};
        room->progress = static_cast<double>(round) / 100;
        checkpoints->filled();
        checkpoints->flush();
        const auto kept = checkpoints->take_news().kept;
        CHECK(kept.has_value() != disk.full);
    }
    CHECK(disk.rounds == std::vector<Round>{10, 40});
    CHECK(disk.notices ==
          std::vector<std::string>{
              "the checkpoint at 20 % of the run is not written, training goes on: no space left",
              "the checkpoint at 40 % of the run is written again"});
}

TEST_CASE("as often as pays: one soon, to know what it takes, and the next by that") {
    Disk disk;
    auto checkpoints = disk.checkpoints(CheckpointPace(1, 0));
    REQUIRE(checkpoints->is_due(0));
    Checkpoint* const room = checkpoints->room(0);
    REQUIRE(room != nullptr);
    CHECK(room->past.starts == 1);
    CHECK(checkpoints->take_news() == CheckpointNews{});
    checkpoints->filled();
    checkpoints->flush();
    std::uint64_t marks = 1;
    const auto next_due = [&](std::uint64_t others_apart) {
        do {
            std::this_thread::yield();  // marks come as fast as they can: many lie between two
            REQUIRE(++marks < 1'000'000'000);
        } while (!checkpoints->is_due(others_apart));
    };
    next_due(0);
    const auto interval = checkpoints->interval();
    REQUIRE(interval);
    CHECK(interval->share <= checkpoint_share_max);
    CHECK(interval->seconds > 0);
    const std::uint64_t own = checkpoints->take_news().marks_apart;
    CHECK(own > 0);
    CHECK(marks % own == 0);
    next_due(16 * own);
    CHECK(marks % (16 * own) == 0);
}

TEST_CASE("one whose expected price is more than its share of so short a training is put off") {
    Disk disk;
    auto checkpoints = disk.checkpoints(CheckpointPace(1, 1'000'000'000'000));
    for (std::uint64_t mark = 1; mark < 100; ++mark) CHECK_FALSE(checkpoints->is_due(0));
    CHECK_FALSE(checkpoints->interval());
}

TEST_CASE("a slow disk writes those that other slow disks write, where all go on from the same") {
    Disk disk;
    auto checkpoints = disk.checkpoints();
    const auto pass = [&](std::uint64_t mark) {
        CHECK(checkpoints->is_due(0));
        Checkpoint* const room = checkpoints->room(0);
        if (room == nullptr) return false;
        CHECK(room->mark == mark);
        room->together = true;
        checkpoints->filled();
        return true;
    };
    disk.holds = true;
    CHECK(pass(1));
    disk.begun.get_future().wait();
    for (const std::uint64_t mark : {2, 3, 4}) CHECK_FALSE(pass(mark));
    disk.go_on.set_value();
    checkpoints->flush();
    disk.holds = false;
    for (const std::uint64_t mark : {5, 6, 7}) CHECK_FALSE(pass(mark));
    CHECK(disk.notices.back() ==
          "the checkpoint at 0 % of the run is left out: the disk is slow, so one in 8 is written, "
          "the same as at others with slow disks");
    CHECK(pass(8));
    checkpoints->flush();
    CHECK(pass(9));  // it was quick
}

}  // namespace ako::checkpoints_test
