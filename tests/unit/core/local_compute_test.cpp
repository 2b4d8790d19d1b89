// The mode `local`, alone: how it ends when it is asked to.
#include "src/modes/local_compute.h"

#include <doctest/doctest.h>

using namespace ako;

namespace {

LocalCompute make(std::size_t elements) {
    ModeSettings settings;
    settings.self = 1;
    settings.peer_names = {"a", "b"};
    settings.training.batch_per_peer = 1;
    settings.sample_budget = 8;  // of both
    return {settings, std::vector<float>(elements, 1)};
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
