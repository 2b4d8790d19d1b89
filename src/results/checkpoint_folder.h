// The checkpoints of one peer in its run folder: writes a new one, and then removes those that
// nobody needs any more. Kept are the newest two, for the newest may be the one that a failing disk
// has taken badly. Where all peers have to go on from the same, kept is the newest that every peer
// is known to have, and what is newer: any of them may be the next that a slow disk comes to. If
// these are more than a Status tells of, the oldest go, but never that one, nor those that a slow
// disk is at now: the newest whose mark is divided by 2, by 4, .., by marks_apart_max, times the
// marks from one to the next where they are made as often as pays. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/results/checkpoint_file.h"

namespace ako {

/// A file that is whole, and of this peer.
struct KeptCheckpoint {
    CheckpointId id;
    double progress = 0;
    std::string path;
    std::uint64_t mark = 0;  ///< as in Checkpoint
    RunPast past = {};
    /// Another one of these peers made it; empty: it is this peer's own.
    std::vector<std::string> of_peers = {};

    bool operator==(const KeptCheckpoint&) const = default;
};

class CheckpointFolder {
  public:
    /// `files` outlives this. `reserve`: so many bytes of the disk stay free, see disk_reserve.h.
    CheckpointFolder(FileLayer& files, std::string folder, CheckpointOwner owner,
                     std::uint64_t reserve = 0)
        : files_(files), folder_(std::move(folder)), owner_(std::move(owner)), reserve_(reserve) {}

    /// Has these, newest first, in this folder as well, so that whoever goes on from this run
    /// before it has written one of its own finds them: by a second name, or as a copy where a file
    /// system has none; of two of one round, which other peers may leave, the first. An error names
    /// the file that it could not have.
    Result<void> take_over(const std::vector<KeptCheckpoint>& earlier);

    /// Writes it; an error names the file, and nothing has changed. Returns those that are kept,
    /// newest first.
    Result<std::vector<CheckpointId>> write(const Checkpoint& checkpoint);

    /// Newest first.
    std::vector<CheckpointId> kept() const;

  private:
    /// Written, and the reserve is free all the same.
    Result<void> write_beside_reserve(const Checkpoint& checkpoint);
    void remove_older(const Checkpoint& than);
    void remove(std::size_t place);
    /// The oldest but for the newest two, and those that a slow disk is at; a place in kept_.
    std::size_t least_needed(const Checkpoint& newest) const;
    /// `due_every`: marks, from one checkpoint of this peer to the next.
    bool slow_disk_is_at(std::size_t place, std::uint64_t due_every) const;

    FileLayer& files_;
    const std::string folder_;
    const CheckpointOwner owner_;
    const std::uint64_t reserve_;
    std::vector<KeptCheckpoint> kept_;  ///< newest first
};

}  // namespace ako
