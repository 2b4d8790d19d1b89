// The verdict on a training that came to its end: has the model learned anything? Two ways in which
// it has not leave no number that is not finite: a loss that has risen far above the first one,
// and an accuracy that who has seen no sample reaches as well. Functions; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "src/results/loss_trend.h"

namespace ako {

/// So many rounds, of all peers together, or nothing is said of a training: a first try of some
/// steps need not learn.
inline constexpr double judged_rounds_min = 100;
/// The newest losses are far above the first ones if they are so many times as large.
inline constexpr double loss_growth_max = 10;

/// The accuracy, 0 .. 1, up to which a model is at chance on a test set of so many samples of each
/// class: the share of the most common one, which whoever always answers it reaches, and two
/// standard deviations of what as many samples say of it. Nothing where most are of one class: a
/// model that finds the few others may be right less often than that.
std::optional<double> chance_accuracy(std::span<const std::size_t> samples_of_class);

/// "an accuracy of 11.35 % is no better than chance ..", or "the loss has grown from 2.3 to 31 ..",
/// for people; empty if nothing is wrong, or not known. Where an accuracy can tell, losses do not.
std::string why_not_learned(std::optional<double> accuracy, std::optional<double> chance,
                            const std::optional<LossTrend::Ends>& losses);

}  // namespace ako
