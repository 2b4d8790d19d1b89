// What a mode that exchanges buckets contributes of what a round taught, and what it makes of the
// result: the line between ring, local SGD, model averaging and parameter server on the side of the
// compute thread.
// Compute thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "ako/assert.h"
#include "ako/checkpoint.h"
#include "ako/mode_table.h"
#include "ako/types.h"
#include "src/exchange/mode_settings.h"
#include "src/numbers/optimizer.h"

namespace ako {

/// What a sync is known by beside its sums.
struct OfSync {
    double rate = 0;           ///< the learning rate of the round that it follows
    std::size_t learners = 0;  ///< sma: of all peers, that made what is summed up
};

class BucketRule {
  public:
    virtual ~BucketRule() = default;

    /// The parameters that gradients are computed at, [parameter_count].
    virtual std::span<const float> replica() const = 0;
    /// The parameters to evaluate and to save, [parameter_count].
    virtual std::span<const float> parameters() const { return replica(); }
    /// Does a sync follow this round?
    virtual bool syncs(Round) const { return true; }
    /// Takes in this range of a gradient, [parameter_count], at this learning rate; only if
    /// `takes_gradients`.
    virtual void take(Range range, std::span<const float> gradient, double rate) = 0;
    /// Can a round of this mode end with a gradient?
    virtual bool takes_gradients() const { return true; }
    /// Can a round of this mode end with an update that the caller's own optimizer made?
    virtual bool takes_updates() const { return false; }
    /// Takes in this range of an update, [parameter_count], that so many learners made; only if
    /// `takes_updates`.
    virtual void take_update(Range, std::span<const float>, std::size_t learners) {
        static_cast<void>(learners);
        AKO_BUG("this mode exchanges gradients");
    }
    /// Does it take a gradient only as a whole, at the end of the round?
    virtual bool takes_whole() const { return false; }
    /// The vector whose range is to be exchanged, [parameter_count]; valid until it is settled.
    virtual std::span<const float> contribution(Range range) = 0;
    /// Are whole layers settled at once, each after a `measure`?
    virtual bool settles_layers() const { return false; }
    virtual void measure(Range, std::span<const float> result) { static_cast<void>(result); }
    /// Takes in the result of a sync of this range; `result` is [parameter_count].
    virtual void settle(Range range, std::span<const float> result, const OfSync& sync) = 0;

    /// What it holds between two rounds, all of it settled.
    virtual void save(Checkpoint& out) const = 0;
    /// Before the first round. After an error nothing that it holds means anything.
    virtual Result<void> restore(const Checkpoint& from) = 0;
};

/// ring: gradients go round, and every peer makes the same step with their mean.
class MeanGradient final : public BucketRule {
  public:
    MeanGradient(const ModeSettings& settings, std::vector<float> initial)
        : share_(1.0f / static_cast<float>(settings.peer_count())),
          travelling_(entry_of(settings.exchange).runs_ahead ? initial.size() : 0),
          parameters_(std::move(initial)),
          optimizer_(parameters_.size(), settings.training, settings.layers) {}

    std::span<const float> replica() const override { return parameters_; }
    void take(Range, std::span<const float> gradient, double) override { gradient_ = gradient; }
    std::span<const float> contribution(Range range) override {
        if (travelling_.empty()) return gradient_;
        std::copy_n(gradient_.data() + range.first, range.count, travelling_.data() + range.first);
        return travelling_;
    }
    bool settles_layers() const override { return optimizer_.measures(); }
    void measure(Range range, std::span<const float> sums) override {
        optimizer_.measure(range, sums, share_, parameters_);
    }
    void settle(Range range, std::span<const float> sums, const OfSync& sync) override {
        optimizer_.apply(range, sums.subspan(range.first, range.count), share_,
                         std::span(parameters_).subspan(range.first, range.count), sync.rate);
    }
    void save(Checkpoint& out) const override {
        out.put("parameters", parameters_);
        out.put("velocity", optimizer_.velocity());
    }
    Result<void> restore(const Checkpoint& from) override {
        const Result<void> copied = from.copy("parameters", parameters_);
        return copied ? from.copy("velocity", optimizer_.velocity()) : copied;
    }

  private:
    const float share_;
    std::span<const float> gradient_;  ///< of this round
    /// Where the memory of the gradient is needed again before its sums are here: a copy of those
    /// of its ranges that are under way.
    std::vector<float> travelling_;
    std::vector<float> parameters_;
    Sgd optimizer_;
};

/// local-sgd: rounds of this peer alone; how far they led from the last average goes round, and
/// every peer makes the same outer step with the mean of that:
///     velocity = outer_momentum * velocity + mean
///     average -= outer_rate * (mean + outer_momentum * velocity)         (Nesterov)
class MeanOfLocalRounds final : public BucketRule {
  public:
    MeanOfLocalRounds(const ModeSettings& settings, std::vector<float> initial)
        : rounds_(settings.exchange.local_sgd.rounds),
          share_(1.0f / static_cast<float>(settings.peer_count())),
          outer_rate_(static_cast<float>(settings.exchange.local_sgd.outer_learning_rate)),
          outer_momentum_(static_cast<float>(settings.exchange.local_sgd.outer_momentum)),
          average_(std::move(initial)),
          replica_(average_),
          distance_(average_.size()),
          velocity_(average_.size()),
          optimizer_(average_.size(), settings.training, settings.layers) {}

    std::span<const float> replica() const override { return replica_; }
    std::span<const float> parameters() const override { return average_; }
    bool syncs(Round round) const override { return round % rounds_ == 0; }
    bool takes_whole() const override { return optimizer_.measures(); }
    void take(Range range, std::span<const float> gradient, double rate) override {
        if (takes_whole()) optimizer_.measure(range, gradient, 1, replica_);
        optimizer_.apply(range, gradient.subspan(range.first, range.count), 1,
                         std::span(replica_).subspan(range.first, range.count), rate);
    }
    bool takes_updates() const override { return true; }
    void take_update(Range range, std::span<const float> update, std::size_t) override {
        for (std::size_t k = range.first; k < range.first + range.count; ++k)
            replica_[k] += update[k];
    }
    std::span<const float> contribution(Range range) override {
        for (std::size_t k = range.first; k < range.first + range.count; ++k)
            distance_[k] = average_[k] - replica_[k];
        return distance_;
    }
    void settle(Range range, std::span<const float> sums, const OfSync&) override {
        for (std::size_t k = range.first; k < range.first + range.count; ++k) {
            const float mean = sums[k] * share_;
            velocity_[k] = outer_momentum_ * velocity_[k] + mean;
            average_[k] -= outer_rate_ * (mean + outer_momentum_ * velocity_[k]);
            replica_[k] = average_[k];
        }
    }
    void save(Checkpoint& out) const override {
        out.put("average", average_);
        out.put("replica", replica_);
        out.put("velocity", optimizer_.velocity());
        out.put("outer_velocity", velocity_);
    }
    Result<void> restore(const Checkpoint& from) override {
        Result<void> copied = from.copy("average", average_);
        if (copied) copied = from.copy("replica", replica_);
        if (copied) copied = from.copy("velocity", optimizer_.velocity());
        return copied ? from.copy("outer_velocity", velocity_) : copied;
    }

  private:
    const Round rounds_;
    const float share_;
    const float outer_rate_, outer_momentum_;
    std::vector<float> average_, replica_, distance_, velocity_;
    Sgd optimizer_;
};

/// sma: the replica is the average of all learners of all peers (Crossbow; see
/// src/training/learners.h). What the learners of each peer move it by goes round, each peer's as
/// often as it has learners, and every peer adds the mean of that. The next gradients are computed
/// meanwhile, for learners do not read the average before they are corrected.
class AverageOfLearners final : public BucketRule {
  public:
    explicit AverageOfLearners(std::vector<float> initial)
        : average_(std::move(initial)), update_(average_.size()) {}

    std::span<const float> replica() const override { return average_; }
    bool takes_gradients() const override { return false; }
    void take(Range, std::span<const float>, double) override {
        AKO_BUG("this mode exchanges updates");
    }
    bool takes_updates() const override { return true; }
    void take_update(Range range, std::span<const float> update, std::size_t learners) override {
        const auto weight = static_cast<float>(learners);
        for (std::size_t k = range.first; k < range.first + range.count; ++k)
            update_[k] = weight * update[k];
    }
    std::span<const float> contribution(Range) override { return update_; }
    void settle(Range range, std::span<const float> sums, const OfSync& sync) override {
        const float share = 1 / static_cast<float>(sync.learners);
        for (std::size_t k = range.first; k < range.first + range.count; ++k)
            average_[k] += share * sums[k];
    }
    void save(Checkpoint& out) const override { out.put("average", average_); }
    Result<void> restore(const Checkpoint& from) override { return from.copy("average", average_); }

  private:
    std::vector<float> average_;
    std::vector<float> update_;  ///< that is under way, times the learners that made it
};

/// parameter-server: gradients go to the servers, and what comes back are the parameters.
class PulledParameters final : public BucketRule {
  public:
    /// `parameters` is where pulls are read into.
    explicit PulledParameters(std::span<float> parameters) : parameters_(parameters) {}

    std::span<const float> replica() const override { return parameters_; }
    void take(Range, std::span<const float> gradient, double) override { gradient_ = gradient; }
    std::span<const float> contribution(Range) override { return gradient_; }
    void settle(Range, std::span<const float>, const OfSync&) override {}
    void save(Checkpoint& out) const override { out.put("parameters", parameters_); }
    /// Nothing is pulled before the first push.
    Result<void> restore(const Checkpoint& from) override {
        return from.copy("parameters", parameters_);
    }

  private:
    const std::span<float> parameters_;
    std::span<const float> gradient_;
};

}  // namespace ako
