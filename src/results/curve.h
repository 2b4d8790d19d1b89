// The curve of a run: how good its parameters were at the marks of `evaluate_every`, and at the
// end. Written to curve.json of the run folder:
//
//   evaluated  "during" the training, or "after" it
//   peer       whose final parameters the last point is of: the lowest of those who agreed
//   began      {peer: seconds}: how long after the first peer's first round began each one's did;
//              {} where it is not known of every peer with points, as of peers on several machines,
//              and then each point's `seconds` are since the first round of its own peer
//   points     [{seconds, round, samples, progress, accuracy, loss}], by progress: `seconds` since
//              the first round of the peer that began first, `round` that of the peer that took the
//              parameters, `samples` and `progress` those of all peers; of the last point,
//              `seconds` is the end of the final exchange. A loss that is not finite is null.
//
// Values; any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ako/algorithm_settings.h"
#include "ako/frame.h"

namespace ako {

struct CurvePoint {
    double seconds = 0;
    std::uint64_t round = 0;
    std::uint64_t samples = 0;
    double progress = 0;
    double accuracy = 0;
    double loss = 0;  ///< a NaN where the program does not say it
};

inline double loss_of(const Verdict& verdict) {
    return static_cast<double>(
        verdict.loss.value_or(std::numeric_limits<float>::quiet_NaN()));
}

nlohmann::ordered_json points_json(const std::vector<CurvePoint>& points);
/// Throws nlohmann::json::exception.
std::vector<CurvePoint> points_from(const nlohmann::ordered_json& json);

struct Curve {
    EvaluateWhen evaluated = EvaluateWhen::during;
    std::string peer;
    std::map<std::string, double> began;
    std::vector<CurvePoint> points;

    std::string json() const;
};

}  // namespace ako
