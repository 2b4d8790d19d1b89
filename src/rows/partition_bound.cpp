// See partition_bound.h.
#include "src/rows/partition_bound.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ako {

PartitionBound::PartitionBound(std::size_t peer_count, std::size_t vector_bytes, bool may_wait)
    : vector_bytes_(static_cast<double>(peer_count - 1) * static_cast<double>(vector_bytes)),
      may_wait_(may_wait),
      partitions_(static_cast<double>(std::max<std::size_t>(1, 2 * (peer_count - 1)))) {}

double PartitionBound::seconds_of(double plain_bytes, double wire_bytes) {
    return seconds_per_byte *
           (share_of_elements * plain_bytes + (1 - share_of_elements) * wire_bytes);
}

double PartitionBound::worth(double plain_bytes, double wire_bytes, double round_s) {
    const double cost = seconds_of(plain_bytes, wire_bytes) / round_s;
    return std::max(1.0, std::sqrt(cost / rounds_per_partition));
}

void PartitionBound::sent(std::size_t plain_bytes, std::size_t wire_bytes) {
    exchanging_s_ += seconds_of(static_cast<double>(plain_bytes), static_cast<double>(wire_bytes));
}

void PartitionBound::begin_round(Round round, Time now, Time processor_time, double sent_share) {
    const Seen last = std::exchange(last_, {round, now, processor_time});
    const double exchanging = std::exchange(exchanging_s_, 0);
    if (processor_time == Time{0} || last.processor_time == Time{0} || round <= last.round) return;
    const auto seconds = [](Time time) { return std::chrono::duration<double>(time).count(); };
    const auto made = static_cast<double>(round - last.round);
    const double taken = seconds(now - last.at);
    const double used = seconds(processor_time - last.processor_time);
    const double other = std::max(used - exchanging, compute_share_min * used);
    const double compute = may_wait_ ? std::max(other, busy_share_min * taken) : other;
    rounds_.add(from_seconds(compute / made));
    if (!rounds_.full()) return;
    const Time usual = std::max(rounds_.median(), Time{1});  // some hold an evaluation
    partitions_ = worth(vector_bytes_, sent_share * vector_bytes_, seconds(usual));
}

}  // namespace ako
