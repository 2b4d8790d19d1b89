// The exchange of every mode: puts the two halves of the mode on their threads and does the waiting
// for them. The simulator takes every verb at once, step by step. Compute thread, but for what runs
// in Links and the traffic half.
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
#include "src/exchange/growth_watch.h"
#include "src/exchange/halves.h"
#include "src/exchange/links.h"
#include "src/exchange/mailbox.h"
#include "src/exchange/mode_settings.h"
#include "src/exchange/name_taken.h"
#include "src/exchange/waiting_line.h"

namespace ako {

/// Makes the two halves of a mode; all it is given outlives them.
using HalvesMaker = std::function<std::unique_ptr<Halves>(
    const ModeSettings& settings, Mailbox& mailbox, Transport& transport, const Clock& clock)>;

class ModeExchange final : public Exchange {
  public:
    /// What each wait looks at at least so often: interrupts, time-outs.
    static constexpr Time wait_step = std::chrono::milliseconds(50);

    /// `payload_bytes_max`: see Mailbox. `transport` and `clock` outlive this. `interrupts` counts
    /// signals that ask to end: read before each round and while waiting.
    ModeExchange(ModeSettings settings, std::size_t payload_bytes_max,
                 const HalvesMaker& make_halves, Transport& transport, const Clock& clock,
                 const std::atomic<int>& interrupts);

    /// Stops the transport, if `close` has not.
    ~ModeExchange() override;

    /// Begins to listen and to dial. Once, before the first round. Throws StartupError.
    void start();

    std::optional<Next> begin_round(Time until) override;
    bool await(Range range, Use use, Time until) override;
    void gradient_ready(Range range, std::span<const float> gradient) override;
    Result<void> end_round(const Learned& learned, const RoundResult& result) override;
    void announce(const Verdict& verdict) override;
    void request_stop(StopReason reason) override;
    bool finish(Time until) override;
    void close(Farewell farewell = {}) override;

    std::span<const float> replica() const override;
    void copy_parameters(std::span<float> out) override;
    Standing standing() const override;
    std::vector<LinkView> links() const override;
    FinishReport report(std::span<float> out) override;
    bool save(Checkpoint& out) override;
    void tell_checkpoints(const CheckpointNews& news) override;

  private:
    /// Takes steps until one is done, which is returned; what the last one said, once it is
    /// `until`.
    template <class Step>
    auto repeat(Time until, const Step& step);
    std::optional<Next> step_begin() AKO_COMPUTE_THREAD;
    bool step_await(Range range, Use use) AKO_COMPUTE_THREAD;
    /// Until there was an event, for at most so long.
    void wait_for_event(Time at_most) AKO_COMPUTE_THREAD;
    /// Looks at all of what a round gives that was not looked at; false: refused.
    bool usual(const Learned& learned) AKO_COMPUTE_THREAD;
    /// `training.clip`: itself, or a copy that is scaled down.
    Learned clipped(const Learned& learned) AKO_COMPUTE_THREAD;
    /// Takes over what a half has gone on from, if it has.
    void look_at_restored() AKO_COMPUTE_THREAD;
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
    void close_if_broken() AKO_COMPUTE_THREAD;
    void stop_transport(Time patience, const Farewell& farewell) AKO_COMPUTE_THREAD;
    /// Says goodbye by a failure, within the patience of the mode.
    void end_with(const Farewell& farewell) AKO_COMPUTE_THREAD;

    const ModeSettings settings_;  // constant after construction
    Transport& transport_;
    const Clock& clock_;
    const std::atomic<int>& interrupts_;

    Mailbox mailbox_;
    const std::unique_ptr<Halves> halves_;
    ComputeHalf& compute_;
    TrafficHalf* const traffic_;  ///< null: nothing is sent
    std::optional<Links> links_;  // network thread

    OneThread caller_;
    GrowthWatch growth_watch_;
    std::shared_ptr<const Checkpoint> restored_;  ///< for learners, until the first round
    bool running_ = false;                        ///< the transport
    std::string refused_;         ///< why what this round gives is; empty: it is not
    std::vector<float> clipped_;  ///< [parameter_count] once something was
    std::optional<Time> waits_since_;
    WaitingLine waiting_line_;
    NameTaken name_taken_;
    Time looked_for_another_at_{};
};

}  // namespace ako
