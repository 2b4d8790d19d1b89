#include "net/pacing.h"

#include <algorithm>
#include <cmath>

#include "ako/blocks.h"
#include "ako/payload.h"

namespace ako {
namespace {

constexpr double bytes_per_ns_of_mbit = 1e6 / 8 / 1e9;

/// What may pile up while nobody writes, and so what a window may hold above the limit: three
/// quarters of the 2 % allowed.
constexpr double capacity_ns = 15e6;
/// Short enough that a link is never seen to stop, long enough that 400 writes a second do.
constexpr double slice_ns = 2.5e6;
/// One TCP segment of Ethernet: smaller writes only make more packets.
constexpr std::size_t slice_bytes_min = 1448;

/// A message is this much of its link: short, so that control and relays need not wait long, and
/// long enough that its header and system calls do not show.
constexpr double message_ns = 5e6;
constexpr std::size_t message_bytes_min = std::size_t{16} * 1024;
/// Before a link has been measured.
constexpr std::size_t message_bytes_first = std::size_t{64} * 1024;
/// Shorter times say more about the socket's buffer than about the link.
constexpr Time measured_min = std::chrono::milliseconds(20);

}  // namespace

TokenBucket::TokenBucket(double mbit) {
    if (mbit <= 0) return;
    bytes_per_ns_ = mbit * bytes_per_ns_of_mbit;
    slice_ = std::max(slice_bytes_min, static_cast<std::size_t>(bytes_per_ns_ * slice_ns));
    capacity_ = std::max(bytes_per_ns_ * capacity_ns, static_cast<double>(slice_));
    tokens_ = capacity_;
}

double TokenBucket::tokens_at(Time now) const {
    if (!used_) return capacity_;
    const auto passed = static_cast<double>(std::max(Time{0}, now - filled_at_).count());
    return std::min(capacity_, tokens_ + passed * bytes_per_ns_);
}

Time TokenBucket::ready_at(Time now) const {
    if (!limited()) return now;
    const double missing = static_cast<double>(slice_) - tokens_at(now);
    if (missing <= 0) return now;
    return now + Time(static_cast<Time::rep>(std::ceil(missing / bytes_per_ns_)));
}

void TokenBucket::spend(std::size_t bytes, Time now) {
    if (!limited()) return;
    tokens_ = tokens_at(now) - static_cast<double>(bytes);
    filled_at_ = used_ ? std::max(filled_at_, now) : now;
    used_ = true;
}

void LinkRate::sent(std::size_t bytes, Time now) {
    if (!busy_) {
        // The frame that ends the idleness went into an empty socket buffer: it measures nothing.
        busy_ = true;
        since_ = now;
        bytes_ = 0;
        return;
    }
    bytes_ += bytes;
    const Time passed = now - since_;
    if (passed < measured_min) return;
    const double measured =
        static_cast<double>(bytes_) / static_cast<double>(passed.count()) / bytes_per_ns_of_mbit;
    mbit_ = mbit_ > 0 ? (mbit_ + measured) / 2 : measured;
    since_ = now;
    bytes_ = 0;
}

std::size_t LinkRate::payload_bytes_max(double limit_mbit) const {
    const double rate =
        limit_mbit > 0 && mbit_ > 0 ? std::min(limit_mbit, mbit_) : std::max(limit_mbit, mbit_);
    if (rate <= 0) return message_bytes_first;
    const double bytes = std::min(static_cast<double>(payload_bytes_limit),
                                  rate * bytes_per_ns_of_mbit * message_ns);
    return std::max(message_bytes_min, static_cast<std::size_t>(bytes) / 1024 * 1024);
}

}  // namespace ako
