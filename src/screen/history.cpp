#include "src/screen/history.h"

#include <algorithm>
#include <cmath>

namespace ako {

void History::add(double progress, double value) {
    if (!std::isfinite(value) || !std::isfinite(progress)) return;
    const double x = std::clamp(progress, 0.0, 1.0);
    const auto place = static_cast<std::size_t>(x * static_cast<double>(parts_.size()));
    Part& part = parts_[std::min(place, parts_.size() - 1)];
    part.x_sum += x;
    part.y_sum += value;
    ++part.count;
}

std::vector<PlotPoint> History::points() const {
    std::vector<PlotPoint> points;
    for (const Part& part : parts_) {
        if (part.count == 0) continue;
        const auto count = static_cast<double>(part.count);
        points.push_back({part.x_sum / count, part.y_sum / count});
    }
    return points;
}

}  // namespace ako
