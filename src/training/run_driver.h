// The driver of a run: the one order in which rounds begin and end over the exchange, verdicts are
// told, and a run is finished or given up, with what the observer hears of it. The trainer, a
// server and a program with a loop of its own drive their run by it; it knows where the run stands
// and what may be asked of it there. Compute thread only; all that it is given must outlive it.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ako/algorithm_settings.h"
#include "ako/exchange.h"
#include "src/training/checkpoint_pace.h"
#include "src/training/round_times.h"

namespace ako {

/// One round that has been made and given to the exchange.
struct RoundReport : RoundResult {
    Round round = 0;
    double progress = 0;  ///< 0 .. 1 of the sample budget of all peers
};

/// The parameters of a mark of `evaluate_every` or `checkpoint_every`.
struct Milestone {
    Round round = 0;
    double progress = 0;
    std::span<const float> parameters;  ///< valid during the call
};

/// Is told how the training goes. Called on the compute thread: be quick.
class TrainingObserver {
  public:
    virtual ~TrainingObserver() = default;
    /// Several times in every round.
    virtual void reached(RoundMoment moment) = 0;
    virtual void round_done(const RoundReport& report) = 0;
    /// The loss of the round under way is not a number.
    virtual void loss_not_finite() {}
    /// Parameters that this peer evaluates from now on, or, with `evaluate: after`, that are to be
    /// kept until the training is over.
    virtual void milestone_passed(const Milestone& milestone) = 0;
    /// A verdict that this peer made.
    virtual void evaluation_done(const Verdict& verdict) = 0;
    /// So often checkpoints are made from now on.
    virtual void checkpoints_paced(const CheckpointInterval& /*interval*/) {}
    /// A peer without data begins to serve the others.
    virtual void serving() {}
    /// The last round is made and the final exchange begins.
    virtual void stopping(const std::string& why) = 0;
    virtual void finished(const FinishReport& report) = 0;
};

/// How a run ended.
struct TrainingOutcome {
    Ending ending = Ending::finished;
    std::string why = {};      ///< why it stopped, for people
    FinishReport report = {};  ///< empty if it gave up
    /// The verdict on the final parameters, over the whole test set; nothing if it gave up, left,
    /// only served, or if nobody evaluated them.
    std::optional<Verdict> verdict = {};
    /// [parameter_count]; empty if it gave up, left or only served.
    std::vector<float> parameters = {};
    std::optional<PeerIndex> numbers_of = {};  ///< as in Next
};

/// By what the final exchange came to, unless it was interrupted.
void judge_finish(TrainingOutcome& outcome, bool interrupted);

class RunDriver {
  public:
    /// In this order; a round may begin in three of them.
    enum class State {
        opened,    ///< before `start`
        waiting,   ///< for the first round
        in_round,  ///< a gradient is being made
        between,   ///< two rounds
        finishing,
        finished,
        given_up,  ///< without a final exchange, whatever for
    };
    enum class Call { start, begin_round, end_round, anchor, announce, finish, final_verdict };

    /// `interrupts` counts the signals that ask this process to end, which the exchange heeds; here
    /// they say how it ended.
    RunDriver(const TrainingSettings& settings, const std::atomic<int>& interrupts)
        : target_(settings.target_accuracy), interrupts_(interrupts) {}

    State state() const { return state_; }
    /// There may be more rounds.
    bool trains() const { return state_ > State::opened && state_ < State::finishing; }
    bool over() const { return state_ > State::finishing; }
    /// Why this may not be called now, as the C interface says it; empty: it may. To call it all
    /// the same is a bug.
    std::string refusal(Call call) const;

    void start(Exchange& exchange, TrainingObserver& observer);
    /// What is next; nothing: it is `until`. Where a round is to be made, `awaited` is current; a
    /// round that was begun is begun anew. After any other kind there are no more rounds.
    std::optional<Next> begin_round(Range awaited, Time until);
    /// Within a round, as the exchange.
    void await(Range range, Use use);
    /// Gives what the round taught. An error of Kind::numbers: it was given up.
    Result<void> end_round(const Learned& learned, const RoundResult& result);
    /// Ends this peer for its numbers, instead of end_round. Returns the error, which says `why`.
    Result<void> give_up(const Farewell& farewell, const std::string& why);
    /// Tells a verdict of this peer, and asks for the end where that reaches the target.
    void announce(const Verdict& verdict);

    /// True: the final exchange is over, and so is the run, without a judgement yet; `out` has its
    /// parameters. `farewell`: how the others are told, unless it was interrupted.
    bool finish(std::span<float> out, Time until, Farewell farewell = {});
    /// It was finished, and `out` is a model: this peer has not left, and all of it is finite.
    bool has_model() const { return has_model_; }
    /// Judges the outcome of a run that is finished.
    void judge() { judge_finish(outcome_, interrupted()); }
    TrainingOutcome& outcome() { return outcome_; }

    /// The run of a peer with `role: server`, from the start on: it begins with the others, serves
    /// them until the last has ended, and leaves. Its outcome has no parameters: it holds only its
    /// part of them, and a digest that the workers agreed on.
    TrainingOutcome serve(Exchange& exchange, TrainingObserver& observer);

  private:
    void require(Call call) const;
    bool interrupted() const { return interrupts_.load() > 0; }
    /// How a run without a final exchange ends. To be interrupted while it waits for the others is
    /// no failure.
    TrainingOutcome& end_without_finish(const Next& next);
    /// After the final exchange, before it is judged: is there a model?
    bool take_model(std::span<const float> parameters);

    const std::optional<double> target_;  ///< training.target_accuracy
    const std::atomic<int>& interrupts_;
    Exchange* exchange_ = nullptr;
    TrainingObserver* observer_ = nullptr;

    State state_ = State::opened;
    std::optional<Next> begun_;   ///< what it said, while the parameters are awaited
    bool begin_is_told_ = false;  ///< of this round, to the observer
    bool has_model_ = false;
    TrainingOutcome outcome_;
};

}  // namespace ako
