// See partition_bound.h.
#include "src/rows/partition_bound.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ako {

PartitionBound::PartitionBound(std::size_t peer_count, std::size_t vector_bytes)
    : seconds_of_vector_(seconds_per_byte * static_cast<double>(peer_count - 1) *
                         static_cast<double>(vector_bytes)),
      partitions_(static_cast<double>(std::max<std::size_t>(1, 2 * (peer_count - 1)))) {}

void PartitionBound::begin_round(Round round, Time now, Time processor_time,
                                 double sent_share) {
    const Seen last = std::exchange(last_, {round, now, processor_time});
    if (processor_time == Time{0} || last.processor_time == Time{0} || round <= last.round) return;
    const auto made = static_cast<Time::rep>(round - last.round);
    const Time taken = (now - last.at) / made;
    const Time used = (processor_time - last.processor_time) / made;
    rounds_.add(
        std::max(used, Time(std::llround(busy_share_min * static_cast<double>(taken.count())))));
    if (!rounds_.full()) return;
    const Time usual = rounds_.median();  // some hold an evaluation
    const double seconds = std::chrono::duration<double>(std::max(usual, Time{1})).count();
    const double bytes = share_of_elements + (1 - share_of_elements) * sent_share;
    const double cost = bytes * seconds_of_vector_ / seconds;
    partitions_ = std::max(1.0, std::sqrt(cost / rounds_per_partition));
}

}  // namespace ako
