// Plans: what is read, and where what is wrong with one is said to be.
#include <doctest/doctest.h>

#include "ako/error.h"
#include "src/compare/cell_settings.h"
#include "tests/in_source.h"
#include "tests/unit/compare/fake_runs.h"

namespace ako::plan_test {

using test::plan_of;
using test::plan_text;

namespace {

std::string complaint(const std::string& more, const std::vector<std::string>& overrides = {}) {
    try {
        read_plan_text(plan_text(more), "plan.yaml", overrides);
    } catch (const StartupError& error) {
        return error.what() + std::string(" | ") + error.hint();
    }
    return "";
}

}  // namespace

TEST_CASE("lists, variants and defaults of the cluster file") {
    const Plan plan = plan_of(
        "rates_mbit: [20, none, [10, 20, 20, none]]\nlearning_rates: [0.1, 0.02]\nseeds: [3, 4]\n"
        "target_accuracy: [0.99, 0.9]\n"
        "modes: {ako: {exchange.rule: [anchored, plain], exchange: {partitions: [auto, 8]}}, "
        "again: {mode: ako}}\n");
    CHECK(plan.rates.size() == 3);
    CHECK(plan.rates[1].text() == "no limit");
    CHECK(plan.rates[2].short_text() == "10-20-20-none");
    CHECK(plan.learning_rates == std::vector<double>{0.02, 0.1});
    CHECK(plan.target_accuracy == std::vector<double>{0.9, 0.99});
    CHECK(plan.epochs == 8);
    REQUIRE(plan.modes.size() == 2);
    REQUIRE(plan.modes[0].variants.size() == 4);
    CHECK(variant_text(plan.modes[0].variants[3]) == "rule plain, partitions 8");
    CHECK(plan.modes[1].mode == "ako");
    CHECK(!plan.screening);
    CHECK(plan.composition);
}

TEST_CASE("--set replaces lists") {
    const Plan plan = read_plan_text(plan_text("rates_mbit: [20, 50]\nmodes: {ako: {}}\n"),
                                     "plan.yaml", {"rates_mbit=[35]"});
    REQUIRE(plan.rates.size() == 1);
    CHECK(plan.rates[0].text() == "35 Mbit/s");
}

TEST_CASE("processor time of each machine, or of all") {
    using Shares = std::vector<double>;
    CHECK(plan_of("modes: {ako: {}}\n").testbed.cpus == Shares{});
    CHECK(plan_of("modes: {ako: {}}\ntestbed: {cpus: 0.5}\n").testbed.cpus == Shares{0.5});
    const std::string four = "modes: {ako: {}}\ntestbed: {cpus: ";
    CHECK(plan_of(four + "[1, 1, 1, 0.25]}\n").testbed.cpus == Shares{1, 1, 1, 0.25});
    CHECK(complaint(four + "[1, 1]}\n").find("one for each of 4 machines") != std::string::npos);
    CHECK(complaint(four + "0.05}\n").find("testbed.cpus") != std::string::npos);
}

TEST_CASE("what is wrong with a plan is said with its place") {
    CHECK(complaint("modes: {ako: {}}\nrate_mbit: [2]\n") ==
          "plan.yaml:5:1: unknown key rate_mbit | did you mean rates_mbit?");
    CHECK(complaint("modes: {ako: {}}\nrates_mbit: [fast]\n").find("plan.yaml:5:14: rates_mbit") ==
          0);
    CHECK(complaint("modes: {ako: {training.epochs: 3}}\n") ==
          "plan.yaml:4:15: training.epochs: a comparison sets it itself | use the plan's epochs");
    CHECK(complaint("modes: {ring: best}\n").find("modes.ring") != std::string::npos);
    CHECK(
        complaint("modes: {ring: fast}\n").find("expected nothing, or keys of the cluster file") !=
        std::string::npos);
    CHECK(complaint("modes: {parameter-server: fast}\n").find("expected nothing, best, or keys") !=
          std::string::npos);
    CHECK(complaint("modes: {ako: {}}\nseeds: [1, 1]\n").find("1 again") != std::string::npos);
    CHECK(complaint("modes: {ako: {}}\nrates_mbit: [[1, 2]]\n").find("4 machines") !=
          std::string::npos);
    CHECK(complaint("modes: {ako: {}}\nbaselines: [ring]\n").find("baselines") !=
          std::string::npos);
    CHECK(complaint("modes: {ako: {}}\nlost_peer: soon\n").find("expected none, or machine") !=
          std::string::npos);
    CHECK(complaint("").find("modes: expected") != std::string::npos);
    CHECK(complaint("modes: {ako: {}}\n", {"seeds=[-1]"}).find("--set seeds=[-1]: seeds") == 0);
}

TEST_CASE("what a plan has is taken away on the command line") {
    const std::string some = "modes: {ako: {}}\nlost_peer: {machine: 1, after_s: 2}\n";
    CHECK(plan_of(some).loss.has_value());
    CHECK_FALSE(read_plan_text(plan_text(some), "plan.yaml", {"lost_peer=none"}).loss.has_value());
}

TEST_CASE("the parameter server is tried with every number, place and consistency") {
    const Plan plan = plan_of("modes: {parameter-server: best}\n");
    const std::vector<Variant> variants = variants_for(plan.modes[0], 4);
    // 3 dedicated and 4 co-located, each with 4 consistencies.
    CHECK(variants.size() == 28);
    for (const Variant& variant : variants) CHECK(dedicated_servers(variant) < 4);
    CHECK(variant_text(variants[1]) == "servers 1, dedicated, ssp 1");
}

TEST_CASE("a parameter server is what the plan and its cluster file make of it together") {
    const Plan plan = plan_of(
        "settings: {exchange.placement: dedicated}\n"
        "modes: {parameter-server: {training.momentum: 0, exchange.servers: 2}}\n");
    const Variant& variant = plan.modes[0].variants[0];
    CHECK(variant_text(variant) == "servers 2, dedicated, bsp, momentum 0");
    CHECK(dedicated_servers(variant) == 2);
    CHECK(is_synchronous("parameter-server", variant));
    CHECK(is_synchronous("sma", {{"training.learners", "2"}}));
    CHECK_FALSE(is_synchronous("sma", {{"training.learners", "auto"}}));
    const Plan adapts = plan_of("settings: {training.learners: auto}\nmodes: {sma: {}, ako: {}}\n");
    CHECK_FALSE(is_synchronous("sma", adapts.modes[0].variants[0]));
    CHECK(adapts.modes[1].variants[0].empty());
    const Plan async = plan_of(
        "settings: {exchange: {consistency: async}}\n"
        "modes: {parameter-server: {}}\n");
    CHECK_FALSE(is_synchronous("parameter-server", async.modes[0].variants[0]));
}

TEST_CASE("elastic rings, butterflies, rings that run ahead and learners are contenders") {
    const Plan plan = plan_of(
        "modes:\n"
        "  ring: {exchange.elastic: [false, true]}\n"
        "  butterfly: {mode: ring, exchange.all_reduce: butterfly}\n"
        "  ahead: {mode: ring, exchange.rounds_ahead: 1}\n"
        "  sma: {training.learners: [1, 2]}\n"
        "  learners: {mode: ako, training.learners: 2}\n");
    const auto setting = settings_of(plan)[0];
    std::string set;
    for (const auto& mode : plan.modes) {
        for (const Candidate& candidate : candidates_of(plan, mode, setting)) {
            set += mode.name + ":";
            for (const std::string& part :
                 full_cell(plan, candidate, setting, plan.rates[0], 1).overrides(plan))
                for (const char* key :
                     {"exchange.mode=", "exchange.elastic=", "exchange.all_reduce=",
                      "exchange.rounds_ahead=", "training.learners="})
                    if (part.rfind(key, 0) == 0) set += " " + part;
            set += "\n";
        }
    }
    CHECK(set ==
          "ring: exchange.mode=ring exchange.elastic=false\n"
          "ring: exchange.mode=ring exchange.elastic=true\n"
          "butterfly: exchange.mode=ring exchange.all_reduce=butterfly\n"
          "ahead: exchange.mode=ring exchange.rounds_ahead=1\n"
          "sma: exchange.mode=sma training.learners=1\n"
          "sma: exchange.mode=sma training.learners=2\n"
          "learners: exchange.mode=ako training.learners=2\n");
}

TEST_CASE("cells differ in their folders, and say what they set") {
    const Plan plan = plan_of("seeds: [1, 2]\nmodes: {ako: {exchange.rule: plain}}\n");
    const Candidate candidate = candidates_of(plan, plan.modes[0], settings_of(plan)[0])[0];
    const Cell one = full_cell(plan, candidate, settings_of(plan)[0], plan.rates[0], 1);
    const Cell two = full_cell(plan, candidate, settings_of(plan)[0], plan.rates[0], 2);
    CHECK(one.folder_name("x") != two.folder_name("x"));
    CHECK(one.folder_name("x") != one.folder_name("y"));
    const std::vector<std::string> overrides = one.overrides(plan);
    const auto has = [&](const std::string& text) {
        return std::find(overrides.begin(), overrides.end(), text) != overrides.end();
    };
    CHECK(has("exchange.rule=plain"));
    CHECK(has("seed=1"));
    CHECK(has("training.epochs=8"));
    CHECK(has("training.evaluate=after"));
}

TEST_CASE("the plans of the repository are ones that every contender can run") {
    for (const char* name :
         {"compare-example.yaml", "compare-mnist/plan.yaml", "compare-mnist/headline.yaml",
          "compare-cifar/plan.yaml", "compare-uneven/plan.yaml", "compare-lost-peer/plan.yaml"}) {
        CAPTURE(name);
        const Plan plan = read_plan(test::in_source("experiments/" + std::string(name)), {});
        CHECK_NOTHROW(check_contenders(plan));
    }
}

}  // namespace ako::plan_test
