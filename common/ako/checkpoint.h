// A checkpoint as a value: all that one peer needs to go on from where it was when its run was cut
// off. The mode puts its vectors and numbers in by names of its own and takes them out again;
// src/results/checkpoint_file.h makes a file of it. Values; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ako/error.h"
#include "ako/types.h"

namespace ako {

/// Where all go on from the same, a peer whose disk is slow makes a checkpoint at every so many
/// marks, a power of two, so that any two peers meet; at most at every so many.
inline constexpr std::uint64_t marks_apart_max = 32;

/// How a run came to where it is, of this peer: what shows how often it is ended by faults.
struct RunPast {
    double seconds = 0;        ///< of training, in all its starts
    std::uint64_t starts = 1;  ///< each but the first after a fault

    bool operator==(const RunPast&) const = default;
};

/// What the others are to know of the checkpoints of this peer.
struct CheckpointNews {
    /// On its disk, newest first, if that has changed.
    std::optional<std::vector<CheckpointId>> kept;
    /// So many marks would lie between two, if it were for this peer; 0: it does not know yet.
    std::uint64_t marks_apart = 0;

    bool operator==(const CheckpointNews&) const = default;
};

struct Checkpoint {
    CheckpointId id;
    std::uint64_t samples = 0;  ///< this peer has trained on: its place in the data
    double progress = 0;        ///< 0 .. 1 of the run, for people
    RunPast past;
    std::string path;           ///< the file that it was read from, for people; not written into it
    // Not in the file: these decide which earlier checkpoints are removed for this one.
    bool together = false;  ///< all peers have to go on from the same
    /// With `together`: the newest checkpoint that every peer is known to have.
    std::optional<CheckpointId> common;
    std::uint64_t mark = 0;  ///< mark of progress of this start, from 1; 0: an earlier start's
    std::uint64_t due_every = 1;  ///< so many marks this peer makes one now

    // What the mode keeps, by name.
    std::map<std::string, std::uint64_t> numbers;
    std::map<std::string, std::vector<float>> floats;
    std::map<std::string, std::vector<std::uint64_t>> words;

    /// Puts a copy in, into the memory of the one before if there is any.
    void put(const std::string& name, std::span<const float> values) {
        floats[name].assign(values.begin(), values.end());
    }
    void put(const std::string& name, std::span<const std::uint64_t> values) {
        words[name].assign(values.begin(), values.end());
    }

    // Taking out. An error says what is not as the mode has put it in.
    Result<std::uint64_t> number(const std::string& name) const {
        const auto found = numbers.find(name);
        if (found == numbers.end())
            return fail(Error::Kind::io, "the checkpoint lacks the number " + name);
        return found->second;
    }
    Result<std::span<const float>> vector(const std::string& name, std::size_t count) const {
        return of_length<float>(floats, name, count);
    }
    Result<std::span<const std::uint64_t>> word_list(const std::string& name,
                                                     std::size_t count) const {
        return of_length<std::uint64_t>(words, name, count);
    }
    /// The list may have any length.
    Result<std::span<const std::uint64_t>> word_list(const std::string& name) const {
        const auto found = words.find(name);
        if (found == words.end())
            return fail(Error::Kind::io, "the checkpoint lacks the values of " + name);
        return std::span<const std::uint64_t>(found->second);
    }
    /// Copies a vector to where it belongs.
    Result<void> copy(const std::string& name, std::span<float> out) const {
        const auto values = vector(name, out.size());
        if (!values) return tl::make_unexpected(values.error());
        std::copy(values->begin(), values->end(), out.begin());
        return {};
    }

  private:
    template <class T>
    static Result<std::span<const T>> of_length(const std::map<std::string, std::vector<T>>& all,
                                                const std::string& name, std::size_t count) {
        const auto found = all.find(name);
        if (found == all.end() || found->second.size() != count)
            return fail(Error::Kind::io,
                        "the checkpoint lacks the " + std::to_string(count) + " values of " + name);
        return std::span<const T>(found->second);
    }
};

}  // namespace ako
