#include "src/training/checkpoints.h"

#include <utility>

#include "ako/assert.h"

namespace ako {

namespace {

std::string place_of(const Verdict& verdict) {
    return "at " + std::to_string(static_cast<int>(verdict.progress * 100)) + " % of the run";
}

}  // namespace

Checkpoints::Checkpoints(std::size_t parameter_count, Write write, Say notice, Say detail)
    : write_(std::move(write)),
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

void Checkpoints::flush() {
    const MutexLock lock(mutex_);
    changed_.wait(mutex_, [this]() AKO_REQUIRES(mutex_) { return !busy_; });
}

void Checkpoints::take(std::vector<float>& parameters, const Verdict& verdict) {
    {
        const MutexLock lock(mutex_);
        if (!busy_) {
            AKO_ASSERT(parameters.size() == parameters_.size(),
                       std::to_string(parameters.size()) + " parameters");
            std::swap(parameters, parameters_);
            busy_ = true;
            waiting_ = verdict;
            changed_.notify_all();
            return;
        }
    }
    notice_("the checkpoint " + place_of(verdict) +
            " is left out: the one before is still being written");
}

std::optional<Verdict> Checkpoints::await_next() {
    const MutexLock lock(mutex_);
    changed_.wait(mutex_, [this]() AKO_REQUIRES(mutex_) { return waiting_ || ending_; });
    return std::exchange(waiting_, std::nullopt);
}

void Checkpoints::run() {
    while (const std::optional<Verdict> verdict = await_next()) {
        write(*verdict);
        const MutexLock lock(mutex_);
        busy_ = false;
        changed_.notify_all();
    }
}

void Checkpoints::write(const Verdict& verdict) {
    const Result<void> written = write_(parameters_, verdict);
    if (!written && !failing_)
        notice_("the checkpoint " + place_of(verdict) +
                " is not written, training goes on: " + written.error().what);
    else if (written && failing_)
        notice_("the checkpoint " + place_of(verdict) + " is written again");
    else if (written)
        detail_("the checkpoint " + place_of(verdict) + " is written");
    failing_ = !written;
}

}  // namespace ako
