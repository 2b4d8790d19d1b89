#include "src/training/round_times.h"

#include <algorithm>

namespace ako {

double RoundTimes::Figures::compute_share() const {
    if (round.sum().count() == 0) return 0;
    return static_cast<double>(gradient.sum().count()) / static_cast<double>(round.sum().count());
}

void RoundTimes::reached(RoundMoment moment, Time now) {
    switch (moment) {
        case RoundMoment::begun:
            parts_ = {};
            awaited_ = {};
            round_begun_ = now;
            break;
        case RoundMoment::may_train:
            if (!began_at_) began_at_ = round_begun_ = now;
            parts_.wait += now - round_begun_;
            break;
        case RoundMoment::gradient_begun:
            gradient_begun_ = now;
            break;
        case RoundMoment::await_begun:
            await_begun_ = now;
            break;
        case RoundMoment::await_ended:
            awaited_ += now - await_begun_;
            break;
        case RoundMoment::gradient_ended:
            parts_.gradient = now - gradient_begun_ - awaited_;
            gradient_ended_ = now;
            break;
        case RoundMoment::ended:
            parts_.wait += awaited_ + (now - gradient_ended_);
            parts_.round = now - round_begun_;
            ended_at_ = now;
            sums_.round += parts_.round;
            sums_.gradient += parts_.gradient;
            sums_.wait += parts_.wait;
            if (rounds_ < first_.size())
                first_.at(rounds_) = parts_;
            else
                add(later_, parts_);
            ++rounds_;
            break;
    }
}

void RoundTimes::add(Figures& figures, const Parts& parts) {
    figures.round.add(parts.round);
    figures.gradient.add(parts.gradient);
    figures.wait.add(parts.wait);
}

RoundTimes::Figures RoundTimes::figures() const {
    Figures all = later_;
    if (rounds_ > warm_up_applies_above) return all;
    for (std::size_t k = 0; k < std::min(rounds_, first_.size()); ++k) add(all, first_.at(k));
    return all;
}

}  // namespace ako
