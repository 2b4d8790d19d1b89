#include "src/results/curve.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "src/results/rates.h"

namespace ako {

namespace {

using nlohmann::ordered_json;

}  // namespace

ordered_json points_json(const std::vector<CurvePoint>& points) {
    ordered_json list = ordered_json::array();
    for (const CurvePoint& point : points)
        list.push_back({{"seconds", rounded(point.seconds)},
                        {"round", point.round},
                        {"samples", point.samples},
                        {"progress", rounded(point.progress)},
                        {"accuracy", rounded(point.accuracy)},
                        {"loss", rounded(point.loss)}});
    return list;
}

std::vector<CurvePoint> points_from(const ordered_json& json) {
    std::vector<CurvePoint> points;
    for (const ordered_json& point : json) {
        const ordered_json& loss = point.at("loss");
        points.push_back(
            {point.at("seconds"), point.at("round"), point.at("samples"), point.at("progress"),
             point.at("accuracy"),
             loss.is_null() ? std::numeric_limits<double>::quiet_NaN() : loss.get<double>()});
    }
    return points;
}

std::string Curve::json() const {
    ordered_json begins = ordered_json::object();
    for (const auto& [name, seconds] : began) begins[name] = rounded(seconds);
    const ordered_json json = {{"evaluated", evaluated == EvaluateWhen::after ? "after" : "during"},
                               {"peer", peer},
                               {"began", begins},
                               {"points", points_json(points)}};
    return json.dump(1) + "\n";
}

}  // namespace ako
