#include "src/commands/comparison_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <thread>

#include "ako/error.h"
#include "src/compare/agenda.h"
#include "src/compare/cell_settings.h"
#include "src/compare/earlier_results.h"
#include "src/compare/estimate.h"
#include "src/compare/spread.h"
#include "src/native_peer/training_data.h"
#include "src/numbers/batch_plan.h"
#include "src/predict/gradient_clock.h"
#include "src/wiring/settings_of_mode.h"

namespace ako {

namespace {

/// A gradient is timed for so long.
constexpr double timing_seconds = 0.5;
/// Cells that are like those that were run take so many times as long.
constexpr TimeRange beside_like{0.7, 1.5};
/// Namespaces that are made, and a look at what the links carry: seconds, whenever they change.
constexpr TimeRange new_network{4, 10};

/// The part of a core that each machine of the cell has: what the testbed gives, or a whole one;
/// less if together they ask for more than this machine has.
std::vector<double> shares_of(const Plan& plan, const Cell& cell, bool limited) {
    const std::vector<double>& cpus = plan.testbed.cpus;
    if (cell.candidate.alone())
        return {limited ? *std::max_element(cpus.begin(), cpus.end()) : 1.0};
    std::vector<double> shares(cell.setting.machines, 1);
    for (std::size_t k = 0; limited && k < shares.size(); ++k)
        shares[k] = cpus.size() == 1 ? cpus.front() : cpus.at(k);
    const double cores = std::max(1U, std::thread::hardware_concurrency());
    const double asked = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& share : shares) share *= std::min(1.0, cores / asked);
    return shares;
}

CellWork work_of(const Plan& plan, const Cell& cell, const CellNetwork& network,
                 std::size_t parameter_count) {
    const Settings settings = cell_settings(plan, cell, network.overrides(cell));
    // Where peers pace themselves nobody's processor time is limited.
    const bool limited = network.key().starts_with("testbed") && !plan.testbed.cpus.empty();
    const std::vector<double> shares = shares_of(plan, cell, limited);
    CellWork work;
    work.trainers = cell.setting.machines - dedicated_servers(cell.candidate.variant);
    const BatchPlan batch(settings.training, work.trainers);
    work.batch = batch.share(batch.global(0, 0), 0, work.trainers);
    work.share = *mean(shares);
    work.smallest_share = *std::min_element(shares.begin(), shares.end());
    for (const SentBytes& sent : mode_costs(settings, parameter_count).sent) {
        if (!sent.at_most) work.bytes_per_round = std::max(work.bytes_per_round, sent.per_round());
    }
    if (cell.setting.machines > 1 && std::isfinite(cell.rate.lowest()))
        work.mbit = cell.rate.lowest();
    work.evaluations = cell.evaluate_every > 0 ? cell.epochs / cell.evaluate_every + 1 : 1;
    return work;
}

/// How long these cells take, judged without any that has been run.
TimeRange estimated(const Plan& plan, const std::vector<Cell>& cells, const CellNetwork& network) {
    const Settings first = cell_settings(plan, cells.front(), network.overrides(cells.front()));
    TrainingData data(first);
    GradientClock clock(first, data);
    const auto test_samples = static_cast<double>(data.test_set().count);
    std::map<std::size_t, TimeRange> gradients;
    TimeRange screening, rest;
    std::string prepared;
    for (const Cell& cell : cells) {
        CellWork work = work_of(plan, cell, network, clock.parameter_count());
        if (!gradients.contains(work.batch)) {
            const GradientProfile gradient = clock.profile(work.batch, timing_seconds);
            gradients[work.batch] = {gradient.least, gradient.seconds};
        }
        work.gradient = gradients[work.batch];
        work.samples = cell.epochs * static_cast<double>(data.sample_count());
        work.test_samples = test_samples;
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
    return rest;
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
        return fmt::format(
            "time: about {}, by the budget of samples, the rates and how fast this machine made "
            "gradients just now",
            estimated(plan, cells, network).text());
    } catch (const StartupError& error) {
        return fmt::format("time: not known without the data: {}", error.what());
    }
}

}  // namespace ako
