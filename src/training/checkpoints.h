// Checkpoints on their way to the disk, on a thread of their own, so that no round waits for a
// disk: evaluated parameters, and all that a peer needs to go on after a restart of its run. One
// of each kind is written at a time; one that comes while the one before is still under way is left
// out, and so the memory is one of each. A checkpoint that cannot be written is said and
// training goes on: the next may succeed.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ako/checkpoint.h"
#include "ako/error.h"
#include "ako/frame.h"
#include "ako/threads.h"
#include "src/training/checkpoint_pace.h"

namespace ako {

class Checkpoints {
  public:
    // Called on the writing thread, one call at a time; must not throw.
    using WriteModel =
        std::function<Result<void>(std::span<const float> parameters, const Verdict&)>;
    /// Returns what is on the disk then, newest first.
    using Write = std::function<Result<std::vector<CheckpointId>>(const Checkpoint&)>;
    /// Called on the writing thread and on the callers' of `take` and `room`.
    using Say = std::function<void(const std::string&)>;

    /// `notice` gets what people must know, `detail` the rest. Without `write`, only models.
    /// `past`: of the run, where this start goes on with it. `pace`: they are made as often as
    /// pays; nothing: at every mark.
    Checkpoints(std::size_t parameter_count, WriteModel write_model, Say notice, Say detail,
                Write write = nullptr, RunPast past = {0, 0},
                std::optional<CheckpointPace> pace = std::nullopt);
    /// Waits until what is being written is.
    ~Checkpoints();
    Checkpoints(const Checkpoints&) = delete;
    Checkpoints& operator=(const Checkpoints&) = delete;

    // One thread at a time calls the next eight; none but `last_room` and `flush` waits.
    /// Takes the parameters [parameter_count] and what an evaluation said of them by exchange, so
    /// the caller gets another vector of this size, with no meaning. Unchanged if this one is left
    /// out.
    void take(std::vector<float>& parameters, const Verdict& verdict);
    /// Progress has come to a mark: is a checkpoint to be made here? Every mark asks once, so these
    /// calls are counted alike by all peers of a start. `others_apart`: so many marks are to lie
    /// between two by the word of others, where all go on from the same; 0: by nobody's.
    bool is_due(std::uint64_t others_apart);
    /// Where the next checkpoint is put, to be filled before `filled` is called; null if it is left
    /// out, for the one before is still being written. It holds what an earlier one left there.
    /// Where all have to go on from the same, a peer that has left out some takes one again whose
    /// count a power of two divides: so two slow disks meet.
    Checkpoint* room(double progress);
    /// The same for one that must not be left out: waits for the one before. Null: none are kept.
    Checkpoint* last_room();
    /// It is to be written.
    void filled();
    /// How often they are made; nothing where that is at every mark, or not known yet.
    std::optional<CheckpointInterval> interval() const;
    /// What has changed on the disk since the last call, and how often they are made.
    CheckpointNews take_news();
    /// Waits until all that was taken is written, or has failed.
    void flush();

  private:
    enum Kind : std::size_t { model, state };
    static constexpr std::size_t kind_count = 2;
    enum class Stage { free, waiting, writing };

    void run();
    /// What is to be written next, and is being written from now on; nothing: no more comes.
    std::optional<Kind> await_next();
    void write(Kind kind);
    /// `starts`: that have been ended by a fault if this is what the next one goes on from.
    Checkpoint& begin_checkpoint(std::uint64_t starts);
    bool paces() const { return pace_ && pace_->is_known() && mark_s_ > 0; }
    /// What it took, for people.
    Result<std::string> write_one(Kind kind);
    std::string name_of(Kind kind, double progress) const;

    const WriteModel write_model_;
    const Write write_;
    const Say notice_;
    const Say detail_;

    Mutex mutex_;
    Condition changed_;
    std::array<Stage, kind_count> stages_ AKO_GUARDED_BY(mutex_) = {};
    std::optional<std::vector<CheckpointId>> kept_ AKO_GUARDED_BY(mutex_);  ///< news
    std::optional<CheckpointCost> cost_ AKO_GUARDED_BY(mutex_);             ///< of the newest
    bool ending_ AKO_GUARDED_BY(mutex_) = false;

    // The caller's while the stage of its kind is `free`, else the writing thread's.
    std::vector<float> parameters_;
    Verdict verdict_;
    Checkpoint checkpoint_;
    std::chrono::steady_clock::time_point room_at_ = {};  ///< when it was given out to be filled
    double still_ = 0;                                    ///< training stood still for it, seconds

    // Caller.
    const RunPast past_;
    std::optional<CheckpointPace> pace_;
    const std::chrono::steady_clock::time_point began_;
    std::chrono::steady_clock::time_point first_mark_at_ = {};
    double mark_s_ = 0;            ///< between two marks; 0: not known
    std::uint64_t due_every_ = 1;  ///< so many marks
    std::uint64_t marks_ = 0;
    std::uint64_t left_out_ = 0;  ///< of them, while the newest checkpoint was written

    std::array<bool, kind_count> failing_ = {};  ///< writing thread: said once, not at every try
    std::thread thread_;
};

}  // namespace ako
