// See measure_machine.h.
#include "src/predict/measure_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "ako/error.h"
#include "src/native_peer/training_data.h"
#include "src/predict/gradient_clock.h"
#include "src/predict/network_digest.h"
#include "src/system/build_info.h"
#include "src/system/child_process.h"
#include "src/system/cpu_quota.h"
#include "src/system/process_usage.h"
#include "src/system/scratch_folder.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

/// Of a row as float32, what travels while most blocks take 8 bits (src/rows/grid.h); runs tell it
/// better.
constexpr double share_of_coded = 0.3;
/// Bytes that a run over loopback exchanges, and the rounds that it has for them.
constexpr double exchanged_bytes = 1.2e9;
constexpr std::size_t rounds_min = 40, rounds_max = 400;
constexpr double run_seconds_max = 60;
/// Whoever keeps a processor busy looks so often whether it is enough, seconds.
constexpr double short_while_s = 0.2;

/// How many times as long a gradient takes while all other processors make gradients, too.
double crowded(const Settings& settings, TrainingData& data, std::size_t cores) {
    if (cores < 2) return 1;
    const std::size_t batch = settings.training.batch.local;
    GradientClock clock(settings, data);
    const double before = clock.profile(batch).seconds;
    std::atomic<bool> enough = false;
    std::vector<std::unique_ptr<GradientClock>> others;
    for (std::size_t k = 1; k < cores; ++k)
        others.push_back(std::make_unique<GradientClock>(settings, data));
    std::vector<std::thread> threads;
    threads.reserve(others.size());
    for (const auto& other : others)
        threads.emplace_back([&] {
            while (!enough) other->profile(batch, short_while_s);
        });
    const double beside = clock.profile(batch).seconds;
    enough = true;
    for (std::thread& thread : threads) thread.join();
    return std::max(1.0, beside / before);
}

struct RunCosts {
    double cpu_s = 0;  ///< of a round of one peer; likewise the next
    double bytes = 0;  ///< sent and taken
};

/// Peers that exchange as many numbers as the network has, and compute next to nothing.
class LoopbackRuns {
  public:
    LoopbackRuns(std::string program, std::size_t parameter_count)
        : program_(std::move(program)), parameter_count_(parameter_count) {}

    /// `exchange`: the keys of that group.
    RunCosts run(const std::string& exchange, std::size_t peers) {
        const fs::path folder = scratch_.path() / fmt::format("run-{}", ++runs_);
        const fs::path file = folder.string() + ".yaml";
        const double vector_bytes = 4.0 * static_cast<double>(parameter_count_);
        const auto rounds = static_cast<std::size_t>(std::clamp(
            exchanged_bytes / (4 * vector_bytes), double{rounds_min}, double{rounds_max}));
        std::string list;
        for (std::size_t k = 0; k < peers; ++k)
            list += fmt::format("{}{{name: p{}, address: \"127.0.0.1:{}\"}}", k > 0 ? ", " : "", k,
                                k + 1);
        std::ofstream(file) << fmt::format(
            "run: profile\nmodel: {{name: synthetic, parameters: {}, compute_ms: 0, samples: {}}}\n"
            "training: {{batch: 1, epochs: 1, evaluate_every: 0, must_learn: false}}\n"
            "exchange: {{{}}}\nmemory_mb_max: 100000000\npeers: [{}]\n",
            parameter_count_, rounds * peers, exchange, list);
        const CommandOutput done = run_command({program_, "launch", file.string(), "--plain",
                                                "--free-ports", "--output-dir", folder.string()},
                                               run_seconds_max);
        std::ifstream in(folder / "summary.json");
        const auto json = nlohmann::json::parse(in, nullptr, false);
        try {
            const auto& peer = json.at("peers").at(0);
            const double sent = peer.at("egress_bytes_per_round");
            const double taken = peer.at("ingress_bytes_per_round");
            return {peer.at("cpu_ms_per_round").get<double>() / 1e3, sent + taken};
        } catch (const nlohmann::json::exception&) {
            throw StartupError(
                fmt::format("a run over loopback ({}) came to nothing:\n{}", exchange, done.text),
                "see whether `ako launch` of this file works on this machine");
        }
    }

  private:
    const std::string program_;
    const std::size_t parameter_count_;
    const ScratchFolder scratch_{"profile"};
    unsigned runs_ = 0;
};

/// What a byte takes, and a round whatever is sent: of two kinds of rounds that send differently
/// much, beside those of a peer alone.
ExchangeProfile between(const RunCosts& little, const RunCosts& much, const RunCosts& alone) {
    ExchangeProfile found;
    if (much.bytes > little.bytes)
        found.s_per_byte = std::max(0.0, much.cpu_s - little.cpu_s) / (much.bytes - little.bytes);
    found.round_s = std::max(0.0, little.cpu_s - alone.cpu_s - found.s_per_byte * little.bytes);
    return found;
}

/// Sizes around that of the file, for what is asked may have others: rising, without repeats.
std::vector<std::size_t> batches_around(std::size_t batch) {
    std::vector<std::size_t> sizes = {std::max<std::size_t>(1, batch / 4), batch, 2 * batch};
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
}

}  // namespace

MachineProfile measure_machine(const Settings& settings, const Measuring& how) {
    MachineProfile profile;
    profile.version = build_commit();
    profile.network = network_digest(settings);
    profile.text = how.machine;
    profile.cores = std::max(1U, std::thread::hardware_concurrency());
    const CpuQuota quota = cpu_quota();
    profile.quota_cores = quota.cores;
    profile.quota_period_s = quota.period_s;
    profile.memory_bytes =
        static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
    TrainingData data(settings);
    {
        GradientClock clock(settings, data);
        profile.parameter_count = clock.parameter_count();
        const std::size_t own = settings.training.batch.local;
        for (const std::size_t batch : batches_around(own)) {
            how.say(fmt::format("gradients of {} samples", batch));
            profile.gradients.push_back(clock.profile(batch));
            if (batch != own) continue;
            clock.evaluate();
            profile.round_s = clock.beside();
            profile.process_bytes = process_usage().memory_bytes;
            profile.process_batch = own;
        }
    }
    if (settings.training.threads == 1) {
        how.say("gradients while all processors are at work");
        profile.crowded = crowded(settings, data, static_cast<std::size_t>(profile.cores));
    }
    LoopbackRuns runs(how.program, profile.parameter_count);
    how.say("the exchange over loopback");
    const RunCosts alone = runs.run("mode: local", 1);
    profile.exchange["ring"] = between(runs.run("mode: ring", 1), runs.run("mode: ring", 2), alone);
    profile.exchange["parameter-server"] =
        between(runs.run("mode: parameter-server, servers: 1", 1),
                runs.run("mode: parameter-server, servers: 2", 2), alone);
    profile.exchange["ako"] = between(runs.run("mode: ako, partitions: 64", 2),
                                      runs.run("mode: ako, partitions: 1", 2), alone);
    profile.exchange["ako"].bytes_share = share_of_coded;
    profile.measured_by = "two peers over loopback, each mode";
    return profile;
}

}  // namespace ako
