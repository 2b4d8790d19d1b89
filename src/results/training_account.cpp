#include "src/results/training_account.h"

#include <algorithm>

#include "src/results/rates.h"
#include "src/system/process_usage.h"

namespace ako {

namespace {

double milliseconds_of(Time time) { return seconds_of(time) * 1e3; }

double median(std::vector<std::uint64_t> numbers) {
    if (numbers.empty()) return 0;
    std::sort(numbers.begin(), numbers.end());
    const std::size_t half = numbers.size() / 2;
    const auto middle = static_cast<double>(numbers[half]);
    return numbers.size() % 2 == 1 ? middle : (static_cast<double>(numbers[half - 1]) + middle) / 2;
}

}  // namespace

void TrainingAccount::reached(RoundMoment moment, Time now) {
    times_.reached(moment, now);
    if (moment == RoundMoment::may_train && times_.rounds() == 0) at_first_ = totals();
    if (moment == RoundMoment::ended) at_last_ = totals();
}

void TrainingAccount::serving(Time now) {
    serving_since_ = now;
    at_first_ = totals();
}

void TrainingAccount::stopping(const MetricsLine& line) {
    if (times_.rounds() == 0) return;
    figures_ = make_figures(line);
    egress_mbit_ =
        mbit_between(at_first_.egress_bytes, at_last_.egress_bytes, seconds_of(times_.training()));
}

void TrainingAccount::finished(Time now) {
    if (!serving_since_ || now <= *serving_since_) return;
    egress_mbit_ = mbit_between(at_first_.egress_bytes, totals().egress_bytes,
                                seconds_of(now - *serving_since_));
}

TrainingFigures TrainingAccount::make_figures(const MetricsLine& line) const {
    const RoundTimes::Figures spent = times_.figures();
    const Totals& end = at_last_;
    const auto rounds = static_cast<double>(times_.rounds());
    const auto per_round = [rounds](std::uint64_t before, std::uint64_t after) {
        return static_cast<double>(after - before) / rounds;
    };
    const auto round_ms = [&spent](double share) {
        return milliseconds_of(spent.round.quantile(share));
    };
    TrainingFigures figures;
    figures.train_seconds = seconds_of(times_.training());
    figures.round_ms = {round_ms(0.1), round_ms(0.5), round_ms(0.9), round_ms(0.99), round_ms(1)};
    figures.gradient_ms_p50 = milliseconds_of(spent.gradient.quantile(0.5));
    figures.wait_ms_p50 = milliseconds_of(spent.wait.quantile(0.5));
    figures.compute_share = spent.compute_share();
    figures.cpu_seconds = end.cpu_seconds - at_first_.cpu_seconds;
    figures.cpu_ms_per_round = figures.cpu_seconds * 1e3 / rounds;
    figures.partitions = line.partitions();
    // A training of less than a second has only its end to go by.
    figures.staleness_rounds =
        stalest_.empty() ? static_cast<double>(line.staleness_rounds()) : median(stalest_);
    if (figures.train_seconds > 0)
        figures.samples_per_s = static_cast<double>(line.samples) / figures.train_seconds;
    figures.egress_bytes_per_round = per_round(at_first_.egress_bytes, end.egress_bytes);
    figures.ingress_bytes_per_round = per_round(at_first_.ingress_bytes, end.ingress_bytes);
    return figures;
}

TrainingAccount::Totals TrainingAccount::totals() const {
    Totals totals;
    for (const LinkCounters& link : transport_.counters()) {
        totals.egress_bytes += link.egress_bytes;
        totals.ingress_bytes += link.ingress_bytes;
    }
    totals.cpu_seconds = process_cpu_seconds();
    return totals;
}

}  // namespace ako
