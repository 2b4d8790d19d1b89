// The profile of a machine: what one peer takes of it for a certain network, measured there
// (`ako profile`) and kept as JSON, so that `ako predict` needs no peer:
//
//   format        "ako profile 1"
//   version       of the program that measured
//   network       parameters, and the digest of model, data shape and threads that it holds for
//   machine       text, cores, quota_cores (of its control group; 0: none), quota_period_s,
//                 memory_bytes
//   gradients     [{batch, seconds, least, spread, steps: ["kind first count seconds", ..]}]: by
//                 rising batch; seconds of processor of a whole gradient (median, least, standard
//                 deviation from one to the next, as a share) and of each of its steps in the mean
//   crowded       how many times as long a gradient takes while all processors are at work
//   round_s       processor of a round beside its gradient: batch, optimizer, exchange's own part
//   process_bytes resident of a peer alone whose rounds have process_batch samples; 0 of these:
//                 as many as the cluster file says
//   period_lost_s of the quota of each period, for caches are cold when a group may go on: 0 unless
//                 runs with a quota told it
//   exchange      {mode: {s_per_byte, bytes_share, round_s}}: processor for a byte that is sent or
//                 taken; of rows (the mode ako), the share of float32 that
//                 travels; processor of a
//                 round that exchanges, beside that of one alone, whatever is sent
//   measured_by   for people: where the exchange's figures come from
//
// Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/predict/replay.h"

namespace ako {

/// A layer's share of the time of both passes that goes forward: of three products of its matrix
/// one, for the backward pass makes the gradient of the parameters and that of the input.
inline constexpr double forward_share = 1.0 / 3;

struct GradientProfile {
    std::size_t batch = 0;
    double seconds = 0;
    double least = 0;
    double spread = 0;
    std::vector<GradientStep> steps;  ///< they add up to `seconds`
};

struct ExchangeProfile {
    double s_per_byte = 0;
    double bytes_share = 1;
    double round_s = 0;
};

struct MachineProfile {
    std::string version;
    std::string network;
    std::size_t parameter_count = 0;
    std::string text;  ///< the machine, for people
    double cores = 1;
    double quota_cores = 0;
    double quota_period_s = 0;
    double period_lost_s = 0;
    std::uint64_t memory_bytes = 0;
    std::vector<GradientProfile> gradients;
    double crowded = 1;
    double round_s = 0;
    std::uint64_t process_bytes = 0;
    std::size_t process_batch = 0;
    std::map<std::string, ExchangeProfile> exchange;
    std::string measured_by;

    /// The gradient of a batch that lies between two that were measured, or beyond them by the line
    /// through the nearest two.
    GradientProfile gradient_of(std::size_t batch) const;
    bool measured(std::size_t batch) const {
        return batch >= gradients.front().batch && batch <= gradients.back().batch;
    }
    /// Of this mode, or else of the one that exchanges most like it.
    const ExchangeProfile& exchange_of(const std::string& mode) const;
};

std::string to_json_text(const MachineProfile& profile);
/// Throws StartupError that names the file: no profile, or of another version of its format.
MachineProfile read_profile(const std::string& file);

}  // namespace ako
