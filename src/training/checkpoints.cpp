#include "src/training/checkpoints.h"

#include <algorithm>
#include <bit>
#include <ctime>
#include <utility>

#include "ako/assert.h"
#include "src/numbers/printed_number.h"

namespace ako {

namespace {

/// So many marks lie between two checkpoints of a peer that has left out so many for one: the next
/// power of two, and at least one mark for the others to hear of it before they come to the next.
std::uint64_t marks_apart(std::uint64_t left_out) {
    if (left_out == 0) return 1;
    return std::bit_ceil(std::min(left_out + 2, marks_apart_max));
}

double seconds_between(std::chrono::steady_clock::time_point one,
                       std::chrono::steady_clock::time_point other) {
    return std::chrono::duration<double>(other - one).count();
}

/// That this thread has had.
double processor_seconds() {
    timespec taken{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &taken);
    return static_cast<double>(taken.tv_sec) + static_cast<double>(taken.tv_nsec) * 1e-9;
}

}  // namespace

Checkpoints::Checkpoints(std::size_t parameter_count, WriteModel write_model, Say notice,
                         Say detail, Write write, RunPast past, std::optional<CheckpointPace> pace)
    : write_model_(std::move(write_model)),
      write_(std::move(write)),
      notice_(std::move(notice)),
      detail_(std::move(detail)),
      parameters_(parameter_count),
      past_(past),
      pace_(pace),
      began_(std::chrono::steady_clock::now()),
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

bool Checkpoints::is_due(std::uint64_t others_apart) {
    const auto now = std::chrono::steady_clock::now();
    if (++marks_ == 1) first_mark_at_ = now;
    if (!pace_) return true;
    {
        const MutexLock lock(mutex_);
        if (cost_) pace_->took(*std::exchange(cost_, std::nullopt));
    }
    const double trained = seconds_between(first_mark_at_, now);
    pace_->has_trained(trained);
    // At the same mark as others, although each has a clock of its own.
    if (!pace_->is_known()) return std::has_single_bit(marks_) && pace_->first_is_due();
    mark_s_ = trained / static_cast<double>(marks_ - 1);
    due_every_ = std::max(pace_->marks_apart(mark_s_), others_apart);
    return marks_ % due_every_ == 0;
}

std::optional<CheckpointInterval> Checkpoints::interval() const {
    if (!paces()) return std::nullopt;
    const double seconds = static_cast<double>(due_every_) * mark_s_;
    return CheckpointInterval{seconds, pace_->cost().of_training() / seconds};
}

Checkpoint& Checkpoints::begin_checkpoint(std::uint64_t starts) {
    const auto now = std::chrono::steady_clock::now();
    room_at_ = now;
    checkpoint_.mark = marks_;
    checkpoint_.due_every = due_every_;
    checkpoint_.past = {past_.seconds + seconds_between(began_, now), past_.starts + starts};
    return checkpoint_;
}

Checkpoint* Checkpoints::room(double progress) {
    if (!write_) return nullptr;
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
    const std::uint64_t one_in = checkpoint_.together ? marks_apart(left_out_) : 1;
    if (marks_ / due_every_ % one_in != 0) {
        notice_(left_out + "the disk is slow, so one in " + std::to_string(one_in) +
                " is written, the same as at others with slow disks");
        return nullptr;
    }
    left_out_ = 0;
    return &begin_checkpoint(1);
}

Checkpoint* Checkpoints::last_room() {
    if (!write_) return nullptr;
    flush();
    ++marks_;
    return &begin_checkpoint(0);  // this start ends by no fault
}

void Checkpoints::filled() {
    const MutexLock lock(mutex_);
    AKO_ASSERT(stages_[state] == Stage::free, "filled while it is being written");
    still_ = seconds_between(room_at_, std::chrono::steady_clock::now());
    stages_[state] = Stage::waiting;
    changed_.notify_all();
}

CheckpointNews Checkpoints::take_news() {
    const std::uint64_t apart = paces() ? pace_->marks_apart(mark_s_) : 0;
    const MutexLock lock(mutex_);
    return {std::exchange(kept_, std::nullopt), apart};
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

Result<std::string> Checkpoints::write_one(Kind kind) {
    if (kind == model) return write_model_(parameters_, verdict_).map([] { return std::string(); });
    const double processor_before = processor_seconds();
    Result<std::vector<CheckpointId>> kept = write_(checkpoint_);
    const double processor = processor_seconds() - processor_before;
    const double until_safe = seconds_between(room_at_, std::chrono::steady_clock::now());
    const MutexLock lock(mutex_);
    cost_ = {still_, processor, until_safe};
    if (!kept) return tl::make_unexpected(kept.error());
    kept_ = *std::move(kept);
    return ": training stood still for " + printed("%.4f s, ", still_) +
           printed("%.4f s of processor, ", processor) + printed("safe after %.3f s", until_safe);
}

void Checkpoints::write(Kind kind) {
    const Result<std::string> written = write_one(kind);
    const std::string name =
        name_of(kind, kind == model ? verdict_.progress : checkpoint_.progress);
    if (!written && !failing_[kind])
        notice_(name + " is not written, training goes on: " + written.error().what);
    else if (written && failing_[kind])
        notice_(name + " is written again");
    else if (written)
        detail_(name + " is written" + *written);
    failing_[kind] = !written;
}

}  // namespace ako
