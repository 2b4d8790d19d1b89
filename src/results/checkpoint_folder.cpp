#include "src/results/checkpoint_folder.h"

#include <filesystem>

namespace ako {

namespace {

namespace fs = std::filesystem;

/// The newest, and the one before.
constexpr std::size_t kept_at_least = 2;

/// `to` is the same file as `from`, or has the same in it; `unfinished` until it has.
std::error_code have_as(const fs::path& from, const fs::path& to, const fs::path& unfinished) {
    std::error_code error;
    if (fs::equivalent(from, to, error)) return {};
    fs::create_hard_link(from, to, error);
    if (!error) return {};
    if (fs::copy_file(from, unfinished, fs::copy_options::overwrite_existing, error))
        fs::rename(unfinished, to, error);
    std::error_code ignored;
    if (error) fs::remove(unfinished, ignored);
    return error;
}

}  // namespace

Result<void> CheckpointFolder::take_over(const std::vector<KeptCheckpoint>& earlier) {
    for (const KeptCheckpoint& it : earlier) {
        const std::string path = checkpoint_path(folder_, owner_.peer, it.id.round);
        if (const std::error_code error =
                have_as(it.path, path, unfinished_checkpoint_path(folder_, owner_.peer)))
            return fail(Error::Kind::io, path + ": cannot be made: " + error.message());
        kept_.push_back({it.id, it.progress, path});
    }
    files_.sync_folder(folder_);
    return {};
}

Result<std::vector<CheckpointId>> CheckpointFolder::write(const Checkpoint& checkpoint) {
    const std::string path = checkpoint_path(folder_, owner_.peer, checkpoint.id.round);
    if (const auto written = write_checkpoint(files_, folder_, owner_, checkpoint); !written)
        return fail(Error::Kind::io, path + ": " + written.error().what);
    std::erase_if(kept_, [&path](const KeptCheckpoint& it) { return it.path == path; });
    kept_.insert(kept_.begin(), {checkpoint.id, checkpoint.progress, path});
    for (std::size_t place = kept_.size(); place-- > kept_at_least;) {
        if (kept_[place].id == checkpoint.common) continue;
        files_.remove(kept_[place].path);
        kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(place));
    }
    return kept();
}

std::vector<CheckpointId> CheckpointFolder::kept() const {
    std::vector<CheckpointId> ids;
    for (const KeptCheckpoint& it : kept_) ids.push_back(it.id);
    return ids;
}

}  // namespace ako
