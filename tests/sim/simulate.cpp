// The simulator as a program: runs scenarios by their seeds until one breaks an invariant; or, with
// --steady, --bounded, --chosen, --apart or --joining, the scenarios of steady.h, bounded.h,
// chosen.h, apart.h or joining_speed.h.
//     simulate [--first SEED] [--count COUNT]
//              [--steady | --bounded | --chosen | --apart | --joining | --modes] [--covered]
//              [--keep-going] [--no-shrink] [--verbose]
//     simulate --seed SEED [--faults "FAULT; FAULT ..."] [--no-shrink] [--logs]
// --modes runs the other modes than ako (modes.h); --covered fails if a fault never struck in one
// of the phases or a transition of the protocol was never made (coverage.h); --keep-going shows
// every seed that breaks an invariant, not only the first. --seed runs one scenario, --faults with
// these faults (fault.h) in place of those that the seed draws. Exit 0: all held. Exit 1: one did
// not; its faults are then reduced to as few as still break the same (shrink.h), unless --no-shrink
// forbids it, and the last line is the command that shows it again. Exit 2: not understood.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "tests/sim/ako_run.h"
#include "tests/sim/apart.h"
#include "tests/sim/bounded.h"
#include "tests/sim/chosen.h"
#include "tests/sim/growth.h"
#include "tests/sim/joining_speed.h"
#include "tests/sim/modes.h"
#include "tests/sim/shrink.h"
#include "tests/sim/steady.h"

namespace {

using ako::sim::Outcome;
using ako::sim::Scenario;

constexpr const char* usage =
    "usage: simulate [--first SEED] [--count COUNT] [--steady | --bounded | --chosen | --apart | "
    "--joining | --modes | --growth] [--covered] [--keep-going] [--no-shrink] [--verbose]\n"
    "       simulate --seed SEED [--faults \"FAULT; FAULT ...\"] [--no-shrink] [--logs]\n";

/// The most runs to shrink one failing scenario: they do for a dozen faults, and take some seconds.
constexpr unsigned shrink_runs_max = 600;

struct Options {
    std::uint64_t first = 1;
    std::uint64_t count = 400;
    std::optional<ako::sim::Schedule> faults;
    bool steady = false;
    bool bounded = false;
    bool chosen = false;
    bool apart = false;
    bool joining = false;
    bool modes = false;
    bool growth = false;
    bool covered = false;
    bool keep_going = false;
    bool shrinks = true;
    bool logs = false;
    bool verbose = false;
};

[[noreturn]] void not_understood(const std::string& why) {
    std::fprintf(stderr, "%s\n%s", why.c_str(), usage);
    std::exit(2);
}

std::uint64_t number_of(const std::string& text) {
    char* end = nullptr;
    const std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0') not_understood("not a number: " + text);
    return number;
}

Options parse(int argc, char** argv) {
    Options options;
    for (int k = 1; k < argc; ++k) {
        const std::string word = argv[k];
        const auto value = [&] {
            if (k + 1 == argc) not_understood(word + " needs a value");
            return std::string(argv[++k]);
        };
        if (word == "--verbose") {
            options.verbose = true;
        } else if (word == "--covered") {
            options.covered = true;
        } else if (word == "--keep-going") {
            options.keep_going = true;
        } else if (word == "--no-shrink") {
            options.shrinks = false;
        } else if (word == "--logs") {
            options.logs = true;
        } else if (word == "--steady") {
            options.steady = true;
        } else if (word == "--bounded") {
            options.bounded = true;
        } else if (word == "--chosen") {
            options.chosen = true;
        } else if (word == "--apart") {
            options.apart = true;
        } else if (word == "--joining") {
            options.joining = true;
        } else if (word == "--growth") {
            options.growth = true;
        } else if (word == "--modes") {
            options.modes = true;
        } else if (word == "--first") {
            options.first = number_of(value());
        } else if (word == "--count") {
            options.count = number_of(value());
        } else if (word == "--seed") {
            options.first = number_of(value());
            options.count = 1;
            options.verbose = true;
        } else if (word == "--faults") {
            options.faults = ako::sim::parse_schedule(value());
        } else {
            not_understood("not understood: " + word);
        }
    }
    if (options.faults && options.count != 1) not_understood("--faults needs --seed");
    return options;
}

// ---- a failed assertion ends the program, and the seed is to be known then

char newest_replay[64];

void say_seed(int) {
    const char* parts[] = {"a failed assertion; replay: ", newest_replay, "\n"};
    for (const char* part : parts) {
        if (write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
    }
}

void remember(std::uint64_t seed) {
    std::snprintf(newest_replay, sizeof newest_replay, "simulate --seed %llu --no-shrink",
                  static_cast<unsigned long long>(seed));
}

// ---- one scenario

void report(const Scenario& scenario, const std::string& violation, bool shrinks) {
    std::printf("%s\nviolated: %s\n", scenario.text().c_str(), violation.c_str());
    std::fflush(stdout);
    ako::sim::Shrunk shrunk{scenario, violation, 0};
    if (shrinks) {
        const auto judge = [](const Scenario& candidate) -> std::optional<std::string> {
            try {
                ako::sim::AkoRun(candidate).run();
            } catch (const ako::sim::Violation& found) {
                return found.what();
            }
            return std::nullopt;
        };
        shrunk = ako::sim::shrink(scenario, violation, judge, shrink_runs_max);
        std::printf("with %zu of %zu faults, after %u runs: %s\n", shrunk.scenario.faults.size(),
                    scenario.faults.size(), shrunk.runs, shrunk.violation.c_str());
    }
    std::printf("replay: simulate --seed %llu --faults \"%s\"\n",
                static_cast<unsigned long long>(scenario.seed),
                ako::sim::text(shrunk.scenario.faults).c_str());
    std::fflush(stdout);
}

void show(const Scenario& scenario, const Outcome& outcome) {
    std::printf("%s\n  -> %zu agreed, %zu not, %zu dead, %.2f s, loss %.3f -> %.3f\n",
                scenario.text().c_str(), outcome.agreed, outcome.not_agreed, outcome.dead,
                outcome.seconds, outcome.loss_first, outcome.loss_last);
}

void add(Outcome& sum, const Outcome& outcome) {
    sum.agreed += outcome.agreed;
    sum.not_agreed += outcome.not_agreed;
    sum.dead += outcome.dead;
    sum.frames += outcome.frames;
    sum.blocks += outcome.blocks;
    sum.rounds += outcome.rounds;
    sum.seconds += outcome.seconds;
    sum.coverage += outcome.coverage;
}

/// How many broke an invariant.
std::uint64_t run_all(const Options& options, Outcome& sum) {
    std::uint64_t violated = 0;
    for (std::uint64_t seed = options.first; seed < options.first + options.count; ++seed) {
        remember(seed);
        Scenario scenario = Scenario::from_seed(seed);
        if (options.faults) scenario.faults = *options.faults;
        scenario.shows_logs = options.logs;
        try {
            if (ako::sim::parse_schedule(ako::sim::text(scenario.faults)) != scenario.faults) {
                throw ako::sim::Violation("a schedule is not what its text says");
            }
            const Outcome outcome = ako::sim::AkoRun(scenario).run();
            add(sum, outcome);
            if (options.verbose) show(scenario, outcome);
        } catch (const ako::sim::Violation& violation) {
            report(scenario, violation.what(), options.shrinks);
            ++violated;
            if (!options.keep_going) break;
        }
    }
    return violated;
}

}  // namespace

int main(int argc, char** argv) try {
    const Options options = parse(argc, argv);
    if (options.bounded) return ako::sim::run_bounded(options.verbose);
    if (options.chosen) return ako::sim::run_chosen(options.verbose);
    if (options.apart) return ako::sim::run_apart(options.verbose);
    if (options.joining) return ako::sim::run_joining(options.verbose);
    if (options.modes) return ako::sim::run_modes(options.first, options.count, options.verbose);
    if (options.growth) return ako::sim::run_growth(options.first, options.count);
    if (options.steady) return ako::sim::run_steady(options.verbose);
    std::signal(SIGABRT, say_seed);
    Outcome sum;
    const std::uint64_t violated = run_all(options, sum);
    if (violated > 0 && !options.keep_going) return 1;
    std::printf(
        "%llu scenarios: %zu processes agreed, %zu could not, %zu died; %llu rounds, %llu frames, "
        "%llu blocks checked, %.0f s of virtual time\n",
        static_cast<unsigned long long>(options.count), sum.agreed, sum.not_agreed, sum.dead,
        static_cast<unsigned long long>(sum.rounds), static_cast<unsigned long long>(sum.frames),
        static_cast<unsigned long long>(sum.blocks), sum.seconds);
    std::printf("what they went through:\n%s\n", sum.coverage.text().c_str());
    if (violated > 0) {
        std::printf("violated by %llu seeds\n", static_cast<unsigned long long>(violated));
        return 1;
    }
    const std::string never = sum.coverage.never();
    if (!options.covered || never.empty()) return 0;
    std::printf("violated: never happened: %s\n", never.c_str());
    return 1;
} catch (const std::invalid_argument& error) {
    not_understood(error.what());
}
