// See partition_bound.h.
#include "src/rows/partition_bound.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ako {

PartitionBound::PartitionBound(std::size_t peer_count, std::size_t vector_bytes,
                               bool other_device)
    : vector_bytes_(static_cast<double>(peer_count - 1) * static_cast<double>(vector_bytes)),
      other_device_(other_device),
      partitions_(static_cast<double>(std::max<std::size_t>(1, 2 * (peer_count - 1)))) {}

double PartitionBound::seconds_of(double bytes, double sent_share) {
    return seconds_per_byte * bytes * (share_of_elements + (1 - share_of_elements) * sent_share);
}

void PartitionBound::begin_round(Round round, Time now, Time processor_time,
                                 double sent_share) {
    const Seen last = std::exchange(last_, {round, now, processor_time});
    const auto sent = static_cast<double>(std::exchange(sent_bytes_, 0));
    if (processor_time == Time{0} || last.processor_time == Time{0} || round <= last.round) return;
    const auto seconds = [](Time time) { return std::chrono::duration<double>(time).count(); };
    const auto made = static_cast<double>(round - last.round);
    const double taken = seconds(now - last.at);
    const double used = seconds(processor_time - last.processor_time);
    const double other = std::max(used - seconds_of(sent, sent_share), compute_share_min * used);
    const double compute = other_device_ ? std::max(other, busy_share_min * taken) : other;
    rounds_.add(Time(std::llround(compute / made * 1e9)));
    if (!rounds_.full()) return;
    const Time usual = std::max(rounds_.median(), Time{1});  // some hold an evaluation
    const double cost = seconds_of(vector_bytes_, sent_share) / seconds(usual);
    partitions_ = std::max(1.0, std::sqrt(cost / rounds_per_partition));
}

}  // namespace ako
