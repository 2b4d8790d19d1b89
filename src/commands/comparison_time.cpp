#include "src/commands/comparison_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "ako/error.h"
#include "src/commands/cell_prediction.h"
#include "src/compare/agenda.h"
#include "src/compare/cell_settings.h"
#include "src/compare/earlier_results.h"
#include "src/compare/estimate.h"
#include "src/native_peer/training_data.h"
#include "src/numbers/batch_plan.h"
#include "src/predict/gradient_clock.h"

namespace ako {

namespace {

/// A gradient is timed for so long.
constexpr double timing_seconds = 0.5;
/// Cells that are like those that were run take so many times as long.
constexpr TimeRange beside_like{0.7, 1.5};
/// Namespaces that are made, and a look at what the links carry: seconds, whenever they change.
constexpr TimeRange new_network{4, 10};

/// What rounds and evaluations take beside what the model says, which knows of no other work of
/// this machine: where it rests on profiles, and where on a gradient that was timed just now.
constexpr TimeRange beside_profiles{0.9, 1.3};
constexpr TimeRange beside_gradients{0.8, 1.6};

/// Gradients of this machine, timed when they are first asked for.
class TimedGradients {
  public:
    TimedGradients(const Settings& settings, TrainingData& data) : clock_(settings, data) {}

    const GradientProfile& of(std::size_t batch) {
        const auto [found, fresh] = timed_.try_emplace(batch);
        if (fresh) found->second = clock_.profile(batch, timing_seconds);
        return found->second;
    }
    std::vector<GradientProfile> all() const {
        std::vector<GradientProfile> gradients;
        for (const auto& [batch, gradient] : timed_) gradients.push_back(gradient);
        return gradients;
    }
    std::size_t parameter_count() const { return clock_.parameter_count(); }

  private:
    GradientClock clock_;
    std::map<std::size_t, GradientProfile> timed_;
};

/// A round of the cell, by the model. One in which nobody waits for a server lies between what
/// computing takes and a round in which all do.
TimeRange round_of(const CellPrediction& prediction, const Cell& cell, std::size_t batch) {
    if (const auto round = prediction.round(cell, batch)) return {round->low_s, round->high_s};
    const StepAnswer waits = *prediction.round_in_step(cell, batch);
    return {waits.compute_s, waits.high_s};
}

CellWork work_of(const Plan& plan, const Cell& cell, const CellNetwork& network) {
    const Settings settings = cell_settings(plan, cell, network.overrides(cell));
    CellWork work;
    work.trainers = cell.setting.machines - dedicated_servers(cell.candidate.variant);
    const BatchPlan batch(settings.training, work.trainers);
    work.batch = batch.share(batch.global(0, 0), 0, work.trainers);
    work.evaluations = cell.evaluate_every > 0 ? cell.epochs / cell.evaluate_every + 1 : 1;
    return work;
}

struct Estimated {
    TimeRange time;
    bool profiled = false;  ///< by profiles, not by gradients that were timed just now
};

/// How long these cells take, judged without any that has been run.
Estimated estimated(const Plan& plan, const std::vector<Cell>& cells, const CellNetwork& network) {
    const Settings first = cell_settings(plan, cells.front(), network.overrides(cells.front()));
    TrainingData data(first);
    TimedGradients gradients(first, data);
    CellPrediction prediction(plan, network, cells.front());
    const bool profiled = prediction.has_profiles();
    std::vector<CellWork> works;
    works.reserve(cells.size());
    for (const Cell& cell : cells) {
        works.push_back(work_of(plan, cell, network));
        gradients.of(works.back().batch);
    }
    if (!profiled) prediction.take_gradients(gradients.all(), gradients.parameter_count());
    const TimeRange beside = profiled ? beside_profiles : beside_gradients;
    const auto test_samples = static_cast<double>(data.test_set().count);
    TimeRange screening, rest;
    std::string prepared;
    for (std::size_t k = 0; k < cells.size(); ++k) {
        const Cell& cell = cells[k];
        CellWork& work = works[k];
        const GradientProfile& gradient = gradients.of(work.batch);
        const TimeRange round = round_of(prediction, cell, work.batch);
        work.round = {beside.low * round.low, beside.high * round.high};
        const double batches = forward_share * test_samples / static_cast<double>(work.batch);
        work.evaluation = {batches * beside_gradients.low * gradient.least,
                           batches * beside_gradients.high * gradient.seconds};
        work.samples = cell.epochs * static_cast<double>(data.sample_count());
        TimeRange& sum = cell.part == Cell::Part::screening ? screening : rest;
        sum += expected_time(work);
        const std::string wanted = cell.setting.text() + cell.rate.text();
        if (wanted == prepared || cell.candidate.alone()) continue;
        prepared = wanted;
        if (network.key().starts_with("testbed")) sum += new_network;
    }
    if (plan.screening) {
        screening.low = std::min(screening.low, plan.screening->minutes_max * 60);
        screening.high = std::min(screening.high, plan.screening->minutes_max * 60);
    }
    rest += screening;
    return {rest, profiled};
}

}  // namespace

std::string comparison_time_text(const Plan& plan, const std::vector<Cell>& cells,
                                 const CellNetwork& network) {
    ResultSet results;
    EarlierResults(plan, {&network}).take_in_order(results, false);
    const Forecast left = forecast(plan, results);
    const std::size_t there = results.all().size();
    if (there > 0 && left.cells == 0) return "time: none, all cells are there already";
    if (there > 0 && left.seconds > 0) {
        const TimeRange range{beside_like.low * left.seconds, beside_like.high * left.seconds};
        return fmt::format("time: about {} for {} cells, judged by the {} that are there already",
                           range.text(), left.cells, there);
    }
    try {
        const Estimated left_all = estimated(plan, cells, network);
        return fmt::format("time: about {}, by the budget of samples, the rates and {}",
                           left_all.time.text(),
                           left_all.profiled ? "the profiles of machines"
                                             : "how fast this machine made gradients just now");
    } catch (const StartupError& error) {
        return fmt::format("time: not known without the data: {}", error.what());
    }
}

}  // namespace ako
