// The profile of a machine as a file, and between what was measured.
#include "src/predict/machine_profile.h"

#include <doctest/doctest.h>

#include <fstream>

#include "ako/error.h"
#include "tests/contains.h"
#include "tests/temporary_folder.h"

namespace ako::machine_profile_test {

namespace {

GradientProfile gradient(std::size_t batch, double seconds) {
    return {batch,
            seconds,
            0.9 * seconds,
            0.02,
            {{GradientStep::Kind::await, {0, 10}, 0.25 * seconds},
             {GradientStep::Kind::ready, {0, 10}, 0.75 * seconds},
             {GradientStep::Kind::end, {}, 0}}};
}

MachineProfile profile() {
    MachineProfile made;
    made.version = "v";
    made.network = "0123";
    made.parameter_count = 10;
    made.text = "a machine";
    made.cores = 2;
    made.quota_cores = 0.25;
    made.quota_period_s = 0.01;
    made.memory_bytes = 1'000;
    made.gradients = {gradient(8, 0.010), gradient(32, 0.034)};
    made.round_s = 0.001;
    made.exchange["ring"] = {.s_per_byte = 1e-9, .bytes_share = 1, .round_s = 1e-4};
    made.exchange["ako"] = {.s_per_byte = 2e-9, .bytes_share = 0.3, .round_s = 2e-4};
    return made;
}

}  // namespace

TEST_CASE("a profile is read as it was written") {
    const test::TemporaryFolder folder;
    const std::string file = folder.file("a.json");
    std::ofstream(file) << to_json_text(profile());
    CHECK(to_json_text(read_profile(file)) == to_json_text(profile()));
}

TEST_CASE("a gradient between and beyond those that were measured") {
    const MachineProfile made = profile();
    CHECK(made.gradient_of(8).seconds == doctest::Approx(0.010).scale(0));
    CHECK(made.gradient_of(20).seconds == doctest::Approx(0.022).scale(0));
    CHECK(made.gradient_of(64).seconds == doctest::Approx(0.066).scale(0));
    double sum = 0;
    for (const GradientStep& step : made.gradient_of(20).steps) sum += step.seconds;
    CHECK(sum == doctest::Approx(0.022).scale(0));
    CHECK(made.measured(20));
    CHECK_FALSE(made.measured(64));
}

TEST_CASE("a mode that was not measured exchanges as a ring does") {
    const MachineProfile made = profile();
    CHECK(made.exchange_of("ako").s_per_byte == 2e-9);
    CHECK(made.exchange_of("local-sgd").s_per_byte == 1e-9);
}

TEST_CASE("what is no profile is refused by its name") {
    const test::TemporaryFolder folder;
    const std::string file = folder.file("a.json");
    const auto refusal = [&]() -> std::string {
        try {
            read_profile(file);
        } catch (const StartupError& error) {
            return error.what();
        }
        return "";
    };
    CHECK(test::contains(refusal(), "a.json: cannot be read"));
    std::ofstream(file) << "{\"format\": \"something\"}";
    CHECK(test::contains(refusal(), "of this version's format"));
    MachineProfile broken = profile();
    broken.gradients.back().steps.pop_back();
    std::ofstream(file) << to_json_text(broken);
    CHECK(test::contains(refusal(), "lacks gradients, steps of them"));
    std::ofstream(file) << "{";
    CHECK(test::contains(refusal(), "is no profile"));
}

}  // namespace ako::machine_profile_test
