// How many learners are found to be best, in virtual time on made-up machines.
#include "src/training/learner_count.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace ako::learner_count_test {

namespace {

constexpr std::size_t batch = 8;
constexpr unsigned most = 8;

/// A machine on which so many learners make so many samples per second, give or take `noise`, and
/// one that is looked for now and then by others.
struct Machine {
    std::function<double(unsigned learners)> samples_per_s;
    double noise = 0.03;
    std::mt19937 random{7};

    Time round(unsigned learners) {
        std::uniform_real_distribution<double> off(1 - noise, 1 + noise);
        std::uniform_int_distribution<int> rarely(0, 999);
        double seconds = learners * batch / (samples_per_s(learners) * off(random));
        if (rarely(random) == 0) seconds += 0.05;  // something else ran
        return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
    }
};

/// Samples per second over that time, all attempts included.
double run_for(LearnerCount& learners, Machine& machine, std::chrono::seconds time,
               std::vector<LearnerCount::Change>& changes) {
    Time at{};
    double samples = 0;
    while (at < time) {
        const std::size_t of_round = learners.count() * batch;
        const Time took = machine.round(learners.count());
        at += took;
        samples += static_cast<double>(of_round);
        if (auto change = learners.round_made(static_cast<double>(of_round), took)) {
            CHECK(change->count == learners.count());
            CHECK(!change->why.empty());
            changes.push_back(*std::move(change));
        }
    }
    return samples / std::chrono::duration<double>(at).count();
}

/// Learners on so many cores, each but the first a little less worth; more than cores hinder.
std::function<double(unsigned)> cores(double count) {
    return [count](unsigned learners) {
        const double busy = std::min<double>(learners, count);
        const double too_many = std::max(0.0, learners - count);
        return 1000 * (1 + 0.9 * (busy - 1)) * (1 - 0.04 * too_many);
    };
}

double best_of(const Machine& machine) {
    double best = 0;
    for (unsigned learners = 1; learners <= most; ++learners)
        best = std::max(best, machine.samples_per_s(learners));
    return best;
}

}  // namespace

TEST_CASE("auto comes to as many learners as cores, and loses little by attempts") {
    for (const unsigned count : {1U, 2U, 4U, 8U}) {
        CAPTURE(count);
        Machine machine{cores(count)};
        LearnerCount learners(most);
        std::vector<LearnerCount::Change> changes;
        run_for(learners, machine, std::chrono::seconds(30), changes);
        const double rate = run_for(learners, machine, std::chrono::seconds(300), changes);
        CHECK(rate >= 0.95 * best_of(machine));
        // No more than an attempt of one more is under way.
        CHECK(learners.count() >= count);
        CHECK(learners.count() <= count + 1);
        const auto stay = std::count_if(changes.begin(), changes.end(),
                                        [](const auto& change) { return change.stays; });
        CHECK(stay == static_cast<long>(count) - 1);
    }
}

TEST_CASE("auto backs off when a quota takes processor time away, and comes back with it") {
    Machine machine{cores(4)};
    LearnerCount learners(most);
    std::vector<LearnerCount::Change> changes;
    run_for(learners, machine, std::chrono::seconds(60), changes);
    CHECK(learners.count() >= 4);
    changes.clear();

    // The quota is one core. More learners do as much as one, but for what they cost each other.
    machine.samples_per_s = [](unsigned count) { return 1000 * (1 - 0.02 * (count - 1)); };
    run_for(learners, machine, std::chrono::seconds(60), changes);
    CHECK(learners.count() <= 2);
    REQUIRE(!changes.empty());
    const auto first = std::find_if(changes.begin(), changes.end(),
                                    [](const auto& change) { return change.count == 3; });
    REQUIRE(first != changes.end());
    CHECK(first->why.find("samples/s instead of") != std::string::npos);
    CHECK(first->why.find("tries one fewer") != std::string::npos);
    const double rate = run_for(learners, machine, std::chrono::seconds(120), changes);
    CHECK(rate >= 0.95 * 1000);

    machine.samples_per_s = cores(4);
    run_for(learners, machine, std::chrono::seconds(300), changes);
    CHECK(learners.count() >= 4);
    CHECK(learners.count() <= 5);
}

TEST_CASE("auto keeps a number when fewer do worse, though all make less") {
    Machine machine{cores(4)};
    LearnerCount learners(4);
    std::vector<LearnerCount::Change> changes;
    run_for(learners, machine, std::chrono::seconds(60), changes);
    CHECK(learners.count() == 4);
    // The machine is slower now, by other peers say, but every learner still helps.
    machine.samples_per_s = [](unsigned learners_now) { return 0.7 * cores(4)(learners_now); };
    const double rate = run_for(learners, machine, std::chrono::seconds(300), changes);
    CHECK(rate >= 0.95 * best_of(machine));
    CHECK(learners.count() == 4);
}

TEST_CASE("auto never has more than it may") {
    Machine machine{cores(64), 0};
    LearnerCount one(1), three(3);
    std::vector<LearnerCount::Change> changes;
    run_for(one, machine, std::chrono::seconds(30), changes);
    CHECK(changes.empty());
    run_for(three, machine, std::chrono::seconds(30), changes);
    CHECK(three.count() == 3);
    for (const LearnerCount::Change& change : changes) CHECK(change.count <= 3);
}

}  // namespace ako::learner_count_test
