// The checkpoint file of one peer, state-<peer>-<round>.safetensors: all that the peer needs to go
// on from there with `--resume`. A safetensors file, laid out as models/safetensors.h says, so that
// any tool can look into it:
//
//   "__metadata__"   what it is of, each as text
//     format         "ako checkpoint 1"
//     run, peer      their names
//     peers          the names of all peers in their order, one a line
//     training       SHA-256 of the settings that all peers share, but for how often they keep
//                    checkpoints; `settings` is the text of them
//     layout         SHA-256 of the names and shapes of the network's tensors
//     initial        SHA-256 of the initial parameters
//     start          of the run, sixteen hexadecimal digits: see CheckpointId
//     round, samples of this peer
//     progress       0 .. 1 of the run
//     seconds, starts
//                    of training so far, and of the run: see RunPast
//     numbers        an object in JSON: what the mode keeps as single numbers
//     crc32c         of the whole file, with eight zeros in the place of these eight digits
//   tensors          what the mode keeps as lists: F32, then U64, each [count]
//
// What a mode keeps:
//
//   ako              row.K of every peer, those blocks of it that this peer keeps (src/rows/
//                    row_copies.h), its .versions (runs of count, incarnation, round; of 0, 0 where
//                    it keeps none) and .checksums; carry, velocity; progress (round, samples of
//                    every peer); run_id
//   ring             parameters, velocity
//   local-sgd        average, replica, velocity (of this peer's rounds), outer_velocity
//   sma              average; as numbers the learners of every peer in the newest two rounds
//   with learners    besides: learner.J.parameters and .velocity of each, learners.update or, in
//                    sma, learners.before; in ako learners.followed; as numbers how many, and steps
//                    of the rate passed
//   parameter-server parameters, as this worker pulled them; of its part as a server: served,
//                    served_velocity, served_rounds (of all workers, for each slice)
//   local            parameters, velocity
//   ring to server   besides, as numbers, what all know of how the run stands
//
// A file is written whole or not at all (src/system/file_layer.h), under a name that no earlier one
// has, so that an earlier one is never touched. Functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "ako/checkpoint.h"
#include "ako/error.h"
#include "ako/frame.h"
#include "src/system/file_layer.h"

namespace ako {

/// The owner of checkpoints: what must be the same in a file and in the peer that goes on from it.
struct CheckpointOwner {
    std::string run;
    std::string peer;
    std::vector<std::string> peers;
    Digest training{};
    Digest layout{};
    Digest initial{};
    std::string settings;  ///< the text that `training` is of

    bool operator==(const CheckpointOwner&) const = default;
};

/// What a file says of itself.
struct CheckpointHead {
    CheckpointOwner owner;
    CheckpointId id;
    double progress = 0;
    RunPast past = {};
};

/// The lines of a text of its head: the names of peers, the settings.
std::vector<std::string> lines_of(const std::string& text);

/// FOLDER/state-<peer>-<round>.safetensors
std::string checkpoint_path(const std::string& folder, const std::string& peer, Round round);
/// What a checkpoint of the peer is called until it is whole: FOLDER/state-<peer>.partial
std::string unfinished_checkpoint_path(const std::string& folder, const std::string& peer);
/// The files of that peer in the folder, damaged or not, in any order; none if there is no folder.
std::vector<std::string> checkpoint_paths(const std::string& folder, const std::string& peer);
/// The same of all peers, whoever they are.
std::vector<std::string> checkpoint_paths(const std::string& folder);
/// The peer that such a file is named after.
std::string peer_in_name(const std::string& path);

/// Into the folder, under the name of its peer and round. An error leaves what was there; it does
/// not name the file.
Result<void> write_checkpoint(FileLayer& files, const std::string& folder,
                              const CheckpointOwner& owner, const Checkpoint& checkpoint);

/// The head of a file that is whole: all of it is read, and has the checksum it states. An error
/// says what is wrong, without the name of the file.
Result<CheckpointHead> check_checkpoint(const std::string& path);
/// The same, and all that is in it.
Result<Checkpoint> read_checkpoint(const std::string& path);

}  // namespace ako
