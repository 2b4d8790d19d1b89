// How many samples a round has, at which rate, and when they become more.
#include "src/numbers/batch_plan.h"

#include <doctest/doctest.h>

#include "src/numbers/batch_growth.h"

namespace ako::batch_plan_test {

namespace {

TrainingSettings with(const BatchSettings& batch) {
    TrainingSettings training;
    training.learning_rate = 0.1;
    training.batch = batch;
    return training;
}

BatchSettings automatic() {
    BatchSettings batch;
    batch.local = 16;
    batch.schedule.kind = BatchScheduleKind::automatic;
    return batch;
}

}  // namespace

TEST_CASE("without a batch of all together every peer has its own, whoever is there") {
    const BatchPlan plan(with({.local = 48}), 4);
    CHECK(plan.local_only());
    CHECK(plan.global(0.5, 3) == 4 * 48);
    for (const std::size_t participants : {1U, 3U, 4U})
        CHECK(plan.share(plan.global(0, 0), participants - 1, participants) == 48);
    CHECK(plan.share_min() == 48);
    CHECK(plan.share_max() == 48);
    CHECK(plan.learning_rate(0.5, 3) == 0.1);
    CHECK(plan.rounds(10 * 4 * 48 + 1) == 11);
}

TEST_CASE("the shares of those that take part are the global batch, and differ by one at most") {
    const BatchPlan plan(with({.local = 16, .global_target = 1001}), 7);
    for (std::size_t participants = 1; participants <= 7; ++participants) {
        std::size_t sum = 0, least = SIZE_MAX, most = 0;
        for (std::size_t place = 0; place < participants; ++place) {
            const std::size_t share = plan.share(plan.global(0, 0), place, participants);
            sum += share;
            least = std::min(least, share);
            most = std::max(most, share);
        }
        CHECK(sum == 1001);
        CHECK(most - least <= 1);
        CHECK(least >= plan.share_min());
        CHECK(most <= plan.share_max());
    }
}

TEST_CASE("the rate follows the global batch by its rule") {
    const auto factor = [](RateRule rule) {
        return BatchPlan(with({.local = 16, .global_target = 1024, .rate_rule = rule}), 4)
            .rate_factor(0, 0);
    };
    CHECK(factor(RateRule::linear) == 16);
    CHECK(factor(RateRule::sqrt) == 4);
    CHECK(factor(RateRule::none) == 1);
}

TEST_CASE("a batch that grows in steps: its samples, rate and rounds") {
    BatchSettings batch{.local = 10};
    batch.schedule = {BatchScheduleKind::steps, {0.5, 0.75}, 4};
    const BatchPlan plan(with(batch), 2);
    CHECK(plan.global(0.49, 0) == 20);
    CHECK(plan.global(0.5, 0) == 80);
    CHECK(plan.global(0.75, 0) == 320);
    CHECK(plan.learning_rate(0.5, 0) == doctest::Approx(0.4));
    CHECK(plan.share_min() == 10);
    CHECK(plan.share_max() == 320);
    CHECK(plan.rounds(1600) == 40 + 5 + 2);  // 800 of 20, 400 of 80, 400 of 320
    batch.schedule.at.assign(40, 0.5);
    CHECK(BatchPlan(with(batch), 2).global(1, 0) == global_batch_max);
}

TEST_CASE("so many samples are computed at once") {
    CHECK(samples_at_once({.local = 64}) == 64);
    CHECK(samples_at_once({.local = 64, .accumulate = 3}) == 22);
    CHECK(samples_at_once({.local = 64, .global_target = 1024}) == 64);
    CHECK(samples_at_once(automatic()) == 8);
    CHECK(!computes_in_parts({.local = 64}));
    CHECK(computes_in_parts({.local = 64, .accumulate = 2}));
    CHECK(computes_in_parts({.local = 64, .global_target = 1024}));
    CHECK(computes_in_parts(automatic()));
}

TEST_CASE("the batch doubles up to the noise scale, after enough rounds") {
    const BatchPlan plan(with(automatic()), 4);
    BatchGrowth growth(plan);
    const auto rounds = [&growth](unsigned count, unsigned doublings, double noise) {
        for (unsigned k = 0; k < count; ++k) growth.end_round(0.5, doublings, noise);
        return growth.wish();
    };
    const double enough = 2 * 64;
    CHECK(rounds(BatchGrowth::rounds_min, 0, 0.99 * enough) == 0);
    CHECK(rounds(1, 0, enough) == 1);
    // What is wished is not there yet; from then on rounds count anew.
    CHECK(rounds(10, 0, 1e9) == 1);
    CHECK(rounds(BatchGrowth::rounds_min - 1, 1, 1e9) == 1);
    CHECK(rounds(1, 1, 1e9) == 2);
    growth.end_round(0.5, 2, std::nullopt);
    CHECK(growth.wish() == 2);
    // Others know of more, though no more than there may be; nothing makes it fewer.
    growth.hear_of(5);
    growth.hear_of(3);
    CHECK(growth.wish() == 5);
    growth.hear_of(200);
    CHECK(growth.wish() == BatchPlan::doublings_max);
    CHECK(plan.global(0, growth.wish()) == 64 << BatchPlan::doublings_max);
    CHECK(rounds(2 * BatchGrowth::rounds_min, BatchPlan::doublings_max, 1e9) ==
          BatchPlan::doublings_max);
}

TEST_CASE("a batch that does not follow the noise wishes for nothing") {
    BatchGrowth growth(BatchPlan(with({.local = 16, .global_target = 64}), 4));
    for (int k = 0; k < 500; ++k) growth.end_round(0.5, 0, 1e9);
    CHECK(growth.wish() == 0);
}

}  // namespace ako::batch_plan_test
