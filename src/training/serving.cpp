#include "src/training/serving.h"

#include <utility>

namespace ako {

TrainingOutcome serve(Exchange& exchange, const std::atomic<int>& interrupts,
                      TrainingObserver& observer) {
    Next next = exchange.begin_round();
    if (next.kind == Next::Kind::give_up) return given_up(std::move(next), interrupts.load() > 0);
    TrainingOutcome outcome;
    observer.serving();
    outcome.report = exchange.finish({});
    observer.finished(outcome.report);
    outcome.why = "all workers have ended";
    judge_finish(outcome, interrupts.load() > 0);
    return outcome;
}

}  // namespace ako
