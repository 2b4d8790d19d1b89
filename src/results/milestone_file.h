// The milestone file of one peer, milestones-<peer>.bin: the parameters that it kept while training
// with `evaluate: after`, each with its moment, to be evaluated when all is over. In the byte order
// of the machine that wrote it:
//
//   8 bytes  "akomiles"
//   u64      parameters P of the network
//   then for each milestone, without gaps:
//   i64      when the first round of the peer's process began: nanoseconds of the machine's
//            monotonic clock, which all peers of one machine share
//   f64      seconds since then
//   u64      round of the peer
//   u64      samples of all peers
//   f64      progress of all peers, 0 .. 1
//   P x f32  the parameters
//
// One milestone is one write, so that of a peer that was killed all but the last are whole; the
// reader leaves out what is not. One thread each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ako/types.h"
#include "src/results/curve.h"

namespace ako {

/// "FOLDER/milestones-<peer>.bin".
std::string milestone_path(const std::string& folder, const std::string& peer);

class MilestoneWriter {
  public:
    /// Makes the file, or empties it. `say` is told once if milestones cannot be written; they are
    /// left out, and training goes on. `goes_on`: after the whole milestones that an earlier
    /// process of this peer has left there. Throws StartupError.
    MilestoneWriter(std::string path, std::size_t parameter_count,
                    std::function<void(const std::string&)> say, bool goes_on = false);
    ~MilestoneWriter();
    MilestoneWriter(const MilestoneWriter&) = delete;
    MilestoneWriter& operator=(const MilestoneWriter&) = delete;

    /// `moment`: a point without a verdict; `began`: when the peer's first round did. Waits for no
    /// disk: the system writes it some time.
    void append(const CurvePoint& moment, Time began, std::span<const float> parameters);

  private:
    /// So that the next milestone begins there.
    bool cut_to(std::uint64_t bytes);

    const std::string path_;
    const std::function<void(const std::string&)> say_;
    int fd_ = -1;
    std::uint64_t bytes_ = 0;  ///< whole milestones end here
    bool failing_ = false;
};

class MilestoneReader {
  public:
    /// Throws StartupError if this is no milestone file of a network with so many parameters.
    MilestoneReader(std::string path, std::size_t parameter_count);
    ~MilestoneReader();
    MilestoneReader(const MilestoneReader&) = delete;
    MilestoneReader& operator=(const MilestoneReader&) = delete;

    /// Whole milestones.
    std::size_t count() const { return count_; }
    /// The next one: its moment, from began() on, and the parameters to `parameters`
    /// [parameter_count]. Throws StartupError if the file cannot be read any more. At most count()
    /// times.
    CurvePoint next(std::span<float> parameters);
    /// When the first round of the peer that wrote it began, of its first process if there were
    /// several; known after the first next().
    std::optional<Time> began() const { return began_; }

  private:
    const std::string path_;
    int fd_ = -1;
    std::size_t count_ = 0;
    std::optional<Time> began_;
};

}  // namespace ako
