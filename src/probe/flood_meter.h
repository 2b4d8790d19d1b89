// What comes of a flood per second, counted where it arrives, so that nothing that waits in between
// is taken for sent. What a connection carries while it finds its pace is left out. Pure, with
// explicit time.
#pragma once

#include <cstddef>
#include <optional>

#include "ako/clock.h"
#include "ako/types.h"

namespace ako {

class FloodMeter {
  public:
    /// What comes so long after the first bytes does not count, if more comes later.
    explicit FloodMeter(Time warm_up) : warm_up_(warm_up) {}

    void begin() { *this = FloodMeter(warm_up_); }

    /// So many bytes have come by then. The first only tell when the flood began to arrive.
    void take(std::size_t bytes, Time at) {
        if (!began_)
            began_ = warm_at_ = at;
        else if (at <= *began_ + warm_up_) {
            early_bytes_ += bytes;
            warm_at_ = at;
        } else {
            bytes_ += bytes;
        }
        last_ = at;
    }

    /// 0 where less has come than it takes to tell.
    double bytes_per_s() const {
        if (!began_ || last_ == *began_) return 0;
        if (bytes_ > 0) return static_cast<double>(bytes_) / seconds_of(last_ - warm_at_);
        return static_cast<double>(early_bytes_) / seconds_of(last_ - *began_);
    }

  private:
    Time warm_up_;
    std::optional<Time> began_;
    Time warm_at_{};  ///< the last arrival that does not count
    Time last_{};
    std::size_t early_bytes_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace ako
