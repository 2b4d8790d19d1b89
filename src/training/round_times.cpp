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
            round_begun_ = now;
            break;
        case RoundMoment::may_train:
            if (!began_at_) began_at_ = round_begun_ = now;
            parts_.apply += now - round_begun_;
            may_train_ = now;
            break;
        case RoundMoment::gradient_begun:
            parts_.input = now - may_train_;
            gradient_begun_ = now;
            break;
        case RoundMoment::await_begun:
            await_begun_ = now;
            break;
        case RoundMoment::await_ended:
            parts_.awaited += now - await_begun_;
            break;
        case RoundMoment::gradient_ended:
            parts_.gradient = now - gradient_begun_ - parts_.awaited;
            gradient_ended_ = now;
            break;
        case RoundMoment::ended:
            parts_.publish = now - gradient_ended_;
            parts_.round = now - round_begun_;
            ended_at_ = now;
            all_[RoundPart::apply].add(parts_.apply);
            all_[RoundPart::input].add(parts_.input);
            all_[RoundPart::gradient].add(parts_.gradient);
            all_[RoundPart::wait].add(parts_.awaited);
            all_[RoundPart::publish].add(parts_.publish);
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
    figures.wait.add(parts.wait());
}

RoundTimes::Figures RoundTimes::figures() const {
    Figures all = later_;
    if (rounds_ > warm_up_applies_above) return all;
    for (std::size_t k = 0; k < std::min(rounds_, first_.size()); ++k) add(all, first_.at(k));
    return all;
}

}  // namespace ako
