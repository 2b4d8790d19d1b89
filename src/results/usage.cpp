// See usage.h.
#include "src/results/usage.h"

#include <algorithm>
#include <utility>

namespace ako {
namespace {

constexpr double mbit_per_byte = 8e-6;

/// A count of threads falls where one of them has ended.
double grown(double before, double after) { return std::max(0.0, after - before); }

}  // namespace

void UsageWindow::add(UsageSample sample) {
    samples_.push_back(std::move(sample));
    const UsageSample& newest = samples_.back();
    const auto still_enough = [&](const UsageSample& oldest) {
        constexpr std::uint64_t rounds_min = 2;
        const bool no_rounds = newest.rounds == 0;  // a server makes none
        return newest.time - oldest.time >= seconds_min &&
               (no_rounds || newest.rounds >= oldest.rounds + rounds_min);
    };
    while (samples_.size() > 2 && (still_enough(samples_[1]) || samples_.size() > samples_max))
        samples_.pop_front();
}

Usage UsageWindow::usage() const {
    Usage usage;
    if (samples_.size() < 2) return usage;
    const UsageSample& old = samples_.front();
    const UsageSample& now = samples_.back();
    usage.seconds = now.time - old.time;
    const auto share = [&usage](double before, double after) {
        return grown(before, after) / usage.seconds;
    };
    usage.rounds_per_s = share(static_cast<double>(old.rounds), static_cast<double>(now.rounds));
    usage.gradient = share(old.gradient_seconds, now.gradient_seconds);
    usage.input = share(old.input_seconds, now.input_seconds);
    usage.wait = share(old.wait_seconds, now.wait_seconds);
    const ProcessUsage& was = old.process;
    const ProcessUsage& is = now.process;
    usage.compute_running = share(was.this_thread.running, is.this_thread.running);
    usage.compute_runnable = share(was.this_thread.runnable, is.this_thread.runnable);
    usage.network_running = share(was.other_threads.running, is.other_threads.running);
    usage.network_runnable = share(was.other_threads.runnable, is.other_threads.runnable);
    // The kernel may count each processor of a group that has several.
    usage.throttled = std::min(1.0, share(was.throttled_seconds, is.throttled_seconds));
    usage.major_faults_per_s =
        share(static_cast<double>(was.major_faults), static_cast<double>(is.major_faults));
    return usage;
}

std::vector<LinkUsage> UsageWindow::links() const {
    if (samples_.empty()) return {};
    const UsageSample& old = samples_.front();
    const UsageSample& now = samples_.back();
    const double seconds = now.time - old.time;
    std::vector<LinkUsage> links(now.links.size());
    if (samples_.size() < 2) return links;
    for (std::size_t k = 0; k < links.size(); ++k) {
        const std::uint64_t bytes = now.links[k].egress_bytes - old.links[k].egress_bytes;
        links[k].egress_mbit = static_cast<double>(bytes) * mbit_per_byte / seconds;
        const double full = grown(old.links[k].full_seconds, now.links[k].full_seconds);
        links[k].full = std::min(1.0, full / seconds);
        const auto mean = [&](double UsageSample::LinkSample::*which) {
            double sum = 0;
            for (const UsageSample& sample : samples_) sum += sample.links[k].*which;
            return sum / static_cast<double>(samples_.size());
        };
        links[k].round_trip_ms = mean(&UsageSample::LinkSample::round_trip_ms);
        links[k].staleness_rounds = mean(&UsageSample::LinkSample::staleness_rounds);
    }
    return links;
}

}  // namespace ako
