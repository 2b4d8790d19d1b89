// Where all peers go on from the same checkpoint, one whose disk took longer than seven marks for
// one had it when all others had just removed theirs, each time: what all had stood still, and
// before the first there was none. Two slow disks left out different marks, and met by chance.
// Since then a slow disk writes one in 4, 8, 16 or 32, and the others keep the newest of each.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

#include "src/results/checkpoint_folder.h"
#include "src/training/checkpoints.h"
#include "tests/unit/results/checkpoints.h"

namespace ako::slow_disks_in_lockstep {

namespace {

/// One whose disk needs so many marks for one checkpoint, and half of one more.
class Peer {
  public:
    Peer(const std::string& name, std::uint64_t marks_per_write)
        : marks_per_write_(marks_per_write),
          kept_(files_, folder_.path(), test::owner_of(name)),
          checkpoints_(
              1, [](auto, const Verdict&) -> Result<void> { return {}; }, [](const auto&) {},
              [](const auto&) {},
              [this](const Checkpoint& it) {
                  disk_.acquire();
                  return kept_.write(it);
              }) {}

    /// What is on the disk before this mark.
    const std::vector<CheckpointId>& told(std::uint64_t mark) {
        if (begun_ && mark > *begun_ + marks_per_write_) {
            disk_.release();
            checkpoints_.flush();
            begun_.reset();
            if (const auto news = checkpoints_.take_news().kept) told_ = *news;
        }
        return told_;
    }
    void pass(std::uint64_t mark, std::optional<CheckpointId> common) {
        checkpoints_.is_due(0);
        Checkpoint* const room = checkpoints_.room(0);
        if (room == nullptr) return;
        room->id = {7, mark};
        room->together = true;
        room->common = common;
        begun_ = mark;
        checkpoints_.filled();
    }
    void end() {
        if (begun_) disk_.release();
    }

  private:
    const std::uint64_t marks_per_write_;
    const test::TemporaryFolder folder_;
    SystemFiles files_;
    CheckpointFolder kept_;
    std::counting_semaphore<> disk_{0};
    std::optional<std::uint64_t> begun_;
    std::vector<CheckpointId> told_;
    Checkpoints checkpoints_;
};

/// How old the newest that all had was at most, in marks, at any of 200.
std::uint64_t oldest_common(const std::vector<std::uint64_t>& marks_per_write) {
    std::vector<std::unique_ptr<Peer>> peers;
    for (const std::uint64_t marks : marks_per_write)
        peers.push_back(std::make_unique<Peer>("a", marks));
    std::uint64_t oldest = 0;
    Round newest = 0;
    for (std::uint64_t mark = 1; mark <= 200; ++mark) {
        std::vector<CheckpointId> common = peers[0]->told(mark);
        for (const auto& peer : peers)
            std::erase_if(common, [&](const CheckpointId& id) {
                const auto& told = peer->told(mark);
                return std::find(told.begin(), told.end(), id) == told.end();
            });
        if (!common.empty()) newest = common.front().round;
        const bool some = !common.empty();
        for (const auto& peer : peers)
            peer->pass(mark, some ? std::optional(common.front()) : std::nullopt);
        oldest = std::max(oldest, mark - newest);
    }
    for (const auto& peer : peers) peer->end();
    return oldest;
}

TEST_CASE("issue: however slow disks are, what all peers have advances") {
    CHECK(oldest_common({0, 0, 0}) == 1);
    CHECK(oldest_common({0, 9, 0}) <= 3 * 16);
    CHECK(oldest_common({0, 1, 2}) <= 3 * 4);
    CHECK(oldest_common({3, 5, 9}) <= 3 * 16);
    CHECK(oldest_common({0, 29, 1}) <= 3 * 32);
}

}  // namespace
}  // namespace ako::slow_disks_in_lockstep
