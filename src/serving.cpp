#include "src/serving.h"

#include <utility>

namespace ako {

TrainingOutcome serve(Exchange& exchange, const std::atomic<int>& interrupts,
                      TrainingObserver& observer) {
    TrainingOutcome outcome;
    Next next = exchange.begin_round();
    if (next.kind != Next::Kind::stop) {
        outcome.ending = interrupts.load() > 0 ? TrainingOutcome::Ending::interrupted
                                               : TrainingOutcome::Ending::failed;
        outcome.why = std::move(next.why);
        return outcome;
    }
    observer.serving();
    outcome.report = exchange.finish({});
    observer.finished(outcome.report);
    outcome.why = "all workers have ended";
    judge_finish(outcome, interrupts.load() > 0);
    return outcome;
}

}  // namespace ako
