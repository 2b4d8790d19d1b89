// The small clusters that are lied to: one of every mode, and of what a mode can be told to do
// otherwise. Values.
#pragma once

#include <vector>

#include "tests/fuzz/small_cluster.h"

namespace ako::test {

inline Plan plan_of(Mode mode) {
    Plan plan;
    plan.parameter_count = 22;
    ModeSettings& settings = plan.settings;
    settings.peer_names = {"a", "b", "c"};
    settings.block_elements = 4;
    settings.layers = {{0, 6}, {6, 12}, {18, 4}};
    settings.straight_bytes_max = 0;
    settings.sample_budget = 3 * 4;
    settings.training.batch.local = 1;
    settings.training.momentum = 0.5;
    ExchangeSettings& exchange = settings.exchange;
    exchange.mode = mode;
    exchange.start_wait_s = 1;
    exchange.heartbeat_ms = 30;
    exchange.life_timeout_ms = 150;
    exchange.finish_timeout_s = 3;
    exchange.leave_timeout_s = 1;
    settings.times_instead = times_of(exchange);
    settings.times_instead->finish_exchange = std::chrono::milliseconds(200);
    settings.times_instead->finish_linger = std::chrono::milliseconds(300);
    exchange.local_sgd.rounds = 2;
    exchange.local_sgd.outer_momentum = 0.5;
    plan.gives_updates = mode == Mode::sma;
    return plan;
}

inline std::vector<Plan> fuzz_plans() {
    std::vector<Plan> plans;
    const auto more = [&plans](Mode mode) -> Plan& { return plans.emplace_back(plan_of(mode)); };
    more(Mode::ako);
    more(Mode::ako).settings.exchange.precision = Precision::float32;
    {
        Plan& plan = more(Mode::ako);
        plan.same_initial = false;
        plan.settings.initial_of_lowest = true;
        plan.settings.exchange.rule = Rule::plain;
    }
    {
        Plan& plan = more(Mode::ako);
        plan.portions = 8;
        plan.gives_updates = true;
        plan.settings.exchange.staleness_rounds_max = 2;
    }
    more(Mode::ring);
    more(Mode::ring).settings.straight_bytes_max = 1024;
    more(Mode::ring).settings.exchange.rounds_ahead = 1;
    more(Mode::ring).settings.exchange.all_reduce = AllReduce::butterfly;
    more(Mode::local_sgd);
    more(Mode::sma);
    more(Mode::parameter_server).settings.exchange.server.count = 2;
    more(Mode::parameter_server).settings.exchange.server.clock_gap_max = 1U;
    {
        ModeSettings& settings = more(Mode::parameter_server).settings;
        settings.roles = {Role::server, Role::worker, Role::worker};
        settings.exchange.server.placement = Placement::dedicated;
        settings.exchange.server.clock_gap_max.reset();
    }
    more(Mode::ring).settings.exchange.elastic = true;
    {
        ModeSettings& settings = more(Mode::ring).settings;
        settings.exchange.elastic = true;
        settings.straight_bytes_max = 1024;
    }
    return plans;
}

}  // namespace ako::test
