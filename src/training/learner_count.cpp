// See learner_count.h.
#include "src/training/learner_count.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace ako {
namespace {

std::string whole(double number) { return std::to_string(std::llround(number)); }

std::string samples_per_s(double rate, double before) {
    return whole(rate) + " samples/s instead of " + whole(before);
}

}  // namespace

std::optional<LearnerCount::Change> LearnerCount::round_made(double samples, Time took) {
    const std::optional<double> rate = look(samples, took);
    if (!rate) return std::nullopt;
    switch (phase_) {
        case Phase::steady:
            return steady(*rate);
        case Phase::more:
            return tried_more(*rate);
        case Phase::fewer:
            return tried_fewer(*rate);
    }
    return std::nullopt;
}

std::optional<double> LearnerCount::look(double samples, Time took) {
    if (left_out_ < rounds_left_out) {
        ++left_out_;
        return std::nullopt;
    }
    ++rounds_;
    samples_ += samples;
    took_ += took;
    if (took_ < window_least || rounds_ < rounds_of_window) return std::nullopt;
    const double seconds = seconds_of(took_);
    windows_.push_back(std::max(0.0, samples_) / seconds);
    rounds_ = 0;
    samples_ = 0;
    took_ = Time{};
    if (windows_.size() < windows_of_look) return std::nullopt;
    const auto middle = windows_.begin() + windows_of_look / 2;
    std::nth_element(windows_.begin(), middle, windows_.end());
    const double median = *middle;
    windows_.clear();
    return median;
}

std::optional<LearnerCount::Change> LearnerCount::steady(double rate) {
    const bool low = usual_ > 0 && rate < usual_ * (1 - changed);
    const bool fell = std::exchange(low_, low) && low;
    if (low && !fell) return std::nullopt;  // the next look confirms it, or it was a hiccup
    low_ = false;
    const double before = std::exchange(usual_, rate);
    const bool rose = before > 0 && rate > before * (1 + changed);
    if (fell || (goes_on_ && falls_)) {
        if (count_ > 1)
            return change(count_ - 1, Phase::fewer, false,
                          fell ? samples_per_s(rate, before) + ": tries one fewer"
                               : "one fewer did as well: tries another one fewer");
        goes_on_ = falls_ = false;
    }
    // Nothing that was learned of numbers before holds any more.
    if (fell || rose) looks_apart_ = 1;
    if (rose || goes_on_) looks_left_ = 0;
    if (count_ == most_) return std::nullopt;
    if (looks_left_ > 0) {
        --looks_left_;
        return std::nullopt;
    }
    return change(count_ + 1, Phase::more, false,
                  "tries one more than " + std::to_string(count_) + ", which make " + whole(rate) +
                      " samples/s");
}

std::optional<LearnerCount::Change> LearnerCount::tried_more(double rate) {
    const double before = usual_;
    if (rate >= before * (1 + worth_it)) {
        usual_ = rate;
        looks_apart_ = 1;
        goes_on_ = true;
        falls_ = false;
        return change(count_, Phase::steady, true, samples_per_s(rate, before));
    }
    goes_on_ = false;
    looks_left_ = looks_apart_;
    looks_apart_ = std::min(2 * looks_apart_, looks_most);
    return change(count_ - 1, Phase::steady, false,
                  samples_per_s(rate, before) + " are not worth it");
}

std::optional<LearnerCount::Change> LearnerCount::tried_fewer(double rate) {
    const double before = usual_;
    goes_on_ = falls_ = rate >= before * (1 - worth_it);
    if (!goes_on_) {
        looks_left_ = looks_apart_;
        return change(count_ + 1, Phase::steady, false,
                      samples_per_s(rate, before) + " are too few");
    }
    usual_ = rate;
    looks_left_ = looks_apart_ = 1;
    return change(count_, Phase::steady, true,
                  whole(before) + " samples/s were left, and one fewer makes " + whole(rate));
}

LearnerCount::Change LearnerCount::change(unsigned count, Phase phase, bool stays,
                                          std::string why) {
    const bool same = count == count_;
    count_ = count;
    phase_ = phase;
    if (!same) {
        left_out_ = 0;
        rounds_ = 0;
        samples_ = 0;
        took_ = Time{};
        windows_.clear();
    }
    return {count, stays, std::move(why)};
}

}  // namespace ako
