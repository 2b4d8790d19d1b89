#include "src/compare/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace ako {

namespace {

/// Beginnings are left out below this: what matters is near the end, and a logarithm has no zero.
constexpr double accuracy_from = 0.5;

/// Which variant it is stands in the table.
std::string label_of(const Outcome& outcome) {
    return outcome.candidate.contender + (outcome.composed ? " *" : "");
}

/// At a place where all seeds that ran have points. One that failed counts as below all others in
/// the median, as in the tables; the range is of those that ran. nullopt: there is no median.
std::optional<Spread> accuracies_at(const Outcome& outcome, double RunPoint::*along, double place) {
    std::vector<double> accuracies;
    for (const auto& [seed, curve] : outcome.seeds) {
        if (curve.points.empty())
            accuracies.push_back(-std::numeric_limits<double>::infinity());
        else
            accuracies.push_back(along == &RunPoint::seconds ? curve.accuracy_at_seconds(place)
                                                             : curve.accuracy_at_round(place));
    }
    return spread_of_finite(accuracies);
}

/// Median and range over seeds, at the moments of all seeds' points within what all have.
SvgLine accuracy_line(const Plan& plan, const Outcome& outcome, double RunPoint::*along) {
    SvgLine line;
    line.label = label_of(outcome);
    line.number = colour_of(plan, outcome.candidate.contender);
    line.dashed = outcome.composed;
    std::vector<double> places;
    double end = 0;
    for (const SeedCurve& seed : outcome.seeds) {
        if (seed.curve.points.empty()) continue;
        const double last = seed.curve.points.back().*along;
        end = end == 0 ? last : std::min(end, last);
        for (const RunPoint& point : seed.curve.points) places.push_back(point.*along);
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    for (const double place : places) {
        if (place <= 0 || place > end) continue;
        const std::optional<Spread> spread = accuracies_at(outcome, along, place);
        if (!spread || spread->median < accuracy_from) continue;
        line.points.push_back({place, spread->median, spread->low, spread->high});
    }
    return line;
}

Chart accuracy_chart(const Plan& plan, const std::vector<const Outcome*>& outcomes,
                     const Rate& rate, double RunPoint::*along) {
    const bool time = along == &RunPoint::seconds;
    Chart chart;
    chart.name = fmt::format("accuracy-{}-{}", time ? "time" : "rounds", rate.short_text());
    chart.plot.title =
        fmt::format("{}: test accuracy against {}", rate.text(), time ? "time" : "rounds");
    chart.plot.x_label = time ? "time since training began, s" : "rounds of a peer";
    chart.plot.y_label = "test accuracy";
    chart.plot.x_axis = Axis::logarithmic;
    chart.plot.accuracy = true;
    chart.plot.marks = plan.target_accuracy;
    for (const Outcome* outcome : outcomes)
        chart.plot.lines.push_back(accuracy_line(plan, *outcome, along));
    return chart;
}

Chart target_chart(const Plan& plan, const std::vector<Outcome>& outcomes, const Setting& setting,
                   std::size_t target_index) {
    const double target = plan.target_accuracy[target_index] * 100;
    Chart chart;
    chart.name = fmt::format("target-{:g}", target);
    chart.plot.title = fmt::format("time to {:g} % test accuracy", target);
    chart.plot.x_label = "rate of the network, Mbit/s";
    chart.plot.y_label = "time, s";
    chart.plot.y_axis = Axis::logarithmic;
    chart.plot.points_only_with_range = true;
    std::vector<Rate> rates = plan.rates;
    std::stable_sort(rates.begin(), rates.end(), [](const Rate& left, const Rate& right) {
        return left.lowest() < right.lowest();
    });
    for (const Rate& rate : rates) chart.plot.x_names.push_back(rate.short_text());
    for (const Contender& contender : plan.modes) {
        SvgLine line;
        line.label = contender.name;
        line.number = colour_of(plan, contender.name);
        for (std::size_t k = 0; k < rates.size(); ++k) {
            for (const Outcome* outcome : best_at(outcomes, setting, rates[k], target_index)) {
                const std::optional<Spread>& seconds = outcome->targets[target_index].seconds;
                if (outcome->candidate.contender != contender.name || !seconds) continue;
                line.dashed |= outcome->composed;
                line.points.push_back(
                    {static_cast<double>(k), seconds->median, seconds->low, seconds->high});
            }
        }
        chart.plot.lines.push_back(line);
    }
    return chart;
}

}  // namespace

std::vector<Chart> charts_of(const Plan& plan, const std::vector<Outcome>& outcomes,
                             const Setting& setting) {
    std::vector<Chart> charts;
    if (plan.rates.size() > 1) {
        for (std::size_t k = 0; k < plan.target_accuracy.size(); ++k)
            charts.push_back(target_chart(plan, outcomes, setting, k));
    }
    for (const Rate& rate : plan.rates) {
        const std::vector<const Outcome*> here = best_at(outcomes, setting, rate);
        for (const auto along : {&RunPoint::seconds, &RunPoint::round})
            charts.push_back(accuracy_chart(plan, here, rate, along));
    }
    for (Chart& chart : charts)
        chart.name =
            fmt::format("n{}-batch{}-{}", setting.machines, setting.batch_per_peer, chart.name);
    return charts;
}

std::size_t colour_of(const Plan& plan, const std::string& contender) {
    const auto found = std::find_if(plan.modes.begin(), plan.modes.end(),
                                    [&](const Contender& one) { return one.name == contender; });
    return static_cast<std::size_t>(found - plan.modes.begin());
}

}  // namespace ako
