// The simulator as a program: runs scenarios by their seeds until one breaks an invariant; or, with
// --steady, --bounded or --apart, the scenarios of steady.h, bounded.h or apart.h.
//     simulate [--first SEED] [--count COUNT] [--steady | --bounded | --apart | --modes]
//              [--covered] [--keep-going] [--verbose]
// --modes runs the other modes than ako (modes.h); --covered fails if a fault never struck or a
// transition of the protocol was never made (coverage.h); --keep-going shows every seed that breaks
// an invariant, not only the first.
// Exit 0: all held. Exit 1: one did not; the last line names the seed, which replays it with
// --first.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/sim/ako_run.h"
#include "tests/sim/apart.h"
#include "tests/sim/bounded.h"
#include "tests/sim/modes.h"
#include "tests/sim/steady.h"

namespace {

struct Options {
    std::uint64_t first = 1;
    std::uint64_t count = 400;
    bool steady = false;
    bool bounded = false;
    bool apart = false;
    bool modes = false;
    bool covered = false;
    bool keep_going = false;
    bool verbose = false;
};

Options parse(int argc, char** argv) {
    Options options;
    for (int k = 1; k < argc; ++k) {
        const std::string word = argv[k];
        if (word == "--verbose") {
            options.verbose = true;
        } else if (word == "--covered") {
            options.covered = true;
        } else if (word == "--keep-going") {
            options.keep_going = true;
        } else if (word == "--steady") {
            options.steady = true;
        } else if (word == "--bounded") {
            options.bounded = true;
        } else if (word == "--apart") {
            options.apart = true;
        } else if (word == "--modes") {
            options.modes = true;
        } else if ((word == "--first" || word == "--count") && k + 1 < argc) {
            (word == "--first" ? options.first : options.count) =
                std::strtoull(argv[++k], nullptr, 10);
        } else {
            std::fprintf(stderr,
                         "usage: simulate [--first SEED] [--count COUNT] [--steady | --bounded | "
                         "--apart | --modes] [--covered] [--keep-going] [--verbose]\n");
            std::exit(2);
        }
    }
    return options;
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = parse(argc, argv);
    if (options.bounded) return ako::sim::run_bounded(options.verbose);
    if (options.apart) return ako::sim::run_apart(options.verbose);
    if (options.modes) return ako::sim::run_modes(options.first, options.count, options.verbose);
    if (options.steady) return ako::sim::run_steady(options.verbose);
    ako::sim::Outcome sum;
    std::uint64_t violated = 0;
    for (std::uint64_t seed = options.first; seed < options.first + options.count; ++seed) {
        const auto scenario = ako::sim::Scenario::from_seed(seed);
        try {
            const ako::sim::Outcome outcome = ako::sim::AkoRun(scenario).run();
            sum.agreed += outcome.agreed;
            sum.not_agreed += outcome.not_agreed;
            sum.dead += outcome.dead;
            sum.frames += outcome.frames;
            sum.blocks += outcome.blocks;
            sum.rounds += outcome.rounds;
            sum.seconds += outcome.seconds;
            sum.coverage += outcome.coverage;
            if (options.verbose) {
                std::printf("%s\n  -> %zu agreed, %zu not, %zu dead, %.2f s, loss %.3f -> %.3f\n",
                            scenario.text().c_str(), outcome.agreed, outcome.not_agreed,
                            outcome.dead, outcome.seconds, outcome.loss_first, outcome.loss_last);
            }
        } catch (const ako::sim::Violation& violation) {
            std::printf("%s\nviolated: %s\nreplay: simulate --first %llu --count 1 --verbose\n",
                        scenario.text().c_str(), violation.what(),
                        static_cast<unsigned long long>(seed));
            ++violated;
            if (!options.keep_going) return 1;
        }
    }
    std::printf(
        "%llu scenarios: %zu peers agreed, %zu could not, %zu died; %llu rounds, %llu frames, "
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
}
