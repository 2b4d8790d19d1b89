// The exchange of every mode: puts the two halves of the mode on their threads and does the waiting
// for them. It is built of steps that return at once; the simulator calls these steps itself.
// Compute thread, but for what runs in Links and the traffic half.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ako/clock.h"
#include "ako/exchange.h"
#include "ako/threads.h"
#include "ako/transport.h"
#include "src/group/halves.h"
#include "src/group/links.h"
#include "src/group/mailbox.h"
#include "src/group/mode_settings.h"
#include "src/group/name_taken.h"
#include "src/group/waiting_line.h"

namespace ako {

/// Makes the two halves of a mode; all it is given outlives them.
using HalvesMaker = std::function<std::unique_ptr<Halves>(
    const ModeSettings& settings, Mailbox& mailbox, Transport& transport, const Clock& clock)>;

class GroupExchange final : public Exchange {
  public:
    /// What each wait looks at at least so often: interrupts, time-outs.
    static constexpr Time wait_step = std::chrono::milliseconds(50);

    /// `payload_bytes_max`: see Mailbox. `transport` and `clock` outlive this. `interrupts` counts
    /// signals that ask to end: read before each round and while waiting.
    GroupExchange(ModeSettings settings, std::size_t payload_bytes_max,
                  const HalvesMaker& make_halves, Transport& transport, const Clock& clock,
                  const std::atomic<int>& interrupts);

    /// Stops the transport, if `finish` has not.
    ~GroupExchange() override;

    /// Begins to listen and to dial. Once, before the first round. Throws StartupError.
    void start();

    Next begin_round() override;
    void await(Range range) override;
    void make_way(Range range) override;
    void gradient_ready(Range range, std::span<const float> gradient) override;
    Result<void> end_round(const Learned& learned, const RoundResult& result) override;
    void announce(const Verdict& verdict) override;
    void request_stop(StopReason reason) override;
    /// Says goodbye and stops the transport before it returns.
    FinishReport finish(std::span<float> out) override;

    std::span<const float> replica() const override;
    void copy_parameters(std::span<float> out) override;
    Standing standing() const override;
    std::vector<LinkView> links() const override;
    void settle() override;
    bool save(Checkpoint& out) override;
    void tell_kept(const std::vector<CheckpointId>& kept) override;
    std::optional<Checkpoint> take_restored() override;

    // The steps of what waits: nothing, or false, asks for another after the next event. Who has a
    // time-out of its own takes them one by one.
    std::optional<Next> step_begin();
    bool step_await(Range range);
    bool step_make_way(Range range);
    bool step_settle();
    bool step_finish();
    /// Until there was an event, for at most so long, which should be no more than wait_step.
    void wait_for_event(Time at_most);
    /// After that, or at any time without a final exchange: goodbye.
    void leave();
    FinishReport report(std::span<float> out);

  private:
    /// One step of what waits for others: `settled` says whether it is there.
    template <class Settled>
    bool step_of_others(const Settled& settled);
    /// Keeps what a mode with learners goes on from.
    ModeSettings keeping_restored(ModeSettings settings);
    void on_compute_thread() const AKO_ASSERTS(compute_thread) { caller_.check(); }
    /// There is an interrupt.
    void ask_to_end() AKO_COMPUTE_THREAD;
    void log_missing() AKO_COMPUTE_THREAD;
    bool trains() const AKO_COMPUTE_THREAD { return compute_.standing().round > 0; }
    /// Gives up if this is the second process of its name.
    std::optional<Next> look_for_another() AKO_COMPUTE_THREAD;
    std::string missing_text() const AKO_COMPUTE_THREAD;
    /// A peer that lives but never sends what is awaited breaks it off: true.
    bool break_off_if_stuck() AKO_COMPUTE_THREAD;
    /// Says goodbye and ends the network thread if the exchange cannot go on: from then on the
    /// compute thread may overwrite what was being sent.
    void leave_if_broken() AKO_COMPUTE_THREAD;
    void stop_transport(Time patience) AKO_COMPUTE_THREAD;

    const ModeSettings settings_;  // constant after construction
    Transport& transport_;
    const Clock& clock_;
    const std::atomic<int>& interrupts_;

    std::optional<Checkpoint> restored_;  ///< until it is taken
    Mailbox mailbox_;
    const std::unique_ptr<Halves> halves_;
    ComputeHalf& compute_;
    TrafficHalf* const traffic_;  ///< null: nothing is sent
    std::optional<Links> links_;  // network thread

    OneThread caller_;
    bool running_ = false;   ///< the transport
    bool diverged_ = false;  ///< what the last round taught was refused for its numbers
    std::optional<Time> waits_since_;
    WaitingLine waiting_line_;
    NameTaken name_taken_;
    Time looked_for_another_at_{};
};

}  // namespace ako
