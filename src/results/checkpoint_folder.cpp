#include "src/results/checkpoint_folder.h"

#include <algorithm>
#include <bit>
#include <filesystem>

#include "ako/frame.h"
#include "src/results/disk_reserve.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

/// The newest, and the one before.
constexpr std::size_t kept_at_least = 2;
/// The others are told of no more, and a peer whose disk is full must not fill those of all. The
/// newest that all have is one of these.
constexpr std::size_t kept_at_most = checkpoints_told_max;
// The newest of all, that which all have, and one for every power of two above 1.
static_assert(kept_at_least + std::bit_width(marks_apart_max) <= kept_at_most);

/// `to` is the same file as `from`, or has the same in it; `unfinished` until it has.
Result<void> have_as(FileLayer& files, const std::string& from, const std::string& to,
                     const std::string& unfinished) {
    std::error_code none;
    if (fs::equivalent(from, to, none) || files.link(from, to)) return {};
    return copy_durable_file(files, from, to, unfinished);
}

}  // namespace

Result<void> CheckpointFolder::take_over(const std::vector<KeptCheckpoint>& earlier) {
    for (const KeptCheckpoint& it : earlier) {
        const std::string path = checkpoint_path(folder_, owner_.peer, it.id.round);
        if (std::ranges::find(kept_, path, &KeptCheckpoint::path) != kept_.end()) continue;
        const auto has =
            have_as(files_, it.path, path, unfinished_checkpoint_path(folder_, owner_.peer));
        if (!has) return fail(Error::Kind::io, path + ": cannot be made: " + has.error().what);
        kept_.push_back(it);
        kept_.back().path = path;
    }
    if (const auto synced = files_.sync_folder(folder_); !synced)
        return fail(Error::Kind::io, folder_ + ": cannot be synced: " + synced.error().what);
    return {};
}

Result<void> CheckpointFolder::write_beside_reserve(const Checkpoint& checkpoint) {
    std::uint64_t bytes = 0;
    for (const auto& [name, values] : checkpoint.floats) bytes += values.size() * sizeof(float);
    for (const auto& [name, values] : checkpoint.words)
        bytes += values.size() * sizeof(std::uint64_t);
    if (auto enough = keep_reserve(files_, folder_, bytes, reserve_); !enough) return enough;
    if (auto written = write_checkpoint(files_, folder_, owner_, checkpoint); !written)
        return written;
    // Another peer may have written one in the same room meanwhile.
    return keep_reserve(files_, folder_, 0, reserve_);
}

Result<std::vector<CheckpointId>> CheckpointFolder::write(const Checkpoint& checkpoint) {
    const std::string path = checkpoint_path(folder_, owner_.peer, checkpoint.id.round);
    const auto same = [&path](const KeptCheckpoint& it) { return it.path == path; };
    if (const auto written = write_beside_reserve(checkpoint); !written) {
        // Where its name is not safe, or no reserve left, it is there, and nobody would ever remove
        // it.
        if (std::none_of(kept_.begin(), kept_.end(), same)) files_.remove(path);
        return fail(Error::Kind::io, path + ": " + written.error().what);
    }
    std::erase_if(kept_, same);
    kept_.insert(kept_.begin(), {checkpoint.id, checkpoint.progress, path, checkpoint.mark});
    remove_older(checkpoint);
    return kept();
}

void CheckpointFolder::remove_older(const Checkpoint& than) {
    const auto common = std::find_if(kept_.begin(), kept_.end(), [&than](const auto& it) {
        return than.common && it.id == *than.common;
    });
    std::size_t needed = kept_.size();  // nobody knows which the others are coming to
    if (!than.together) needed = kept_at_least;
    if (common != kept_.end())
        needed = std::max(kept_at_least, static_cast<std::size_t>(common - kept_.begin()) + 1);
    while (kept_.size() > needed) remove(kept_.size() - 1);
    while (kept_.size() > kept_at_most) remove(least_needed(than));
}

void CheckpointFolder::remove(std::size_t place) {
    files_.remove(kept_[place].path);
    kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(place));
}

std::size_t CheckpointFolder::least_needed(const Checkpoint& newest) const {
    std::size_t place = kept_.size() - 1;
    while (place > kept_at_least &&
           (kept_[place].id == newest.common || slow_disk_is_at(place, newest.due_every)))
        --place;
    return place;
}

bool CheckpointFolder::slow_disk_is_at(std::size_t place, std::uint64_t due_every) const {
    for (std::uint64_t apart = 2; apart <= marks_apart_max; apart *= 2) {
        const std::uint64_t marks = apart * due_every;
        const auto newest = std::find_if(kept_.begin(), kept_.end(),
                                         [marks](const auto& it) { return it.mark % marks == 0; });
        if (newest - kept_.begin() == static_cast<std::ptrdiff_t>(place)) return true;
    }
    return false;
}

std::vector<CheckpointId> CheckpointFolder::kept() const {
    std::vector<CheckpointId> ids;
    for (const KeptCheckpoint& it : kept_) ids.push_back(it.id);
    return ids;
}

}  // namespace ako
