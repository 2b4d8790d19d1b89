// Virtual time: a queue of events on one thread, and the random numbers that everything is drawn
// from.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "ako/clock.h"

namespace ako::sim {

/// SplitMix64 (Steele et al., 2014): the same numbers everywhere, so that a seed replays anywhere.
class Random {
  public:
    /// Seeds are scrambled twice, because the states of neighbours would else be one step apart.
    explicit Random(std::uint64_t seed) : state_(seed) { state_ = next() ^ (next() << 1); }

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }
    /// 0 .. count - 1
    std::uint64_t below(std::uint64_t count) { return next() % count; }
    /// first .. last
    std::uint64_t between(std::uint64_t first, std::uint64_t last) {
        return first + below(last - first + 1);
    }
    double real() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    double real(double low, double high) { return low + (high - low) * real(); }
    bool chance(double probability) { return real() < probability; }
    Time time(Time low, Time high) {
        return low + Time(static_cast<std::int64_t>(
                         below(static_cast<std::uint64_t>((high - low).count()) + 1)));
    }

  private:
    std::uint64_t state_;
};

class World {
  public:
    Time now() const { return now_; }

    void at(Time when, std::function<void()> what) {
        events_.push({when < now_ ? now_ : when, next_order_++, std::move(what)});
    }
    void after(Time delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }

    /// Runs events until `done`, or nothing is left, or `deadline`. False if not done.
    bool run(const std::function<bool()>& done, Time deadline) {
        while (!done()) {
            if (events_.empty() || events_.top().when > deadline) return false;
            // The queue gives out const references only; the event is popped before it runs.
            auto what = std::move(const_cast<Event&>(events_.top()).what);
            now_ = events_.top().when;
            events_.pop();
            what();
        }
        return true;
    }

  private:
    struct Event {
        Time when;
        std::uint64_t order;  ///< of equal times the first scheduled runs first
        std::function<void()> what;
        bool operator<(const Event& other) const {
            return when != other.when ? when > other.when : order > other.order;
        }
    };

    Time now_{0};
    std::uint64_t next_order_ = 0;
    std::priority_queue<Event> events_;
};

/// The clock of one process: virtual time with an offset and a rate of its own, because clocks are
/// not shared.
class PeerClock final : public Clock {
  public:
    PeerClock(const World& world, Time offset) : world_(world), offset_(offset) {}
    Time now() const override {
        const Time passed = world_.now() - since_;
        return offset_ + Time(std::llround(static_cast<double>(passed.count()) * rate_));
    }
    /// From now on it goes so many times as fast as virtual time.
    void drift(double rate) {
        offset_ = now();
        since_ = stood_at_ = world_.now();
        rate_ = rate;
    }
    double rate() const { return rate_; }
    /// It stood for so long, or will have when it is next looked at.
    void stand_still(Time time) {
        offset_ -= Time(std::llround(static_cast<double>(time.count()) * rate_));
        stood_at_ = world_.now();
    }
    /// The moment at which it showed this, in virtual time, as it goes now.
    Time virtual_of(Time shown) const {
        const Time passed = shown - offset_;
        return since_ + Time(std::llround(static_cast<double>(passed.count()) / rate_));
    }
    /// When it last began to stand or to drift, in virtual time; negative: never.
    Time stood_at() const { return stood_at_; }

  private:
    const World& world_;
    Time offset_;    ///< what it showed at `since_`
    Time since_{0};  ///< virtual time
    double rate_ = 1;
    Time stood_at_{-1};
};

inline constexpr Time ms(std::int64_t count) { return std::chrono::milliseconds(count); }

}  // namespace ako::sim
