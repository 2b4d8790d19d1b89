// The mode `local`, alone: how it ends when it is asked to.
#include "src/modes/local_compute.h"

#include <doctest/doctest.h>

namespace ako::local_compute_test {

namespace {

ModeSettings settings_of_two() {
    ModeSettings settings;
    settings.self = 1;
    settings.peer_names = {"a", "b"};
    settings.training.batch.local = 1;
    settings.sample_budget = 8;  // of both
    return settings;
}

LocalCompute make(std::size_t elements) {
    return {settings_of_two(), std::vector<float>(elements, 1)};
}

}  // namespace

TEST_CASE("mode local: asked to stop before its first round it has no model, later it has") {
    LocalCompute local = make(2);
    const std::vector<float> gradient(2, 0.5F);
    SUBCASE("before") {
        local.request_stop(StopReason::requested);
        const Next next = local.begin_round({}).value();
        CHECK(next.kind == Next::Kind::give_up);
        CHECK(next.why == never_began);
    }
    SUBCASE("after") {
        CHECK(local.begin_round({}).value().kind == Next::Kind::train);
        REQUIRE(local.end_round(Gradient{gradient}, {1, 0.5F}, {}));
        local.request_stop(StopReason::requested);
        CHECK(local.begin_round({}).value().kind == Next::Kind::finish);
        std::vector<float> parameters(2);
        const FinishReport report = local.report(parameters, {});
        CHECK(report.stopped_early());
        CHECK(report.progress == 0.25);
        CHECK(report.asked == std::vector<PeerIndex>{1});
    }
}

TEST_CASE("mode local: the batch grows by steps and by noise, and the rate with it") {
    ModeSettings settings = settings_of_two();
    settings.training.batch.local = 10;
    settings.training.momentum = 0;
    settings.training.learning_rate = 0.5;
    settings.sample_budget = 2 * 10'000;
    const std::vector<float> gradient(1, 1);
    BatchScheduleSettings& schedule = settings.training.batch.schedule;
    SUBCASE("in steps") {
        schedule = {BatchScheduleKind::steps, {0.5}, 3};
        LocalCompute local(settings, std::vector<float>(1, 0));
        CHECK(local.begin_round({})->samples == 10);
        REQUIRE(local.end_round(Gradient{gradient}, {5'000, 1.0F}, {}));
        CHECK(local.begin_round({})->samples == 30);
        REQUIRE(local.end_round(Gradient{gradient}, {30, 1.0F}, {}));
        CHECK(local.replica()[0] == doctest::Approx(-0.5 - 1.5));
    }
    SUBCASE("by noise, also when it goes on from a checkpoint") {
        schedule.kind = BatchScheduleKind::automatic;
        LocalCompute local(settings, std::vector<float>(1, 0));
        for (unsigned round = 0; round < BatchGrowth::rounds_min; ++round) {
            CHECK(local.begin_round({})->samples == 10);
            REQUIRE(local.end_round(Gradient{gradient}, {10, 1.0F, 1e6}, {}));
        }
        CHECK(local.begin_round({})->samples == 20);
        Checkpoint kept;
        REQUIRE(local.save(kept));
        settings.checkpoints = {kept.id};
        settings.read_checkpoint = [&kept](const CheckpointId&) -> Result<Checkpoint> {
            return kept;
        };
        settings.log = [](const std::string&) {};
        LocalCompute later(settings, std::vector<float>(1, 0));
        CHECK(later.begin_round({})->samples == 20);
    }
}

}  // namespace ako::local_compute_test
