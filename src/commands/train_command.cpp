#include "src/commands/train_command.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <utility>

#include "ako/error.h"
#include "models/blas.h"
#include "models/catalog.h"
#include "models/shard.h"
#include "net/tcp_transport.h"
#include "src/checkpoints.h"
#include "src/commands/initial_parameters.h"
#include "src/commands/link_safety.h"
#include "src/commands/log.h"
#include "src/commands/memory_plan.h"
#include "src/commands/metrics.h"
#include "src/commands/milestone_evaluation.h"
#include "src/commands/milestone_file.h"
#include "src/commands/model_files.h"
#include "src/commands/peer_result.h"
#include "src/commands/report_pipe.h"
#include "src/commands/run_display.h"
#include "src/commands/run_folder.h"
#include "src/commands/summary.h"
#include "src/commands/training_data.h"
#include "src/config/cluster_file.h"
#include "src/digest.h"
#include "src/modes/make_exchange.h"
#include "src/serving.h"
#include "src/system/console.h"
#include "src/trainer.h"

namespace ako {

namespace {

using Ending = TrainingOutcome::Ending;

/// Six digits after the point: more than a test set can tell, and no noise of float32.
double rounded(float number) { return std::round(static_cast<double>(number) * 1e6) / 1e6; }

std::vector<std::string> peer_names(const Settings& settings) {
    std::vector<std::string> names;
    for (const PeerSettings& peer : settings.peers) names.push_back(peer.name);
    return names;
}

std::vector<std::string> names_of(const std::vector<PeerIndex>& peers, const Settings& settings) {
    std::vector<std::string> names;
    names.reserve(peers.size());
    for (const PeerIndex peer : peers) names.push_back(settings.peers[peer].name);
    return names;
}

/// Two peers whose tensors differ in name, order or shape must not mix their vectors.
Digest layout_digest(const Network& network) {
    std::string text;
    for (const Tensor& tensor : network.tensors()) {
        text += tensor.name;
        for (const std::size_t extent : tensor.shape) text += fmt::format(" {}", extent);
        text += "\n";
    }
    return sha256(text);
}

std::uint64_t random_process_id() {
    std::random_device device;
    std::uint64_t id = 0;
    while (id == 0) id = (std::uint64_t{device()} << 32) | device();
    return id;
}

Hello make_hello(const Settings& settings, PeerIndex self, std::uint64_t process_id,
                 const Network& network, std::span<const float> initial) {
    Hello hello;
    hello.run_name = settings.run;
    hello.training_digest = sha256(training_digest_text(settings));
    hello.layout_digest = layout_digest(network);
    hello.initial_digest = sha256(std::as_bytes(initial));
    hello.peer_name = settings.peers[self].name;
    hello.process_id = process_id;
    return hello;
}

TransportSettings transport_settings(const Settings& settings, PeerIndex self, Hello hello,
                                     const ClusterKey& key, const Log& log) {
    const ExchangeSettings& exchange = settings.exchange;
    TransportSettings transport;
    transport.self = self;
    transport.hello = std::move(hello);
    transport.key = key;
    for (const PeerSettings& peer : settings.peers)
        transport.peers.push_back(
            {peer.name, peer.address, peer.listen, exchange.link_mbit.value_or(0)});
    for (const LinkLimit& limit : exchange.link_limits) {
        if (limit.from == self) transport.peers[limit.to].link_mbit = limit.mbit;
    }
    transport.egress_mbit_max = exchange.egress_mbit_max.value_or(0);
    transport.connect_timeout_ms = exchange.connect_timeout_ms;
    transport.life_timeout_ms = exchange.life_timeout_ms;
    transport.log = log.notice();
    transport.detail = log.detail();
    return transport;
}

/// How long a launch that is stopped is waited for at the end. Its peers' results are files as
/// well, where a disk takes them.
constexpr std::chrono::seconds report_patience{5};

/// Where metrics lines go: to `ako launch`, or to this terminal.
std::function<void(const MetricsLine&)> line_listener(const TrainOptions& options, Console& console,
                                                      ReportPipe& report) {
    if (options.report_fd < 0) {
        auto display = std::make_shared<RunDisplay>(console, std::vector{options.peer});
        return [display, name = options.peer](const MetricsLine& line) {
            display->show_line(line.time, name, line);
        };
    }
    return [&report](const MetricsLine& line) { report.offer(to_json_text(line) + "\n"); };
}

ExitStatus exit_status(const TrainingOutcome& outcome) {
    switch (outcome.ending) {
        case Ending::finished:
            return exit_ok;
        case Ending::interrupted:
            return exit_interrupted;
        case Ending::not_agreed:
        case Ending::not_identical:
            return exit_no_agreement;
        case Ending::failed:
            return exit_start_up;
        case Ending::broken:
            return exit_broken;
        case Ending::numbers:
            return exit_numbers;
    }
    return exit_crash;
}

std::string ending_name(Ending ending) {
    switch (ending) {
        case Ending::finished:
            return "finished";
        case Ending::interrupted:
            return "interrupted";
        case Ending::not_agreed:
            return "not_agreed";
        case Ending::not_identical:
            return "not_identical";
        case Ending::failed:
            return "failed";
        case Ending::broken:
            return "broken";
        case Ending::numbers:
            return "numbers";
    }
    return "";
}

/// The settings, once it is sure that what is about to be read fits into the memory allowed.
const Settings& within_memory(const Settings& settings, const Network& network) {
    check_memory(settings,
                 plan_memory(settings, {network.parameter_count(), training_data_bytes(settings)}));
    return settings;
}

/// Of each lost peer, how much of what nobody else trains on it had seen.
std::vector<LostShard> lost_shards(const Settings& settings, const FinishReport& report,
                                   std::uint64_t item_count) {
    std::vector<LostShard> shards;
    if (!needs_data(settings.model.kind) || settings.data.sharding != Sharding::disjoint)
        return shards;
    for (const PeerIndex peer : report.lost) {
        if (settings.peers[peer].role != Role::worker) continue;
        const auto [place, count] = place_among_workers(settings, peer);
        shards.push_back({settings.peers[peer].name, disjoint_shard(item_count, place, count).count,
                          report.samples.at(peer)});
    }
    return shards;
}

/// The last point of the curve: the parameters that stay.
CurvePoint final_point(const TrainingOutcome& outcome, double seconds) {
    CurvePoint point;
    point.seconds = seconds;
    point.round = outcome.report.rounds;
    point.samples = outcome.report.samples_total;
    point.progress = outcome.verdict.progress;
    point.accuracy = static_cast<double>(outcome.verdict.accuracy);
    point.loss = static_cast<double>(outcome.verdict.loss);
    return point;
}

/// `item_count`: images of the training set.
PeerResult make_result(const Settings& settings, PeerIndex self, const TrainingOutcome& outcome,
                       Metrics& metrics, std::uint64_t item_count) {
    const FinishReport& report = outcome.report;
    const MetricsLine& last = metrics.last();
    PeerResult result;
    result.name = settings.peers[self].name;
    result.ending = ending_name(outcome.ending);
    result.why = report.why_not.empty() ? outcome.why : report.why_not;
    result.exit = exit_status(outcome);
    result.seconds = last.time;
    result.finish_seconds = report.seconds;
    result.rounds = last.round;
    result.images = last.images;
    result.samples_total = report.samples_total;
    result.egress_bytes = last.egress_bytes;
    result.ingress_bytes = last.ingress_bytes;
    result.figures = metrics.figures();
    result.curve = metrics.curve();
    if (!outcome.exchanged_last()) return result;
    if (!outcome.parameters.empty()) {
        result.accuracy = rounded(outcome.verdict.accuracy);
        result.loss = rounded(outcome.verdict.loss);
        result.curve.push_back(final_point(outcome, metrics.seconds_to_end()));
    }
    result.agreed = report.agreed;
    // In the mode local there is nothing to compare.
    result.identical = report.identical && settings.exchange.mode != Mode::local;
    result.digest = hex(report.digest);
    result.finished_with = names_of(report.finished_with, settings);
    result.lost_peers = names_of(report.lost, settings);
    result.lost_shards = lost_shards(settings, report, item_count);
    return result;
}

void log_ending(const PeerResult& result, const std::function<void(const std::string&)>& log) {
    if (result.ending == "failed" || result.ending == "broken" || result.ending == "numbers") {
        log(fmt::format("stopped: {}", result.why));
        return;
    }
    if (!result.accuracy) return log(fmt::format("{}: {}", result.ending, result.why));
    const std::string accuracy = fmt::format("test accuracy {:.2f} %", *result.accuracy * 100);
    for (const LostShard& shard : result.lost_shards) log(lost_shard_text(shard));
    if (!result.agreed)
        return log(fmt::format("no agreement: {}; {} of this peer's own parameters", result.why,
                               accuracy));
    log(fmt::format("{}: {}, digest {}", result.ending, accuracy, short_digest(result.digest)));
    if (result.identical) log(identical_text(result.digest, result.finished_with));
    if (result.exit == exit_no_agreement) log(differs_text(result.name, result.digest));
}

/// All that one peer is made of, in the order in which it is made.
class PeerProcess {
  public:
    PeerProcess(const TrainOptions& options, const std::atomic<int>& interrupts)
        : options_(options),
          interrupts_(interrupts),
          settings_(read_cluster_file(options.file, options.overrides)),
          self_(peer_by_name(settings_, options.peer)),
          key_(read_cluster_key(settings_)),
          report_(options.report_fd),
          log_(options.peer, options.report_fd < 0 ? LogStyle::with_time_and_name : LogStyle::bare,
               console_),
          network_(make_network(settings_.model, settings_.seed + self_)),
          data_(within_memory(settings_, *network_)) {
        set_blas_threads(settings_.training.threads);
    }

    ExitStatus run() {
        std::vector<float> initial = initial_parameters(settings_, *network_);
        const SteadyClock clock;
        TcpTransport transport(
            transport_settings(settings_, self_,
                               make_hello(settings_, self_, process_id_, *network_, initial), key_,
                               log_),
            clock);
        transport.bind();  // before the folder is made: a port that is taken leaves nothing behind
        const std::string folder =
            options_.output_dir.empty() ? make_run_folder(settings_) : options_.output_dir;
        log_.keep_in(fmt::format("{}/log-{}.txt", folder, options_.peer));
        Metrics metrics(fmt::format("{}/metrics-{}.jsonl", folder, options_.peer),
                        line_listener(options_, console_, report_), log_.notice(),
                        peer_names(settings_), self_, transport, clock);
        const auto mode = make_exchange(mode_settings(metrics), std::move(initial), transport,
                                        clock, interrupts_);
        Exchange& exchange = *mode;
        metrics.watch(exchange);
        metrics.set_sample_budget(data_.sample_budget());
        const auto milestones = make_milestones(folder);
        if (milestones) metrics.keep_milestones_in(*milestones);
        exchange.start();
        const ModelFiles files(folder, settings_, options_.peer, network_->tensors());
        const TrainingOutcome outcome =
            train_or_serve(exchange, metrics, files, [&] { transport.stop(clock.now()); });
        PeerResult result = make_result(settings_, self_, outcome, metrics, data_.sample_count());
        tell(result);
        write_results(folder, files, outcome, result);
        if (options_.output_dir.empty()) log_.notice()("results in " + folder);
        return static_cast<ExitStatus>(result.exit);
    }

  private:
    /// Before anything is written: whatever the disk does, the outcome is known.
    void tell(const PeerResult& result) {
        report_.send(result_line(result), report_patience);
        // Launch itself shows how its peers ended, unless something went wrong.
        const bool told_by_launch =
            options_.report_fd >= 0 && result.exit != exit_no_agreement && result.agreed;
        if (!told_by_launch) log_ending(result, log_.notice());
    }

    /// Everything that stays, the smallest first and each by itself: what cannot be written takes
    /// nothing else with it.
    void write_results(const std::string& folder, const ModelFiles& files,
                       const TrainingOutcome& outcome, PeerResult& result) {
        std::vector<std::string> failures;
        const auto attempt = [&failures](const auto& step) {
            try {
                step();
            } catch (const std::exception& error) {
                failures.emplace_back(error.what());
            }
        };
        const auto write_result_file = [&] {
            write_result(fmt::format("{}/result-{}.json", folder, options_.peer), result);
        };
        attempt(write_result_file);
        attempt([&] { write_model(files, outcome); });
        if (options_.report_fd < 0) {
            // Launch does this for all its peers, when none of them trains any more.
            const std::size_t points = result.curve.size();
            attempt([&] { evaluate_milestones(folder, result); });
            if (result.curve.size() != points) attempt(write_result_file);
            attempt([&] { write_curve(folder, result); });
        }
        if (failures.empty()) return;
        for (const std::string& failure : failures) log_.notice()("not written: " + failure);
        if (result.exit == exit_ok) {
            result.exit = exit_not_written;
            result.why = "trained and agreed, but " + failures.front();
        }
        report_.send(result_line(result), report_patience);
        attempt(write_result_file);  // what it says of itself, if that can be written by now
    }

    /// Without a final exchange the network thread still runs. It must outlive neither the mode nor
    /// the trainer, whose gradient it may be sending: `stop_network` comes before both end.
    TrainingOutcome train_or_serve(Exchange& exchange, Metrics& metrics, const ModelFiles& files,
                                   const std::function<void()>& stop_network) {
        if (settings_.peers[self_].role == Role::server) {
            TrainingOutcome outcome = serve(exchange, interrupts_, metrics);
            if (!outcome.exchanged_last()) stop_network();
            return outcome;
        }
        const auto batches = data_.batches(self_);
        const auto checkpoints = make_checkpoints(files);
        Trainer trainer(*network_, *batches, data_.test_set(), exchange, settings_.training,
                        interrupts_, metrics, checkpoints.get());
        TrainingOutcome outcome = trainer.run();
        if (!outcome.exchanged_last()) stop_network();
        return outcome;
    }

    /// Null if none are asked for.
    std::unique_ptr<Checkpoints> make_checkpoints(const ModelFiles& files) const {
        if (settings_.training.checkpoint_every == 0) return nullptr;
        return std::make_unique<Checkpoints>(
            network_->parameter_count(),
            [&files](std::span<const float> parameters, const Verdict& verdict) {
                return files.write_checkpoint(parameters, verdict);
            },
            log_.notice(), log_.detail());
    }

    /// Null if nothing is evaluated later.
    std::unique_ptr<MilestoneWriter> make_milestones(const std::string& folder) const {
        if (settings_.training.evaluate != EvaluateWhen::after) return nullptr;
        return std::make_unique<MilestoneWriter>(milestone_path(folder, options_.peer),
                                                 network_->parameter_count(), log_.notice());
    }

    /// Completes the result's curve with what was kept for later.
    void evaluate_milestones(const std::string& folder, PeerResult& result) {
        if (settings_.training.evaluate != EvaluateWhen::after) return;
        const std::string path = milestone_path(folder, options_.peer);
        const int interrupts = interrupts_.load();
        bool all = true;
        const auto points =
            MilestoneEvaluation(*network_, data_.test_set())
                .evaluate(path, [&](const auto&, auto number, auto count) {
                    log_.detail()(fmt::format("milestone {} of {} is evaluated", number, count));
                    all = number == count;
                    return interrupts_.load() == interrupts;
                });
        result.curve.insert(result.curve.begin(), points.begin(), points.end());
        std::error_code stays;  // then it takes room, and no more
        if (all && !options_.keep_milestones) std::filesystem::remove(path, stays);
    }

    void write_curve(const std::string& folder, const PeerResult& result) const {
        Summary alone;
        alone.peers = {result};
        write_whole_file(folder + "/curve.json", alone.curve(settings_.training.evaluate).json());
    }

    /// Of the peers that agreed under one `ako launch`, whose files would all be the same, the
    /// lowest writes; one without agreement, or that holds something else, writes its own.
    void write_model(const ModelFiles& files, const TrainingOutcome& outcome) const {
        if (outcome.parameters.empty()) return;
        const FinishReport& report = outcome.report;
        const bool launched = !options_.output_dir.empty();
        const bool lowest = report.finished_with.empty() || report.finished_with.front() == self_;
        if (launched && report.agreed && report.identical && !lowest) return;
        // In the mode local everybody has its own.
        const bool own = settings_.exchange.mode == Mode::local && self_ != 0;
        const bool apart = launched && (!report.agreed || !report.identical || own);
        const std::string name = apart ? "model-" + options_.peer : "model";
        files.write_model(name, outcome.parameters, outcome.verdict, hex(report.digest));
    }

    ModeSettings mode_settings(Metrics& metrics) const {
        ModeSettings mode;
        mode.self = self_;
        mode.process_id = process_id_;
        mode.peer_names = peer_names(settings_);
        for (const PeerSettings& peer : settings_.peers) mode.roles.push_back(peer.role);
        mode.layers = layer_ranges(network_->tensors());
        mode.exchange = settings_.exchange;
        mode.training = settings_.training;
        mode.sample_budget = data_.sample_budget();
        mode.log = log_.notice();
        mode.waits = [&metrics](const auto& missing) { metrics.waits(missing); };
        return mode;
    }

    const TrainOptions& options_;
    const std::atomic<int>& interrupts_;
    const Settings settings_;
    const PeerIndex self_;
    const std::uint64_t process_id_ = random_process_id();
    const ClusterKey key_;
    Console console_;  // outlives whoever prints
    ReportPipe report_;
    Log log_;
    const std::unique_ptr<Network> network_;
    TrainingData data_;
};

}  // namespace

ExitStatus train(const TrainOptions& options) {
    return PeerProcess(options, count_interrupts()).run();
}

}  // namespace ako
