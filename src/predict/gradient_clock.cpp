// See gradient_clock.h.
#include "src/predict/gradient_clock.h"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "ako/clock.h"
#include "models/catalog.h"
#include "models/workers.h"
#include "src/numbers/optimizer.h"
#include "src/numbers/usual.h"
#include "src/training/evaluation.h"

namespace ako {

namespace {

/// So many at least.
constexpr std::size_t gradients_min = 5;
constexpr std::size_t rounds_timed = 40;

/// Processor time of this thread; with several beneath it the time of day, for nobody else knows
/// what they wait for.
double seconds_now(unsigned threads) {
    if (threads > 1) return seconds_of(SteadyClock().now());
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The standard deviation as a share of the middle, by how far neighbours differ: a machine that
/// grows slower and faster over seconds, as one that others share, is no spread of its rounds.
double spread_of(const std::vector<double>& values) {
    constexpr double of_normal = 0.6745 * 1.4142;  // the median of |a - b|, in deviations
    std::vector<double> steps;
    for (std::size_t k = 1; k < values.size(); ++k)
        steps.push_back(std::abs(values[k] - values[k - 1]));
    return usual_of(steps, 0) / of_normal / usual_of(values, 0);
}

}  // namespace

GradientClock::GradientClock(const Settings& settings, TrainingData& data)
    : settings_(settings),
      data_(data),
      threads_(settings.training.threads),
      network_(make_network(settings.model)),
      parameters_(network_->parameter_count()),
      gradient_(network_->parameter_count()),
      batches_(data.batches(0)) {
    set_threads(threads_);
    network_->initialize(settings.seed, parameters_);
}

std::vector<GradientStep> GradientClock::steps_of(const Batch& samples) {
    std::vector<GradientStep> steps;
    double before = seconds_now(threads_);
    const auto note = [&](GradientStep::Kind kind, Range range) {
        const double now = seconds_now(threads_);
        steps.push_back({kind, range, now - before});
        before = now;
    };
    network_->gradient(
        samples, parameters_, gradient_,
        [&](Range range) { note(GradientStep::Kind::await, range); },
        [&](Range range) { note(GradientStep::Kind::ready, range); });
    note(GradientStep::Kind::end, {});
    return steps;
}

GradientProfile GradientClock::profile(std::size_t batch, double for_s) {
    std::vector<double> whole;
    std::vector<std::vector<double>> of_step;
    GradientProfile profile;
    profile.batch = batch;
    for (double sum = 0; sum < for_s || whole.size() < gradients_min;) {
        const Batch samples = batches_->next(batch);
        const std::vector<GradientStep> steps = steps_of(samples);
        if (profile.steps.empty()) {  // the first finds caches cold
            profile.steps = steps;
            of_step.resize(steps.size());
            continue;
        }
        double seconds = 0;
        for (std::size_t k = 0; k < steps.size(); ++k) {
            of_step[k].push_back(steps[k].seconds);
            seconds += steps[k].seconds;
        }
        whole.push_back(seconds);
        sum += seconds;
    }
    profile.seconds = usual_of(whole, 0);
    profile.least = *std::min_element(whole.begin(), whole.end());
    profile.spread = spread_of(whole);
    double sum = 0;
    for (std::size_t k = 0; k < of_step.size(); ++k)
        sum += profile.steps[k].seconds = usual_of(of_step[k], 0);
    for (GradientStep& step : profile.steps) step.seconds *= profile.seconds / sum;
    return profile;
}

void GradientClock::evaluate() {
    evaluated_ = initial_ = parameters_;
    const TestSet test = data_.test_set();
    if (test.count > 0)
        network_->evaluate(test.slice(0, std::min(test.count, evaluation_slice_default)),
                           evaluated_);
}

double GradientClock::beside() {
    Sgd optimizer(parameters_.size(), settings_.training, layer_ranges(network_->tensors()));
    const Range all{0, parameters_.size()};
    std::vector<double> taken;
    for (std::size_t k = 0; k < rounds_timed; ++k) {
        const double began = seconds_now(1);
        batches_->next(settings_.training.batch.local);
        if (optimizer.measures()) optimizer.measure(all, gradient_, 1, parameters_);
        optimizer.apply(all, gradient_, 1, parameters_, 0);
        taken.push_back(seconds_now(1) - began);
    }
    return usual_of(taken, 0);
}

}  // namespace ako
