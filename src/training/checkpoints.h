// Checkpoints: evaluated parameters on their way to the disk, on a thread of their own, so that no
// round waits for a disk. One is written at a time; one that comes while the disk is still busy
// with the one before is left out, and so the memory is one parameter vector. A checkpoint that
// cannot be written is said and training goes on: the next may succeed.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ako/error.h"
#include "ako/frame.h"
#include "ako/threads.h"

namespace ako {

class Checkpoints {
  public:
    /// Called on the writing thread, one call at a time; must not throw.
    using Write = std::function<Result<void>(std::span<const float> parameters, const Verdict&)>;
    /// Called on the writing thread and on the caller's of `take`.
    using Say = std::function<void(const std::string&)>;

    /// `notice` gets what people must know, `detail` the rest.
    Checkpoints(std::size_t parameter_count, Write write, Say notice, Say detail);
    /// Waits until the one being written is.
    ~Checkpoints();
    Checkpoints(const Checkpoints&) = delete;
    Checkpoints& operator=(const Checkpoints&) = delete;

    /// Takes the parameters [parameter_count] and what an evaluation said of them, without waiting:
    /// by exchange, so the caller gets another vector of this size, with no meaning. Unchanged if
    /// this checkpoint is left out. One thread at a time.
    void take(std::vector<float>& parameters, const Verdict& verdict);
    /// Waits until what was taken is written, or has failed.
    void flush();

  private:
    void run();
    /// What is to be written next; nothing: no more comes.
    std::optional<Verdict> await_next();
    void write(const Verdict& verdict);

    const Write write_;
    const Say notice_;
    const Say detail_;

    Mutex mutex_;
    Condition changed_;
    std::optional<Verdict> waiting_ AKO_GUARDED_BY(mutex_);  ///< to be written
    bool busy_ AKO_GUARDED_BY(mutex_) = false;  ///< parameters_ is the writing thread's
    bool ending_ AKO_GUARDED_BY(mutex_) = false;

    std::vector<float> parameters_;  ///< of `take` unless busy_
    bool failing_ = false;           ///< writing thread: said once, not at every try
    std::thread thread_;
};

}  // namespace ako
