// What a run says of a round of one peer, and when it says anything: for whoever learns of machines
// from runs. Values and pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ako/algorithm_settings.h"
#include "ako/payload.h"
#include "src/results/training_figures.h"

namespace ako {

/// Before so many rounds the first ones count too much.
inline constexpr std::uint64_t telling_rounds_min = 20;

/// Of one round, in the mean.
struct RoundFigures {
    double cpu_s = 0;    ///< processor
    double round_s = 0;  ///< by the clock
    double sent = 0;     ///< bytes
    double taken = 0;
    double partitions = 0;  ///< of the mode ako; 0: not known

    double cores() const { return cpu_s / round_s; }
    double bytes() const { return sent + taken; }
};

inline RoundFigures round_figures(const TrainingFigures& figures, double rounds) {
    return {figures.cpu_ms_per_round / 1e3, figures.train_seconds / rounds,
            figures.egress_bytes_per_round, figures.ingress_bytes_per_round, figures.partitions};
}

/// Of rows, the share of float32 that travelled; 0: not known.
inline double share_of_rows(const RoundFigures& round, std::size_t peers,
                            std::size_t parameter_count) {
    const double plain =
        static_cast<double>(peers - 1) * static_cast<double>(payload_bytes_of(parameter_count));
    return plain > 0 ? round.sent * round.partitions / plain : 0;
}

/// Are there evaluations between rounds, whose time is in that of the rounds?
inline bool evaluates_between_rounds(const TrainingSettings& training) {
    return training.evaluate == EvaluateWhen::during && training.evaluate_every > 0 &&
           training.evaluate_every < training.epochs;
}

}  // namespace ako
