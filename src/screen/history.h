// The history of one figure over a run, for a plot: means over equal parts of the run, so that its
// memory does not grow with the length of the run. One thread.
#pragma once

#include <cstddef>
#include <vector>

namespace ako {

/// A point of a plot; x is 0 .. 1 of the run.
struct PlotPoint {
    double x = 0;
    double y = 0;

    bool operator==(const PlotPoint&) const = default;
};

class History {
  public:
    /// Dots beside one another on the widest terminal that makes sense.
    static constexpr std::size_t parts_default = 600;

    explicit History(std::size_t parts = parts_default) : parts_(parts) {}

    /// A value that is not finite is left out.
    void add(double progress, double value);
    /// In the order of progress, one for each part that has values.
    std::vector<PlotPoint> points() const;

  private:
    struct Part {
        double x_sum = 0;
        double y_sum = 0;
        std::size_t count = 0;
    };
    std::vector<Part> parts_;
};

}  // namespace ako
