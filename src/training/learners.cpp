// See learners.h.
#include "src/training/learners.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ako/assert.h"
#include "src/numbers/learning_rate.h"

namespace ako {
namespace {

/// Elements that are corrected at a time: with as many of the average, the update and all that a
/// learner has they stay in the nearest cache, of which another thread may use half.
constexpr std::size_t elements_at_once = 256;

std::string name_of(const char* what, std::size_t learner) {
    return "learner." + std::to_string(learner) + "." + what;
}

}  // namespace

Learners::Learners(Network& first, MakeNetwork make_network, const TrainingSettings& training,
                   LearnerOptions options, const Clock& clock)
    : first_(first),
      make_network_(std::move(make_network)),
      training_(training),
      options_(std::move(options)),
      clock_(clock),
      update_(first.parameter_count()) {
    if (training.learners == 0) adapts_.emplace(options_.count_max);
    if (options_.follows) followed_.resize(update_.size());
    if (options_.peers_together > 1) average_before_.resize(update_.size());
    set_count(std::max(1u, training.learners));
}

Learners::Learner Learners::make_learner(std::size_t number) {
    const std::size_t elements = update_.size();
    Learner learner{nullptr, nullptr, std::vector<float>(elements), std::vector<float>(elements),
                    Sgd(elements, training_, {})};
    if (number > 0) {
        learner.own = make_network_(number);
        learner.own->skip(skipped_, training_.batch.local);
    }
    learner.network = number > 0 ? learner.own.get() : &first_;
    return learner;
}

void Learners::set_count(std::size_t count) {
    while (learners_.size() > count) learners_.pop_back();
    while (learners_.size() < count) learners_.push_back(make_learner(learners_.size()));
    threads_.reset();  // before others are started
    threads_ = std::make_unique<LearnerThreads>(count);
}

void Learners::begin_at(std::span<const float> parameters) {
    for (Learner& learner : learners_)
        learner.parameters.assign(parameters.begin(), parameters.end());
    if (options_.follows) followed_.assign(parameters.begin(), parameters.end());
    if (options_.peers_together > 1) average_before_.assign(parameters.begin(), parameters.end());
    std::fill(update_.begin(), update_.end(), 0.0F);
    begun_ = true;
}

// ---- a round

bool Learners::begins_anew(double progress) const {
    return begun_ && steps_passed(training_.schedule, progress) != steps_passed_;
}

float Learners::learn(const Batch& batch, std::span<const float> average, double progress) {
    AKO_ASSERT(batch.count >= count(), "fewer samples than learners");
    const Time began = clock_.now();
    if (!begun_ || begins_anew(progress)) begin_at(average);
    steps_passed_ = steps_passed(training_.schedule, progress);
    rate_ = learning_rate_at(training_, progress);
    threads_->run([&](std::size_t number) {
        Learner& learner = learners_[number];
        float* const own = learner.parameters.data();
        for (std::size_t k = 0; k < followed_.size(); ++k) own[k] += average[k] - followed_[k];
        const Range samples = part_of({0, batch.count}, number, count());
        learner.loss = learner.network->gradient(
            batch.part(samples.first, samples.count), learner.parameters, learner.gradient,
            [](Range) {}, [](Range) {});
    });
    double loss = 0;
    for (std::size_t number = 0; number < count(); ++number)
        loss += static_cast<double>(learners_[number].loss) *
                static_cast<double>(part_of({0, batch.count}, number, count()).count);
    ++skipped_;
    samples_ = batch.count;
    took_ = clock_.now() - began;
    return static_cast<float>(loss / static_cast<double>(batch.count));
}

std::span<const float> Learners::correct(std::span<const float> average, std::size_t together) {
    const Time began = clock_.now();
    if (together == 0)
        together = count() * options_.peers_together;
    else if (count_before_ > 0)
        together += count() - count_before_;  // who has come or gone here since
    count_before_ = count();
    threads_->run([&](std::size_t number) {
        correct_range(part_of({0, update_.size()}, number, count()), average, together);
    });
    took_ += clock_.now() - began;
    if (adapts_) adapt(average, together - count());
    return update_;
}

float Learners::momentum() const {
    return alone() ? 0 : static_cast<float>(training_.averaging_momentum);
}

// By ranges and not by learners: so every element is summed up in the order of the learners, with
// no more memory. Each vector passes through the cache once, for the optimizers' steps too.
void Learners::correct_range(Range range, std::span<const float> average, std::size_t together) {
    const float pull = alone() ? 0 : 1 / static_cast<float>(together);
    const float momentum = this->momentum();
    const float share = 1 / static_cast<float>(count());
    std::array<float, elements_at_once> sums, carried;
    for (std::size_t done = 0; done < range.count; done += elements_at_once) {
        const std::size_t elements = std::min(elements_at_once, range.count - done);
        const std::size_t first = range.first + done;
        const float* const centre = average.data() + first;
        float* const update = update_.data() + first;
        std::fill_n(sums.begin(), elements, 0.0F);
        for (std::size_t k = 0; k < elements; ++k)
            carried[k] =
                momentum *
                (average_before_.empty() ? update[k] : centre[k] - average_before_[first + k]);
        for (Learner& learner : learners_) {
            const auto parameters = std::span(learner.parameters).subspan(first, elements);
            learner.optimizer.apply({first, elements},
                                    std::span(learner.gradient).subspan(first, elements), 1,
                                    parameters, rate_);
            float* const own = parameters.data();
            for (std::size_t k = 0; k < elements; ++k) {
                const float difference = own[k] - centre[k];
                sums[k] += difference;
                own[k] += carried[k] - pull * difference;
            }
        }
        for (std::size_t k = 0; k < elements; ++k) update[k] = share * sums[k] + carried[k];
        if (!average_before_.empty()) std::copy_n(centre, elements, average_before_.data() + first);
        if (followed_.empty()) continue;
        float* const followed = followed_.data() + first;
        for (std::size_t k = 0; k < elements; ++k) followed[k] = centre[k] + update[k];
    }
}

// Where others wait for these, a round counts as long as it was for all, and what the others would
// have made in the time by which it was longer than usual is taken off; if it was shorter, added.
// So a learner is not worth it whose samples the others pay for, and costs nothing where this peer
// waits anyway.
std::optional<LearnerCount::Change> Learners::judge(std::size_t others) {
    if (others == 0) return adapts_->round_made(static_cast<double>(samples_), took_);
    const Time now = clock_.now();
    const std::optional<Time> before = std::exchange(corrected_at_, now);
    if (!before) return std::nullopt;
    constexpr double newest_share = 0.1;
    const double whole_s = seconds_of(now - *before);
    if (usual_s_ == 0) usual_s_ = whole_s;
    if (adapts_->is_steady()) usual_s_ += newest_share * (whole_s - usual_s_);
    const double of_others = static_cast<double>(others * training_.batch.local);
    const double lost = usual_s_ > 0 ? of_others * (whole_s / usual_s_ - 1) : 0;
    return adapts_->round_made(static_cast<double>(samples_) - lost, now - *before);
}

// A new one begins where the average is going, as far as this peer moves it, with a velocity of 0.
// One that goes has given all that it learned with its last correction.
void Learners::adapt(std::span<const float> average, std::size_t others) {
    const std::optional<LearnerCount::Change> change = judge(others);
    if (!change) return;
    const std::size_t before = count();
    if (change->count != before) set_count(change->count);
    for (std::size_t number = before; number < count(); ++number) {
        std::vector<float>& parameters = learners_[number].parameters;
        for (std::size_t k = 0; k < parameters.size(); ++k) parameters[k] = average[k] + update_[k];
    }
    const auto& say = change->stays ? options_.notice : options_.detail;
    if (say) say("learners: " + std::to_string(change->count) + " (" + change->why + ")");
}

// ---- what is not of a round

void Learners::skip(std::uint64_t rounds) {
    skipped_ += rounds;
    for (const Learner& learner : learners_) learner.network->skip(rounds, training_.batch.local);
}

void Learners::visit_norms(const std::function<void(const GradientNorms&)>& visit) const {
    for (const Learner& learner : learners_)
        if (const auto norms = learner.network->norms()) visit(*norms);
}

void Learners::save(Checkpoint& out) const {
    out.numbers["learners"] = count();
    out.numbers["learners.steps_passed"] = steps_passed_;
    if (options_.follows) out.put("learners.followed", followed_);
    // Either says what the average moved by.
    if (average_before_.empty())
        out.put("learners.update", update_);
    else
        out.put("learners.before", average_before_);
    for (std::size_t number = 0; number < count(); ++number) {
        out.put(name_of("parameters", number), learners_[number].parameters);
        out.put(name_of("velocity", number), learners_[number].optimizer.velocity());
    }
    // What an earlier one has left there, of learners that were taken away.
    for (std::size_t number = count(); out.floats.erase(name_of("parameters", number)) > 0;
         ++number)
        out.floats.erase(name_of("velocity", number));
}

Result<void> Learners::restore(const Checkpoint& from) {
    const auto kept = from.number("learners");
    const auto steps = from.number("learners.steps_passed");
    if (!kept) return tl::make_unexpected(kept.error());
    if (!steps) return tl::make_unexpected(steps.error());
    if (*kept != count() && !adapts_)
        return fail(Error::Kind::io, "it is of " + std::to_string(*kept) + " learners, not of " +
                                         std::to_string(count()));
    Result<void> copied = average_before_.empty() ? from.copy("learners.update", update_)
                                                  : from.copy("learners.before", average_before_);
    if (copied && options_.follows) copied = from.copy("learners.followed", followed_);
    // With `auto` those that there are not yet are left out, as if they had been taken away.
    for (std::size_t number = 0; copied && number < count(); ++number) {
        copied = from.copy(name_of("parameters", number), learners_[number].parameters);
        if (copied)
            copied = from.copy(name_of("velocity", number), learners_[number].optimizer.velocity());
    }
    begun_ = true;
    steps_passed_ = *steps;
    return copied;
}

}  // namespace ako
