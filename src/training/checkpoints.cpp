#include "src/training/checkpoints.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ako/assert.h"

namespace ako {

namespace {

/// So many marks lie between two checkpoints of a peer that has left out so many for one: the next
/// power of two, and at least one mark for the others to hear of it before they come to the next.
std::uint64_t marks_apart(std::uint64_t left_out) {
    if (left_out == 0) return 1;
    return std::bit_ceil(std::min(left_out + 2, marks_apart_max));
}

}  // namespace

Checkpoints::Checkpoints(std::size_t parameter_count, WriteModel write_model, Say notice,
                         Say detail, Write write)
    : write_model_(std::move(write_model)),
      write_(std::move(write)),
      notice_(std::move(notice)),
      detail_(std::move(detail)),
      parameters_(parameter_count),
      thread_([this] { run(); }) {}

Checkpoints::~Checkpoints() {
    {
        const MutexLock lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

std::string Checkpoints::name_of(Kind kind, double progress) const {
    return std::string("the ") + (kind == model ? "model" : "checkpoint") + " at " +
           std::to_string(static_cast<int>(progress * 100)) + " % of the run";
}

// ---- the callers

void Checkpoints::flush() {
    const MutexLock lock(mutex_);
    changed_.wait(mutex_, [this]() AKO_REQUIRES(mutex_) {
        return std::all_of(stages_.begin(), stages_.end(),
                           [](Stage stage) { return stage == Stage::free; });
    });
}

void Checkpoints::take(std::vector<float>& parameters, const Verdict& verdict) {
    {
        const MutexLock lock(mutex_);
        if (stages_[model] == Stage::free) {
            AKO_ASSERT(parameters.size() == parameters_.size(),
                       std::to_string(parameters.size()) + " parameters");
            std::swap(parameters, parameters_);
            verdict_ = verdict;
            stages_[model] = Stage::waiting;
            changed_.notify_all();
            return;
        }
    }
    notice_(name_of(model, verdict.progress) +
            " is left out: the one before is still being written");
}

Checkpoint* Checkpoints::room(double progress) {
    if (!write_) return nullptr;
    ++marks_;
    bool free = false;
    {
        const MutexLock lock(mutex_);
        free = stages_[state] == Stage::free;
    }
    const std::string left_out = name_of(state, progress) + " is left out: ";
    if (!free) {
        ++left_out_;
        notice_(left_out + "the one before is still being written");
        return nullptr;
    }
    const std::uint64_t apart = checkpoint_.together ? marks_apart(left_out_) : 1;
    if (marks_ % apart != 0) {
        notice_(left_out + "the disk is slow, so one in " + std::to_string(apart) +
                " is written, the same as at others with slow disks");
        return nullptr;
    }
    left_out_ = 0;
    checkpoint_.mark = marks_;
    return &checkpoint_;
}

Checkpoint* Checkpoints::last_room() {
    if (!write_) return nullptr;
    flush();
    checkpoint_.mark = ++marks_;
    return &checkpoint_;
}

void Checkpoints::filled() {
    const MutexLock lock(mutex_);
    AKO_ASSERT(stages_[state] == Stage::free, "filled while it is being written");
    stages_[state] = Stage::waiting;
    changed_.notify_all();
}

std::optional<std::vector<CheckpointId>> Checkpoints::take_kept() {
    const MutexLock lock(mutex_);
    return std::exchange(kept_, std::nullopt);
}

// ---- the writing thread

std::optional<Checkpoints::Kind> Checkpoints::await_next() {
    const MutexLock lock(mutex_);
    // To go on from is worth more than to look at.
    const auto next = [this]() AKO_REQUIRES(mutex_) -> std::optional<Kind> {
        if (stages_[state] == Stage::waiting) return state;
        if (stages_[model] == Stage::waiting) return model;
        return std::nullopt;
    };
    changed_.wait(mutex_, [&]() AKO_REQUIRES(mutex_) { return next() || ending_; });
    const std::optional<Kind> kind = next();
    if (kind) stages_[*kind] = Stage::writing;
    return kind;
}

void Checkpoints::run() {
    while (const std::optional<Kind> kind = await_next()) {
        write(*kind);
        const MutexLock lock(mutex_);
        stages_[*kind] = Stage::free;
        changed_.notify_all();
    }
}

Result<void> Checkpoints::write_one(Kind kind) {
    if (kind == model) return write_model_(parameters_, verdict_);
    Result<std::vector<CheckpointId>> kept = write_(checkpoint_);
    if (!kept) return tl::make_unexpected(kept.error());
    const MutexLock lock(mutex_);
    kept_ = *std::move(kept);
    return {};
}

void Checkpoints::write(Kind kind) {
    const Result<void> written = write_one(kind);
    const std::string name =
        name_of(kind, kind == model ? verdict_.progress : checkpoint_.progress);
    if (!written && !failing_[kind])
        notice_(name + " is not written, training goes on: " + written.error().what);
    else if (written && failing_[kind])
        notice_(name + " is written again");
    else if (written)
        detail_(name + " is written");
    failing_[kind] = !written;
}

}  // namespace ako
