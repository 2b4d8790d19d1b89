// One parameter server: its part of the parameters, the optimizer over it, and the clock of every
// worker on every slice. It takes in whole slices of gradients and says whose answers are due.
//
//   BSP (gap 0)     a slice is stepped once all workers that train have pushed the same round of
//                   it, with the mean of their gradients, added in the order of workers
//   SSP, async      a slice is stepped with each push at once, as a share 1/n of a round: velocity
//                   fades by momentum^(1/n) and the rate is 1/n, so that n pushes do what one round
//                   of BSP does (Nesterov's momentum then looks ahead by a push). An answer waits
//                   while its worker would be more than `gap` rounds ahead of the slowest that
//                   trains.
//
// Free of sockets and clocks. Network thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ako/checkpoint.h"
#include "src/buckets/bucket_board.h"
#include "src/buckets/slices.h"
#include "src/exchange/mode_settings.h"
#include "src/numbers/batch_plan.h"
#include "src/numbers/optimizer.h"

namespace ako {

class ParameterKeeper {
  public:
    /// The parameters of a slice are current for this worker: send them.
    using Answer = std::function<void(std::size_t worker, std::size_t slice)>;

    /// `server` is this one's place among the servers; workers are known by their places among the
    /// workers. `initial` is [parameter_count]; `slices` outlives this.
    ParameterKeeper(const ModeSettings& settings, const Slices& slices, std::size_t server,
                    std::span<const float> initial, Answer answer);

    /// A worker's gradient of this slice is whole; `values` stay valid until its answer.
    void pushed(std::size_t worker, std::size_t slice, std::uint64_t round, const float* values,
                const Wish& wish);
    /// This worker pushes nothing after this round.
    void finished(std::size_t worker, Round final_round);
    /// This worker is lost, or has left.
    void worker_over(std::size_t worker);

    /// The training is to stop: said with every answer from now on.
    void stop_wished(StopReason reason);

    /// Everybody who is left has pushed a last round of every slice.
    bool final_is_here() const;

    bool serves(std::size_t slice) const { return slices_[slice].server == place_; }
    bool trains(std::size_t worker) const { return workers_[worker].training(); }
    bool is_over(std::size_t worker) const { return workers_[worker].over; }
    /// The round a worker has pushed last; 0 before the first.
    std::uint64_t clock(std::size_t worker, std::size_t slice) const {
        return clocks_[worker][slice];
    }
    /// It has said that it makes no such round.
    bool has_ended(std::size_t worker, Round round) const {
        const std::optional<Round>& last = workers_[worker].final_round;
        return last && round > *last;
    }
    /// A push of this worker is not answered yet, so it must not push again.
    bool unanswered(std::size_t worker, std::size_t slice) const {
        return states_[slice].unanswered[worker];
    }
    /// Where a push of this worker is read into: [the slice's elements].
    std::span<float> room_for_push(std::size_t worker, std::size_t slice);
    /// The parameters of the slice as they are now.
    std::span<const float> parameters(std::size_t slice) const;
    /// What is said with them.
    const SyncSummary& summary(std::size_t slice) const { return states_[slice].summary; }

    /// BSP, as BucketProtocol says of it: what pushes that are not stepped yet do not touch.
    void save(Checkpoint& out) const;
    Result<void> check(const Checkpoint& from) const;
    /// Before the first step. `check` has found nothing.
    void restore(const Checkpoint& from);

  private:
    struct Worker {
        bool over = false;
        std::optional<Round> final_round;
        bool training() const { return !over && !final_round; }
    };
    struct State {
        std::size_t offset = 0;  ///< in the vectors of this part
        SyncSummary summary;
        std::uint64_t pushes = 0;           ///< of all workers
        std::vector<const float*> pending;  ///< BSP, [worker]: pushed and not stepped yet
        std::vector<bool> unanswered;       ///< [worker]
    };

    bool lockstep() const { return gap_ == 0U; }
    bool waits_for(std::size_t worker, std::size_t slice) const;
    void step_together(std::size_t slice);
    void step_alone(std::size_t slice, const float* values);
    void step(std::size_t slice, std::span<const float> gradient, float share, double rate);
    void answer_who_may(std::size_t slice);
    void look_again();

    const Slices& slices_;  // constant after construction
    const std::size_t place_;
    const std::optional<unsigned> gap_;
    const BatchPlan plan_;
    const double rounds_budget_;  ///< of all workers together
    const Answer answer_;

    std::vector<Worker> workers_;
    std::vector<std::vector<std::uint64_t>> clocks_;  ///< [worker][slice]
    std::vector<State> states_;                       ///< [slice]; those of others are empty
    std::size_t part_elements_ = 0;
    std::vector<std::vector<float>> pushes_;  ///< [worker][part_elements_], made when first used
    std::vector<float> parameters_;           ///< [part_elements_]
    std::vector<float> sum_;                  ///< of the gradients of one slice
    Sgd optimizer_;
};

}  // namespace ako
